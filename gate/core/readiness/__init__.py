"""Is an object ready for use? What its status says, kind by kind, and what it needs of others."""

__all__ = ["object_needs", "pod_environment", "rules"]
