"""An attempt as a value: its state, its transitions, and what it keeps while it lasts."""

__all__ = [
    "awaited_objects",
    "contact",
    "doubt",
    "ending",
    "following",
    "health_checks",
    "history_entries",
    "journal",
    "last_look",
    "left_open",
    "limits",
    "replacement",
    "state",
    "suspension",
    "transitions",
]
