"""The locks of a command: taken, renewed, written with its record, given back."""

__all__ = [
    "acquisition",
    "held_locks",
    "keeper",
    "lock_lane",
    "lock_state",
    "memory",
    "tasks",
    "unfinished_attempt",
    "verified_bodies",
]
