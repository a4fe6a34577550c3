"""The states of an attempt, a module each, and what holds in any of them."""

__all__ = [
    "departures",
    "interference",
    "late_writes",
    "lines",
    "needs",
    "read_answers",
    "reads",
    "rollback_start",
    "table",
    "unblocking",
    "verdicts",
]
