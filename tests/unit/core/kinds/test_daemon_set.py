"""What a DaemonSet's status, pods and nodes say together: done or not, evidence, what goes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gate.core.kinds.daemon_set.objects import DaemonSet, daemon_set_ref
from gate.core.kinds.registry import kind_of
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import Watched
from gate.core.model.outcome import Reason
from gate.core.rollout.dead_end import DEAD_END_SECONDS, find_dead_end
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.policy import FailFast, OnDelete, Policy, Requirement
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import BlockingPod
from gate.wire import decode
from tests.table import each
from tests.unit.core.world import snapshot_of

REF = daemon_set_ref("shop", "agent")
KIND = kind_of(REF)
STRICT = Policy(requirement=Requirement(require_all_nodes=True))
LENIENT = Policy()


def owned(name: str, kind: str, **body: Any) -> Watched:
    """Return an object that the DaemonSet owns."""
    owner = {"kind": "DaemonSet", "uid": body.pop("owner", "ds"), "controller": True}
    meta = {"name": name, "namespace": "shop", "uid": name, "ownerReferences": [owner]}
    meta |= body.pop("meta", {})
    api_version = "v1" if kind == "Pod" else "apps/v1"
    return decode.decode_watched(
        {"apiVersion": api_version, "kind": kind, "metadata": meta, **body}
    )


def template(version: int) -> dict[str, Any]:
    """Return the pod template of a version."""
    container = {"name": "agent", "image": f"shop/agent:{version}"}
    return {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container]}}


def revision(version: int, number: int, owner: str = "ds", made_at: int | None = None) -> Watched:
    """Return the ControllerRevision of a version, with a number, made at a template generation."""
    data = {"spec": {"template": {"$patch": "replace", **template(version)}}}
    label = {"controller-revision-hash": f"hash-{version}"}
    return owned(
        f"agent-{version}",
        "ControllerRevision",
        data=data,
        revision=number,
        meta={"labels": label, "annotations": counted(made_at)},
        owner=owner,
    )


def counted(generation: int | None) -> dict[str, str]:
    """Return the annotation by which the server counts templates."""
    if generation is None:
        return {}
    return {"deprecated.daemonset.template.generation": str(generation)}


def agent(
    version: int = 2,
    observed: int = 2,
    strategy: Mapping[str, Any] | None = None,
    template_generation: int | None = None,
    more: Mapping[str, Any] | None = None,
    **status: int,
) -> DaemonSet:
    """Return the DaemonSet; counters that are not given are 3."""
    names = ("desired", "current", "updated", "ready", "available")
    counters = {**dict.fromkeys(names, 3), "misscheduled": 0, **status}
    meta = {"name": "agent", "namespace": "shop", "uid": "ds", "generation": 2}
    whole = template(version)
    whole["spec"] |= more or {}
    found = decode.decode_watched(
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {**meta, "annotations": counted(template_generation)},
            "spec": {"template": whole, "updateStrategy": strategy or {}},
            "status": {
                "observedGeneration": observed,
                "desiredNumberScheduled": counters["desired"],
                "currentNumberScheduled": counters["current"],
                "updatedNumberScheduled": counters["updated"],
                "numberMisscheduled": counters["misscheduled"],
                "numberReady": counters["ready"],
                "numberAvailable": counters["available"],
            },
        }
    )
    assert isinstance(found, DaemonSet)
    return found


def pod(node: str, version: int = 2, *, ready: bool = True, **given: Any) -> Watched:
    """Return a pod on a node."""
    name = given.pop("name", f"{node}-{version}")
    status = {"conditions": [{"type": "Ready", "status": str(ready)}]}
    meta = {"labels": {"controller-revision-hash": f"hash-{version}"}, **given.pop("meta", {})}
    return owned(name, "Pod", spec={"nodeName": node}, status=status, meta=meta, **given)


def node(name: str, ready: str = "True") -> Watched:
    """Return a node."""
    conditions = [{"type": "Ready", "status": ready}]
    return decode.decode_watched(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": f"uid-{name}"},
            "status": {"conditions": conditions},
        }
    )


REVISIONS = (revision(1, 1), revision(2, 2))
COUNTED = (revision(1, 1, made_at=1), revision(2, 2, made_at=2))
BACK_TO_1 = (revision(1, 3), revision(2, 2))
BACK_AGAIN = (revision(1, 3, made_at=1), revision(2, 2, made_at=2))
UNKNOWN_FIELD = {"hostUsers": False}
NODES = (node("a"), node("b"), node("c"))
ALL_NEW = (pod("a"), pod("b"), pod("c"))
DEAD_C = (node("a"), node("b"), node("c", "Unknown"))


def seen(*things: Watched, begun: bool = True) -> Snapshot:
    """Return what is known after objects were seen; our write came then, if `begun`."""
    snapshot = snapshot_of(REF, *things)
    return snapshot.begin(1.0) if begun else snapshot


@pytest.mark.contract("B940", "B1097")
@each(
    ("live", "revisions", "found"),
    [
        (agent(), REVISIONS, "agent-2"),
        (agent(observed=1), REVISIONS, ""),
        (agent(1), BACK_TO_1, "agent-1"),
        (agent(1), REVISIONS, ""),  # number 3 of version 1 is still on its way
        (agent(3), REVISIONS, "agent-2"),  # an older controller keeps less of the template
        (agent(), (*REVISIONS, revision(9, 9, owner="other")), "agent-2"),
        (agent(), (), ""),
        # version 3 has none yet: what was made for an earlier template is that of the one before
        (agent(3, template_generation=3), COUNTED, ""),
        (agent(3, template_generation=4), BACK_AGAIN, ""),
        # an older controller leaves out a field: in a new template, and in one that came back
        (agent(2, template_generation=2, more=UNKNOWN_FIELD), COUNTED, "agent-2"),
        (agent(1, template_generation=3, more=UNKNOWN_FIELD), BACK_AGAIN, "agent-1"),
    ],
)
def test_the_newest_revision_is_followed(
    live: DaemonSet, revisions: tuple[Watched, ...], found: str
) -> None:
    """Once the generation is observed, unless another revision keeps the live template."""
    assert seen(live, *revisions).current_uid == found


@pytest.mark.contract("B940")
def test_pods_of_another_daemon_set_with_the_same_hash_do_not_count() -> None:
    """The label has the bare hash of a template, which two of them may share."""
    snapshot = seen(agent(), *REVISIONS, pod("a"), pod("b", owner="other"))
    current = snapshot.current()
    assert [track.pod.node for track in snapshot.pods_of(current)] == ["a"]


A_AND_B = ALL_NEW[:2]
OLD_ON_C = pod("c", 1, ready=False)


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.contract("B941", "B942", "B943", "B1315")
@each(
    ("live", "others", "lenient", "strict"),
    [
        (agent(), (*NODES, *ALL_NEW), True, True),
        (agent(), ALL_NEW, True, True),  # nodes may not be read
        (agent(available=2), (*NODES, *ALL_NEW), False, False),
        # The status counts a pod that terminates: it stays on no node, unless another one does.
        (agent(), (*NODES, *A_AND_B, pod("c", meta=GOING)), False, False),
        (agent(), (*NODES, *ALL_NEW, pod("c", name="before", meta=GOING)), True, True),
        (agent(updated=2), (*NODES, *A_AND_B, pod("c", 1)), False, False),
        # One node is dead: with its old pod, a new one that never starts, or none that is counted.
        (agent(updated=2, available=2), (*DEAD_C, *A_AND_B, OLD_ON_C), True, False),
        (agent(available=2), (*DEAD_C, *A_AND_B, pod("c", ready=False)), True, False),
        (agent(updated=2), (*DEAD_C, *A_AND_B, pod("c", 1)), True, False),
        (agent(desired=2, current=2, misscheduled=1, updated=2, available=2),
         (*DEAD_C, *A_AND_B, OLD_ON_C), True, True),
        # The status does not agree yet: a node has no pod, or not for long enough.
        (agent(current=2, updated=2, available=2), (*DEAD_C, *A_AND_B, OLD_ON_C), False, False),
        (agent(updated=2, available=2),
         (*DEAD_C, node("d"), *A_AND_B, OLD_ON_C, pod("d", ready=False)), False, False),
        (agent(updated=2, available=1), (*DEAD_C, *A_AND_B, OLD_ON_C), False, False),
        (agent(updated=1, available=2), (*DEAD_C, *A_AND_B, OLD_ON_C), False, False),
        # A node that is ready does not follow, or none is ready.
        (agent(updated=2, available=1), (*DEAD_C, pod("a"), pod("b", ready=False), OLD_ON_C),
         False, False),
        (agent(updated=0, available=0), (*(node(name, "False") for name in "abc"),
         *(pod(name, 1, ready=False) for name in "abc")), False, False),
        # Without the right to read nodes a dead one is as any other.
        (agent(updated=2, available=2), (*A_AND_B, OLD_ON_C), False, False),
    ],
)  # fmt: skip
def test_done_is_each_node_that_is_ready(
    live: DaemonSet, others: tuple[Watched, ...], *, lenient: bool, strict: bool
) -> None:
    """Status and pods have to agree; by the strict form the status alone decides."""
    snapshot = seen(live, *REVISIONS, *others)
    found = [KIND.completion(snapshot, live, policy) for policy in (LENIENT, STRICT)]
    assert found == [Reason.COMPLETE if done else None for done in (lenient, strict)]


@pytest.mark.contract("B941")
def test_less_may_be_asked_for() -> None:
    """`--require` counts the nodes of which the status shows that they follow."""
    live = agent(updated=2, available=2)
    snapshot = seen(live, *REVISIONS, *NODES, pod("a"), pod("b", ready=False), pod("c", 1))
    for share, found in (("1", Reason.COMPLETE), ("2", None), ("34%", None)):
        policy = Policy(requirement=Requirement(require=Share.parse(share)))
        assert KIND.completion(snapshot, live, policy) == found, share


@pytest.mark.contract("B948")
def test_nodes_that_were_not_ready_at_the_start_or_are_gone_are_no_evidence() -> None:
    """One that joins counts, and so does one that a version may have taken down."""
    snapshot = seen(agent(), *REVISIONS, node("a"), node("b", "False"), node("c"))
    for thing in (node("b"), node("c", "False"), node("d")):
        snapshot = snapshot.fold(Observed(2.0, thing))
    snapshot = snapshot.fold(Vanished(2.0, Kind.NODE, "uid-a"))
    snapshot = snapshot.fold(Listed(3.0, Kind.POD, REF, tuple(map(pod, "abcd"))))
    found = {one.pod.node: KIND.is_evidence(snapshot, one.pod) for one in snapshot.pods.values()}
    assert found == {"a": False, "b": False, "c": True, "d": True}


@pytest.mark.contract("B947")
@each(
    ("before", "after", "doomed", "condemned"),
    [
        ((pod("a", 1),), (pod("a", ready=False),), "a", True),
        ((pod("a", 1, ready=False),), (pod("a", ready=False),), "a", False),
        ((), (pod("a", ready=False),), "a", False),
        ((), (pod("a"),), "a", False),  # it restarted too often, and is ready just now
        ((pod("a", 1), pod("b", 1)), (pod("a", ready=False), pod("b")), "a", False),
        ((), (pod("a", ready=False), pod("b", ready=False), pod("c")), "ab", True),
    ],
)
def test_a_lone_pod_condemns_only_where_another_revision_worked(
    before: tuple[Watched, ...], after: tuple[Watched, ...], doomed: str, *, condemned: bool
) -> None:
    """The only new one does, on a node whose old pod was ready until it was deleted; two do."""
    snapshot = seen(agent(), *REVISIONS, *NODES, *before)
    for thing in before:
        stopped = pod(thing.uid[0], 1, ready=False, meta=GOING)
        snapshot = snapshot.fold(Observed(2.0, stopped)).fold(Vanished(3.0, Kind.POD, thing.uid))
    for thing in after:
        snapshot = snapshot.fold(Observed(4.0, thing))
    pods = [one.pod for one in snapshot.pods.values() if one.pod.node in doomed]
    assert KIND.may_fail_fast(snapshot, pods, len(after)) is condemned


@pytest.mark.contract("B949", "B1341", "B1640")
def test_pods_that_may_not_be_created_are_named_while_a_node_lacks_one() -> None:
    """A DaemonSet has no condition for it: an Event says why, and outlives what it reports."""
    event = decode.decode_watched(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e", "namespace": "shop", "uid": "e"},
            "involvedObject": {"kind": "DaemonSet", "name": "agent", "uid": "ds"},
            "type": "Warning",
            "reason": "FailedCreate",
            "lastTimestamp": "2026-01-01T02:00:00Z",
            "message": 'Error creating: pods "agent-1" is forbidden: no privileged pods',
        }
    )
    for current, hour, found in ((2, 1, True), (3, 1, False), (2, 3, False)):
        live = agent(current=current)
        created = pod("a", meta={"creationTimestamp": f"2026-01-01T0{hour}:00:00Z"})
        snapshot = seen(live, *REVISIONS, created).fold(Observed(1.0, event))
        faults = KIND.faults(snapshot, live, FailFast())
        assert [fault.reason for fault in faults] == [Reason.POD_CREATE_DENIED] * found
        assert all(fault.message.startswith("pods ") for fault in faults)
        assert not [*KIND.faults(seen(live, *REVISIONS, event), live, FailFast())]


@pytest.mark.contract("B1268", "B1683")
def test_only_nodes_with_a_pod_can_block_a_daemon_set() -> None:
    """Those that are not ready, or gone, are named; where none is to run it there are none."""
    empty = agent(desired=0, current=0, updated=0, ready=0, available=0)
    assert not [*KIND.faults(seen(empty, *REVISIONS, *NODES), empty, FailFast())]
    lost = seen(empty, *REVISIONS, node("a"), pod("c", ready=False))
    (fault,) = KIND.faults(lost, empty, FailFast())
    assert fault.message == "c (gone): no node that is to run it is Ready"


@pytest.mark.contract("B1314", "B1466")
def test_a_pod_that_is_not_gone_holds_its_node() -> None:
    """Its finalizers keep it, or it takes its time. One on a dead node is not named."""
    going = {**GOING, "finalizers": ["x.test/a", "x.test/b"]}
    live, found = agent(), []
    for grace_seconds, status in ((0, "True"), (30, "True"), (0, "False")):
        held = pod("n1", 1, meta={**going, "deletionGracePeriodSeconds": grace_seconds})
        snapshot = seen(live, *REVISIONS, *NODES, node("n1", status), held)
        found.append(KIND.faults(snapshot, live, FailFast()))
    ((fault,), (slow,), nothing) = found
    assert (fault.reason, fault.subject) == (Reason.BLOCKED_BY_FINALIZER, "pod/n1-1")
    assert (slow.reason, slow.is_usual) == (Reason.BLOCKED_BY_TERMINATION, True)
    limit = "(it may take 30 s)"
    assert slow.message == f"pod/n1-1 on node/n1 is being deleted, and has not ended {limit}"
    assert not nothing
    said = (
        "pod/n1-1 is being deleted, and stays until its finalizers x.test/a, x.test/b are removed"
    )
    assert fault.message == said


def back(*, created: int, available: int) -> DaemonSet:
    """Return a DaemonSet for two nodes whose first version is restored, with `OnDelete`."""
    return agent(
        1,
        strategy={"type": "OnDelete"},
        desired=2,
        current=created,
        ready=created,
        updated=0,
        available=available,
    )


def find(live: DaemonSet, *things: Watched) -> BlockingPod | None:
    """Return the pod to replace next where the second version is taken back."""
    snapshot = seen(live, *BACK_TO_1, *things).take_back("ds/hash-2")
    return snapshot.kind.find_blocking_pod(snapshot, live, FailFast())


@pytest.mark.contract("B1105")
def test_a_pod_that_lingers_on_a_node_that_is_gone_stands_for_no_other() -> None:
    """Of two nodes `b` has no pod yet: what works on `a` stays, whoever else is listed."""
    live = back(created=1, available=1)
    there = (node("a"), node("b"), pod("a"))
    assert find(live, *there) is None
    assert find(live, *there, pod("gone")) is None


@pytest.mark.contract("B1105")
def test_a_pod_on_a_node_that_is_gone_holds_up_nothing() -> None:
    """Both nodes that are there have an available pod."""
    live = back(created=2, available=2)
    found = find(live, node("a"), node("b"), pod("a"), pod("b"), pod("gone"))
    assert found is not None
    assert found.pod.node == "a"


@pytest.mark.contract("B1105")
def test_a_pod_that_is_ready_but_not_available_yet_holds_up_the_next() -> None:
    """It has not been ready for `minReadySeconds`, which the status alone knows."""
    there = (node("a"), node("b"), pod("a"), pod("b"))
    assert find(back(created=2, available=1), *there) is None


@pytest.mark.contract("B1401")
@each(
    ("nodes", "on_c", "named"),
    [
        (NODES, pod("c", 1), "pod/b-2"),
        (NODES, OLD_ON_C, None),  # it starts: something moves
        (DEAD_C, OLD_ON_C, "pod/b-2"),
        (NODES, pod("c", ready=False), "pod/c-2"),
        (DEAD_C, pod("c", ready=False), "pod/b-2"),
    ],
)
def test_a_pod_on_a_node_that_is_not_ready_neither_holds_up_the_end_nor_is_named(
    nodes: tuple[Watched, ...], on_c: Watched, named: str | None
) -> None:
    """Nothing moves there until it is back. On `b` a pod of the version taken back is left."""
    live = agent(1, strategy={"type": "OnDelete"})
    there = (*nodes, pod("a", 1), pod("b"), on_c)
    snapshot = seen(live, *BACK_TO_1, *there)
    policy = Policy(requirement=Requirement(on_delete=OnDelete.WAIT))
    found = find_dead_end(snapshot, live, policy, (), 0.0, DEAD_END_SECONDS)
    assert (found.causes[0].subject if found is not None else None) == named
