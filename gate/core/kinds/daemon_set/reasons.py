"""The reasons that DaemonSets alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class DaemonSetReason(AnyReason):
    """What keeps a DaemonSet from rolling out."""

    BLOCKED_BY_NODE = "BlockedByNode"
    NO_NODE = "NoNode"

    @property
    def is_of_surroundings(self) -> bool:
        """Whether nodes keep any version from starting: all of these do."""
        return True
