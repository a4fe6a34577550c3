"""What is written: objects, and the removal of pods."""

__all__ = ["pod_removal", "writes"]
