"""A DaemonSet in a report: ControllerRevisions keep its versions."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.model.outcome import Reason
from gate.report.kinds.kind import WorkloadWords

_BLOCKED: Final = DaemonSetReason.BLOCKED_BY_NODE

DAEMON_SET: Final = WorkloadWords(
    "DaemonSet",
    version="ControllerRevision",
    parts="controllerrevisions,pods",
    ends={Reason.VACUOUS: "{name} is to run on no node: it is as asked for, and nothing runs"},
    hindrances=frozenset({_BLOCKED}),
    steps={
        _BLOCKED: (
            "bring the nodes back or remove them, or raise maxUnavailable, then apply again",
            "kubectl get nodes",
        )
    },
)
