"""Earlier versions: what a lock remembers, and what a failure or an undo returns to."""

__all__ = [
    "brought_states",
    "candidates",
    "closing_workload",
    "doubts",
    "history",
    "judged_version",
    "known_replicas",
    "next_return",
    "open_findings",
    "return_doubts",
    "selection",
    "shared_members",
    "surroundings",
    "undo_choice",
    "undo_conflicts",
    "undo_set",
]
