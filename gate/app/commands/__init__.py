"""The commands, one module each."""

__all__ = [
    "apply",
    "apply_plan",
    "checks",
    "inspection",
    "locks",
    "recover",
    "single_write",
    "verify",
]
