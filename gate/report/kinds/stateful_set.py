"""A StatefulSet in a report: ControllerRevisions keep its versions."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.outcome import Reason
from gate.report.kinds.kind import WorkloadWords

STATEFUL_SET: Final = WorkloadWords(
    "StatefulSet",
    version="ControllerRevision",
    parts="controllerrevisions,pods",
    ends={
        Reason.VACUOUS: "{name} has 0 replicas: it is as asked for, and nothing runs",
        Reason.NO_ROLLOUT: "{name} is as asked for, and nothing rolls: the version before runs on",
        StatefulSetReason.PARTITIONED: (
            "{name} runs what was applied down to its partition, and the version before below it"
        ),
    },
)
