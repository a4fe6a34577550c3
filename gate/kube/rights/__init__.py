"""Which rights a command needs, which are missing, and the Role that grants them."""

__all__ = ["access", "role"]
