"""The reasons that DaemonSets alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class DaemonSetReason(AnyReason):
    """What keeps a DaemonSet from rolling out."""

    BLOCKED_BY_NODE = "BlockedByNode"

    @property
    def is_of_surroundings(self) -> bool:
        """Whether a node keeps any version from starting."""
        return self is DaemonSetReason.BLOCKED_BY_NODE
