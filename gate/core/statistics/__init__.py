"""Pure statistics: distributions, and tests that judge counts and ranks."""

__all__ = ["mann_whitney"]
