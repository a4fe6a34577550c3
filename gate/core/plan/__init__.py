"""What an attempt sets out to do: its writes, its record, and the writes of its rollback."""

__all__ = [
    "forced_fields",
    "foreseen_return",
    "kept_otherwise",
    "leg",
    "phases",
    "plan",
    "record",
    "replica_ownership",
    "rollback_plan",
    "taken_fields",
    "target_set",
    "undone_version",
    "workload_body",
]
