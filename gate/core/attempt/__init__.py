"""An attempt as a value: its state, its transitions, and what it keeps while it lasts."""

__all__ = [
    "contact",
    "following",
    "health_checks",
    "journal",
    "last_look",
    "remembrance",
    "state",
    "transitions",
]
