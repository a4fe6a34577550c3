"""A DaemonSet in a report: ControllerRevisions keep its versions, and each node has a pod."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.model.outcome import Reason
from gate.report.kinds.kind import Advice, Empty, WorkloadWords

_WITHOUT_A_NODE: Final = (
    Advice(
        "if it should run, see which nodes there are for its nodeSelector, affinity and"
        " tolerations:",
        "kubectl get nodes {cluster} --show-labels",
    ),
    Advice("once it has nodes, judge it:", "rollout-gate verify {name} {place}"),
)

DAEMON_SET: Final = WorkloadWords(
    "DaemonSet",
    version="ControllerRevision",
    parts="controllerrevisions,pods",
    when_empty=Empty.NO_NODE,
    ends={
        Reason.VACUOUS: "{name} has no node to run on: nothing runs",
        Reason.NO_ROLLOUT: "{name} was applied, and nothing rolls: {pods}",
        DaemonSetReason.NO_NODE: "{name} has no node any more on which it could be judged",
    },
    steps={
        Reason.VACUOUS: _WITHOUT_A_NODE,
        DaemonSetReason.NO_NODE: _WITHOUT_A_NODE,
        Reason.NO_ROLLOUT: (
            Advice(
                "a pod takes the applied revision when somebody deletes it (OnDelete; an apply"
                " with --on-delete wait waits for that); which pod has which:",
                "kubectl get pods {place} -L controller-revision-hash -o wide",
            ),
        ),
        Reason.BLOCKED_BY_POD: (
            Advice(
                "its controller replaces no pod (OnDelete): delete {subject} (no"
                " PodDisruptionBudget prevents that); it comes back at the wanted revision:",
                "kubectl delete {subject} {place}",
            ),
            Advice(
                "which other pods run which revision:",
                "kubectl get pods {place} -L controller-revision-hash -o wide",
            ),
        ),
        DaemonSetReason.BLOCKED_BY_NODE: (
            Advice("see why {subject} is not Ready:", "kubectl describe {subject} {cluster}"),
            Advice(
                "a pod on a node that is not Ready counts against maxUnavailable: repair the node"
                " or delete its Node object, or raise maxUnavailable if other nodes wait for it,"
                " then apply again:",
                "kubectl get nodes {cluster}",
            ),
        ),
        Reason.PROGRESS_DEADLINE_EXCEEDED: (
            Advice(
                "if its pods merely take long to start, apply with a longer --progress-deadline;"
                " see which nodes it waits for:",
                "rollout-gate status {name} {place}",
            ),
        ),
    },
)
