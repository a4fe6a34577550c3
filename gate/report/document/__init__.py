"""Makes the result document of an attempt, section by section."""

__all__ = [
    "branches",
    "changes",
    "course",
    "deletion",
    "document",
    "late_configuration",
    "pods",
    "run",
    "samples",
    "status_document",
    "versions",
]
