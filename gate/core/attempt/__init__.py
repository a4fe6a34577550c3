"""An attempt as a value: its state, its transitions, and what it keeps while it lasts."""

__all__ = [
    "awaited_objects",
    "check_conclusions",
    "check_runs",
    "check_subjects",
    "contact",
    "doubt",
    "dropped_fields",
    "ending",
    "history_entries",
    "last_look",
    "late_configuration",
    "left_open",
    "limits",
    "new_rollout",
    "parts",
    "pod_replacement",
    "record",
    "state",
    "suspension",
    "transitions",
]
