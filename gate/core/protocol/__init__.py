"""What an attempt hears and asks for: events in, effects out."""

__all__ = ["effects", "events"]
