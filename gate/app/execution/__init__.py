"""Carries out a plan to its end, and recovers one whose gate died."""

__all__ = ["concurrent_run", "foreseen_recovery", "left_runs", "recovery", "run"]
