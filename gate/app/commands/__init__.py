"""The commands, one module each."""

__all__ = [
    "apply",
    "check_power",
    "checks",
    "inspection",
    "locks",
    "pause",
    "preflight",
    "recover",
    "restart",
    "resume",
    "undo",
    "verify",
]
