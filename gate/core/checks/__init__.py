"""Health checks: what is asked, how an answer is measured, what a run of answers says."""

__all__ = [
    "bake_window",
    "baseline_comparison",
    "count_run",
    "json_path",
    "measurement",
    "old_pods",
    "power",
    "power_plan",
    "query_template",
    "query_variables",
    "questions",
    "run",
    "running_traffic",
    "sample_spacing",
    "spec",
    "tick_grid",
    "tick_measurement",
    "tick_questions",
]
