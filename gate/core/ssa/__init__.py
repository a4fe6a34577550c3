"""Server-side apply: sets of fields, who owns them, and what an apply adds and removes."""

__all__ = [
    "applied_fields",
    "field_set",
    "held_fields",
    "irreversible_changes",
    "kept_values",
    "last_applied",
    "managed_fields",
    "template_owners",
    "unions",
    "unowned_fields",
]
