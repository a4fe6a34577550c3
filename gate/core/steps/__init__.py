"""One step of an attempt: an event in, a new state and its effects out."""

__all__ = ["step", "timeline"]
