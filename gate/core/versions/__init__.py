"""Versions of before: what a lock remembers, and what a failure or an undo returns to."""

__all__ = [
    "candidates",
    "history",
    "judged_version",
    "obstacles",
    "selection",
    "shared_members",
    "undo_choice",
    "undo_set",
]
