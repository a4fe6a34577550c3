"""A plan carried out to its end, and the recovery of one whose gate died."""

__all__ = ["concurrent_run", "recovery", "run"]
