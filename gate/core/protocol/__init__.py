"""What an attempt receives and asks for: events in, effects out."""

__all__ = ["effects", "events"]
