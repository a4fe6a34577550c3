"""Which nodes a DaemonSet's pods are for, and those pods.

Rules of `pkg/controller/daemon/util` and of `NodeShouldRunDaemonPod`. Node affinity is read as far
as label selectors go; other predicates of a scheduler are not asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sandbox.controllers.pods import (
    ENDED,
    from_template,
    is_available,
    is_deleting,
    is_ready,
    phase,
    resolve_bound,
)
from sandbox.json import JSON
from sandbox.objects.selectors import fits, is_tolerated
from sandbox.times import Timers

HASH_LABEL = "controller-revision-hash"
GENERATION_LABEL = "pod-template-generation"
GENERATION = "deprecated.daemonset.template.generation"

_NO_EXECUTE, _NO_SCHEDULE = "NoExecute", "NoSchedule"
_TOLERATED = (
    ("not-ready", _NO_EXECUTE),
    ("unreachable", _NO_EXECUTE),
    ("disk-pressure", _NO_SCHEDULE),
    ("memory-pressure", _NO_SCHEDULE),
    ("pid-pressure", _NO_SCHEDULE),
    ("unschedulable", _NO_SCHEDULE),
)
"""What every daemon pod tolerates, of `node.kubernetes.io/`."""


def is_wanted(daemon_set: JSON, node: JSON) -> tuple[bool, bool]:
    """Say whether a pod is to run on a node, and whether one that does may go on."""
    spec = daemon_set["spec"]["template"]["spec"]
    name = spec.get("nodeName")
    if (name and name != node["metadata"]["name"]) or not fits(spec, node):
        return False, False
    tolerations = _tolerations(spec)
    left = {
        taint["effect"]
        for taint in node["spec"].get("taints") or ()
        if not is_tolerated(taint, tolerations)
    }
    return not left & {_NO_EXECUTE, _NO_SCHEDULE}, _NO_EXECUTE not in left


def _tolerations(spec: JSON) -> list[JSON]:
    """Return what its pods tolerate: of one key and effect, the controller's own goes before."""
    of_host = [("network-unavailable", _NO_SCHEDULE)] if spec.get("hostNetwork") else []
    own = [
        {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
        for name, effect in (*_TOLERATED, *of_host)
    ]
    same = {(each["key"], each["effect"]) for each in own}
    given = spec.get("tolerations") or ()
    kept = [each for each in given if (each.get("key"), each.get("effect")) not in same]
    return [*kept, *own]


def new_pod(daemon_set: JSON, node: str, revision_hash: str) -> JSON:
    """Return the pod to create for a node: only the scheduler gives it that node."""
    pod = from_template(daemon_set, daemon_set["spec"]["template"])
    labels = {**pod["metadata"].get("labels", {}), HASH_LABEL: revision_hash}
    if generation := _generation(daemon_set):
        labels[GENERATION_LABEL] = generation
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [field]}]
    affinity = pod["spec"].get("affinity") or {}
    of_nodes = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
    }
    pod["metadata"]["labels"] = labels
    pod["spec"] = {
        **pod["spec"],
        "affinity": {**affinity, "nodeAffinity": of_nodes},
        "tolerations": _tolerations(pod["spec"]),
    }
    return pod


def is_updated(daemon_set: JSON, pod: JSON, revision_hash: str) -> bool:
    """Say whether a pod is of the DaemonSet's template as it is now."""
    wanted = _generation(daemon_set)
    labels = pod["metadata"].get("labels") or {}
    is_same = bool(wanted) and labels.get(GENERATION_LABEL) == wanted
    return is_same or labels.get(HASH_LABEL) == revision_hash


def _generation(daemon_set: JSON) -> str:
    return str((daemon_set["metadata"].get("annotations") or {}).get(GENERATION, ""))


def in_order(pods: list[JSON]) -> list[JSON]:
    """Return the pods of a node: those that have it already first, the oldest first."""
    return sorted(
        pods,
        key=lambda pod: (
            not pod["spec"].get("nodeName"),
            pod["metadata"]["creationTimestamp"],
            pod["metadata"]["name"],
        ),
    )


