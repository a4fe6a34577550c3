"""What checks were asked, what they answered, and how that is shown."""

__all__ = ["asked_check", "document", "figures", "query_pointer", "rows", "text"]
