"""DaemonSets as values.

Field names follow the API (apps/v1); counters that the server omits are 0.
"""

from __future__ import annotations

from typing import Final

from gate.core.frozen import dataclass
from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import Ref, Workload
from gate.core.model.outcome import AnyReason
from gate.core.rollout.observations import Kind

API_VERSION: Final = "apps/v1"
DAEMON_SET: Final = Kind("DaemonSet")
TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
_PLACEMENT: Final = ("nodeSelector", "affinity", "tolerations", "nodeName")
"""What of a pod's `spec` decides on which nodes its controller creates it."""
BOOKKEEPING: Final = frozenset({TEMPLATE_GENERATION})
"""What the API server counts up in the annotations of a DaemonSet, with each new template."""


def daemon_set_ref(namespace: str, name: str) -> Ref:
    """Name a DaemonSet."""
    return Ref(API_VERSION, DAEMON_SET, namespace, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSet(Workload):
    """An apps/v1 DaemonSet; `replicas` is how many nodes are to run a pod.

    The controller counts them (`desiredNumberScheduled`), and of several pods on a node the oldest.
    `updated`, `ready` and `available` are nodes whose pod is of the newest revision, ready,
    available; `misscheduled` are nodes that run a pod and are not to. `max_surge` and
    `max_unavailable` are as the API gives them, a number or a percentage. `template_generation` is
    how often the server has seen the template change.
    """

    min_ready_seconds: int
    on_delete: bool
    max_surge: str
    max_unavailable: str
    current: int
    misscheduled: int
    updated: int
    ready: int
    available: int
    template_generation: int | None = None

    @property
    def leaves_old_pods(self) -> bool:
        """Whether its controller replaces no pod of an older version by itself."""
        return self.on_delete

    @property
    def when_empty(self) -> str:
        """What is to be said of it where no node is to run a pod."""
        return "no node is to run a pod, and none does"

    @property
    def reason_if_emptied(self) -> AnyReason:
        """Why it wants no pod any more: nobody has scaled it."""
        return DaemonSetReason.NO_NODE

    def describe_emptied(self, count: int) -> str:
        """Say that no node is to run a pod any more, of `count` that were to."""
        return f"no node is to run a pod any more; {count} {'was' if count == 1 else 'were'} to"

    def is_placed_as(self, other: DaemonSet) -> bool:
        """Tell whether its pods may run on the nodes on which those of `other` may."""
        specs = [one.template.body.thaw().get("spec") or {} for one in (self, other)]
        one, two = ([spec.get(name) for name in _PLACEMENT] for spec in specs)
        return one == two

    @property
    def surges(self) -> bool:
        """Whether a node gets its new pod before the old one goes."""
        return bool(Share.parse(self.max_surge).of(self.replicas, round_up=True))

    @property
    def step(self) -> int:
        """How many nodes may be without an available pod at a time, at least 1.

        Both parameters are rounded up, and one of them is 0 (`updatedDesiredNodeCounts`).
        """
        share = Share.parse(self.max_surge if self.surges else self.max_unavailable)
        return max(1, share.of(self.replicas, round_up=True))
