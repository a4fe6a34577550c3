"""How an attempt ends: the last look at the objects, and an ending for each workload."""

__all__ = [
    "conclusion",
    "coverage",
    "differences",
    "last_reads",
    "lock_ending",
    "rollback_ending",
    "shared_ending",
    "terminating_namespaces",
    "unwritten",
]
