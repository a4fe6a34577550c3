"""The reasons that StatefulSets alone give."""

from __future__ import annotations

from gate.core.model.outcome import AnyReason


class StatefulSetReason(AnyReason):
    """How a StatefulSet's rollout ends short of all pods."""

    PARTITIONED = "Partitioned"
