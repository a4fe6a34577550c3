"""Carries out a plan to its end, and recovers one whose gate died."""

__all__ = [
    "concurrent_run",
    "earlier_runs",
    "foreseen_recovery",
    "left_runs",
    "recovery",
    "run",
]
