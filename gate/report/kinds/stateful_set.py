"""A StatefulSet in a report: ControllerRevisions keep its versions, and its pods have an order."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.report.kinds.kind import Advice, WorkloadWords

STATEFUL_SET: Final = WorkloadWords(
    "StatefulSet",
    version="ControllerRevision",
    parts="controllerrevisions,pods",
    ends={
        Reason.VACUOUS: "{name} has 0 replicas: nothing runs",
        StatefulSetReason.PARTITIONED: "{name} is updated as far as its partition asks: {pods}",
        Reason.NO_ROLLOUT: "{name} was applied, and nothing rolls: {pods}",
    },
    steps={
        StatefulSetReason.PARTITIONED: (
            Advice("to update the pods that are left, lower the partition and apply again"),
        ),
        Reason.NO_ROLLOUT: (
            Advice(
                "a pod takes the applied revision when somebody deletes it (an apply with"
                " --on-delete wait waits for that); which pod has which:",
                "kubectl get pods {place} -L controller-revision-hash",
                remedy=Remedy.DELETE_POD,
            ),
            Advice(
                "a pod takes the applied revision when the partition is lowered; which pod has"
                " which:",
                "kubectl get pods {place} -L controller-revision-hash",
                remedy=Remedy.LOWER_PARTITION,
            ),
        ),
        Reason.BLOCKED_BY_POD: (
            Advice(
                "delete {subject}, with which its log goes (no PodDisruptionBudget prevents"
                " that); it comes back at the wanted revision:",
                "kubectl delete {subject} {place}",
            ),
            Advice(
                "then each other pod of that revision; which pod has which:",
                "kubectl get pods {place} -L controller-revision-hash",
                remedy=Remedy.DELETE_POD,
            ),
            Advice(
                "or let the gate delete {subject}: apply again what should run, with"
                " --replace-blocked-pods delete; evict, the default, heeds the budgets",
                remedy=Remedy.REPLACE_POD,
            ),
            Advice(
                "a pod below the partition comes back at the revision that it has: lower the"
                " partition until all pods are replaced; which pod has which revision:",
                "kubectl get pods {place} -L controller-revision-hash",
                remedy=Remedy.LOWER_PARTITION,
            ),
        ),
        Reason.PROGRESS_DEADLINE_EXCEEDED: (
            Advice(
                "if its pods merely take long to start, apply with a longer --progress-deadline;"
                " see what it waits for:",
                "rollout-gate status {name} {place}",
            ),
        ),
    },
)
