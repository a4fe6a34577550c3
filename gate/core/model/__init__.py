"""Values that every room knows: objects of Kubernetes, facts, outcomes, locks."""

__all__ = [
    "body",
    "confidential_bodies",
    "configuration_references",
    "environment_values",
    "fact",
    "field_manager",
    "int_or_percent",
    "live_object",
    "lock",
    "lock_holder",
    "moments",
    "naming",
    "objects",
    "origin",
    "outcome",
    "readiness",
    "remedy",
    "run_annotations",
    "signal_names",
]
