"""The commands, one module each."""

__all__ = [
    "apply",
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
