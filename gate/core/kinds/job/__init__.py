"""Jobs: run to an end, and not undone."""

__all__ = ["kind", "objects", "reasons"]