@dataclass(slots=True)
class Plan:
    """The nodes that get a pod, and the pods that go."""

    nodes: list[str] = field(default_factory=list)
    old: list[JSON] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class View:
    """A DaemonSet with the nodes, and its pods by the node that they are for, as one sync sees."""

    daemon_set: JSON
    nodes: dict[str, JSON]
    pods: dict[str, list[JSON]]
    revision_hash: str
    timers: Timers

    def is_new(self, pod: JSON) -> bool:
        """Say whether a pod is of the template as it is now."""
        return is_updated(self.daemon_set, pod, self.revision_hash)

    def is_available(self, pod: JSON) -> bool:
        """Say whether a pod has been ready for long enough."""
        seconds = self.daemon_set["spec"].get("minReadySeconds", 0)
        return is_available(pod, seconds, self.timers)

    def list_wanted_nodes(self) -> list[str]:
        """Return the names of the nodes that are to have a pod."""
        found = self.nodes.items()
        return [name for name, node in found if is_wanted(self.daemon_set, node)[0]]

    def resolve_bound(self, name: str) -> int:
        """Return `maxSurge` or `maxUnavailable` as a count; both are rounded up."""
        rolling = self.daemon_set["spec"]["updateStrategy"].get("rollingUpdate") or {}
        return resolve_bound(rolling.get(name), len(self.list_wanted_nodes()), up=True)

    def living(self, node: str) -> tuple[list[JSON], list[JSON]]:
        """Return the new pods of a node and its old ones, but for those that are going."""
        pods = [pod for pod in self.pods.get(node, ()) if not is_deleting(pod)]
        new = [pod for pod in pods if self.is_new(pod)]
        return new, [pod for pod in pods if pod not in new]


def manage(view: View, ended: list[JSON]) -> Plan:
    """Plan for nodes without a pod, and for pods that are not wanted or have ended (`ended`)."""
    plan = Plan()
    surges = view.resolve_bound("maxSurge") > 0
    for name, node in view.nodes.items():
        should_run, may_go_on = is_wanted(view.daemon_set, node)
        pods = [pod for pod in view.pods.get(name, ()) if not is_deleting(pod)]
        if should_run and name not in view.pods:
            plan.nodes.append(name)
        elif may_go_on:
            over = [pod for pod in pods if phase(pod) in ENDED]
            plan.old += [pod for pod in over if pod in ended]
            running = in_order([pod for pod in pods if pod not in over])
            if not surges:
                plan.old += running[1:]
            elif running:
                plan.old += _surplus(view, running)
            elif should_run:
                plan.nodes.append(name)
        else:
            plan.old += pods
    gone = (pods for name, pods in view.pods.items() if name not in view.nodes)
    plan.old += [pod for pods in gone for pod in pods if not pod["spec"].get("nodeName")]
    return plan


def _surplus(view: View, running: list[JSON]) -> list[JSON]:
    """Return which of the pods of a node go: all but one of each kind, then the old one."""
    new = [pod for pod in running if view.is_new(pod)]
    old = [pod for pod in running if pod not in new]
    surplus = [*new[1:], *old[1:]]
    if new and old and (not is_ready(old[0]) or view.is_available(new[0])):
        surplus.append(old[0])
    return surplus


def roll(view: View) -> Plan:
    """Plan the next step of an update."""
    surge = view.resolve_bound("maxSurge")
    return _roll_with_surge(view, surge) if surge else _roll_in_place(view)


def _each_node(view: View) -> Iterator[tuple[str, JSON | None, JSON | None, bool]]:
    """Yield each node with its new pod, its old one, and whether it has more than one of either."""
    for name in sorted({*view.pods, *view.list_wanted_nodes()}):
        new, old = view.living(name)
        has_excess = len(new) > 1 or len(old) > 1
        yield name, next(iter(new), None), next(iter(old), None), has_excess


def _roll_in_place(view: View) -> Plan:
    """Delete old pods: those that serve nobody at once, the others as far as is allowed."""
    most = view.resolve_bound("maxUnavailable") or 1
    unavailable = 0
    allowed: list[JSON] = []
    candidates: list[JSON] = []
    for _, new, old, has_excess in _each_node(view):
        if has_excess or (new is None) == (old is None):
            unavailable += 1
        elif new is not None:
            unavailable += not view.is_available(new)
        elif old is not None and not view.is_available(old):
            allowed.append(old)
            unavailable += 1
        elif old is not None and unavailable < most:
            candidates.append(old)
    return Plan(old=[*allowed, *candidates[: max(most - unavailable, 0)]])


def _roll_with_surge(view: View, most: int) -> Plan:
    """Create new pods beside old ones, and delete those whose new one is available."""
    surge, available = 0, 0
    plan = Plan()
    candidates: list[str] = []
    unwanted: list[JSON] = []
    wanted = view.list_wanted_nodes()
    for name, new, old, has_excess in _each_node(view):
        shown = old or new
        available += shown is not None and not has_excess and view.is_available(shown)
        if has_excess:
            surge += 1
        elif old is None:
            continue
        elif new is not None and not view.is_available(new):
            surge += 1
        elif new is not None:
            plan.old.append(old)
        elif name not in wanted:
            (unwanted if view.is_available(old) else plan.old).append(old)
        elif not view.is_available(old):
            plan.nodes.append(name)
        elif surge < most:
            candidates.append(name)
    plan.old += unwanted[: max(available - len(wanted), 0)]
    plan.nodes += candidates[: max(most - surge, 0)]
    return plan
