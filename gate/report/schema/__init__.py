"""The shapes of the documents that commands print, and how a document is read again."""

__all__ = [
    "check_result",
    "check_verdict",
    "course",
    "json_schema",
    "power_result",
    "printed_result",
    "reading",
    "recorded_result",
    "result",
    "version",
]
