"""Our field manager, and the verbs with which it writes."""

from __future__ import annotations

import enum

FIELD_MANAGER = "rollout-gate"
"""The one field manager of everything that the gate applies."""


class Verb(enum.StrEnum):
    """How a write is sent."""

    APPLY = "apply"
    """Server-side apply of `body`."""
    TAKE_OVER = "take-over"
    """JSON patch that replaces `metadata.managedFields` with `body["managedFields"]`.

    In a plan the body may have `claims`, fields that become ours whoever owns them, and `managers`,
    those whose fields become ours.
    """
    MERGE = "merge"
    """JSON merge patch of `body`."""
    DELETE = "delete"
