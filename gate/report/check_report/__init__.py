"""What checks were asked, what they answered, and how that is shown."""

__all__ = [
    "asked_check",
    "document",
    "figures",
    "foreseen_check",
    "power_document",
    "power_text",
    "query_pointer",
    "rows",
    "text",
]
