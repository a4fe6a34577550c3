"""Everything before the first write: what can refuse an attempt, and the resulting plan."""

__all__ = [
    "check_subjects",
    "check_trial",
    "comparison_warnings",
    "first_questions",
    "gone_namespaces",
    "guards",
    "manifest_guard",
    "manifest_reading",
    "manifest_rights",
    "memory_warnings",
    "neighbours",
    "plan",
    "rejections",
    "replicas",
    "return_target",
    "server_dry_run",
    "single_questions",
    "target_age",
    "trials",
    "way_back_dry_run",
]
