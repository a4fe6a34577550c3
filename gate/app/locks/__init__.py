"""The locks of a command: taken, renewed, written with its record, released."""

__all__ = [
    "acquisition",
    "command_locks",
    "held_locks",
    "keeper",
    "lock_state",
    "memory",
    "tasks",
    "unfinished_attempt",
    "verified_bodies",
]
