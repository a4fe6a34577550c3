"""Pure statistics: distributions, and tests that judge counts and ranks."""

__all__ = [
    "count_decision",
    "count_estimate",
    "count_evidence",
    "count_power",
    "mann_whitney",
    "simulated_looks",
]
