"""Complete is one strict predicate over one snapshot, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import CleanText, PodDeletion
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import VerdictKind
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.policy import FailFast, Policy, Requirement
from tests.table import each
from tests.unit.core.world import (
    DEADLINE_EXCEEDED,
    SUCCEEDED,
    WEB,
    Scene,
    after,
    deployment,
    later,
    old_replica_set,
    pod,
    replica_set,
    template,
)

COMPLETE, PROGRESSING = VerdictKind.COMPLETE, VerdictKind.PROGRESSING


EARLY = "2026-11-21T10:00:00Z"
SLOWER = deployment(min_ready_seconds=10)
"""It makes no ReplicaSet: the counters of before last until it has the new seconds."""
COUNTED = replica_set(min_ready_seconds=10, generation=2, observed_generation=2)
TERMINATING = deployment(terminating_replicas=1)
PATIENT = Policy(requirement=Requirement(wait_for_termination=True))
LACKING = deployment(available_replicas=3)
KEPT_UP = Policy(requirement=Requirement(require_min_available=True))
"""With maxUnavailable 25 % of 4, three new pods have to be available."""

NOT_COMPLETE = {
    "a newer generation": Scene(web=deployment(generation=3, observed_generation=2)),
    "from before our write": Scene(web=deployment(generation=1, observed_generation=1)),
    "not all updated": Scene(web=deployment(updated_replicas=3)),
    "more than wanted": Scene(web=deployment(status_replicas=5)),
    "not all available": Scene(web=deployment(available_replicas=3)),
    "the new ReplicaSet's own available": Scene(sets=(replica_set(available_replicas=3),)),
    "the new ReplicaSet's own pods": Scene(sets=(replica_set(status_replicas=3),)),
    "the new ReplicaSet's size": Scene(sets=(replica_set(replicas=0),)),
    "NewReplicaSetAvailable of the old template": Scene(
        web=deployment(updated_replicas=0, conditions=(SUCCEEDED,)),
        sets=(old_replica_set(replicas=4),),
    ),
    "a stranger's ReplicaSet": Scene(sets=(replica_set("zoo-1", owner_uid="zoo-uid"),)),
    "zero replicas, pods still counted": Scene(
        web=deployment(replicas=0, status_replicas=2), sets=(replica_set(replicas=0),)
    ),
    "no change, not observed yet": Scene(
        web=deployment(generation=3, observed_generation=2), spec_changed=False
    ),
    "its ReplicaSet has not the new minReadySeconds": Scene(
        web=SLOWER, sets=(replica_set(min_ready_seconds=0),)
    ),
    "it has not been counted by them": Scene(
        web=SLOWER, sets=(replica_set(min_ready_seconds=10, generation=2),)
    ),
    "they are not over": Scene(web=SLOWER, sets=(replace(COUNTED, available_replicas=0),)),
    "pods terminate, which is waited for": Scene(web=TERMINATING, policy=PATIENT),
    "fewer than the strategy keeps up": Scene(
        web=LACKING, sets=(replica_set(available_replicas=2),), policy=KEPT_UP
    ),
}
DONE = {
    "a stale deadline condition beside it": Scene(web=deployment(conditions=(DEADLINE_EXCEEDED,))),
    "the older ReplicaSet has the live template": Scene(
        sets=(old_replica_set(revision=9), replica_set("web-a", revision=1, created_at=EARLY))
    ),
    "the older of two with the template": Scene(
        sets=(replica_set("web-a", replicas=0), replica_set("web-b", created_at=EARLY))
    ),
    "minReadySeconds that are over": Scene(web=SLOWER, sets=(COUNTED,)),
    "pods terminate, and nobody waits for it": Scene(web=TERMINATING),
    "nothing terminates": Scene(policy=PATIENT),
    "as many as the strategy keeps up": Scene(
        web=LACKING, sets=(replica_set(available_replicas=3),), policy=KEPT_UP
    ),
}


@pytest.mark.contract("B40", "B41", "B43", "B45", "B46", "B48", "B50", "B55", "B56")
@pytest.mark.parametrize("scene", NOT_COMPLETE.values(), ids=NOT_COMPLETE)
def test_complete_is_observed_updated_available_and_alone(scene: Scene) -> None:
    """Each counter, of the Deployment and of its new ReplicaSet, has to agree."""
    assert scene.verdict().kind is PROGRESSING


@pytest.mark.contract("B43", "B45", "B46", "B55", "B56")
@pytest.mark.parametrize("scene", DONE.values(), ids=DONE)
def test_only_the_predicate_counts(scene: Scene) -> None:
    """Of one ReplicaSet: the oldest with the live template, as its controller chooses it."""
    assert scene.verdict(at=700.0, seen_at=1.0).kind is COMPLETE


OLD = old_replica_set(replicas=2, status_replicas=2, ready_replicas=2, available_replicas=2)


@pytest.mark.contract("B746")
@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (Scene(), "4 of 4 new pods available"),
        (
            Scene(web=deployment(updated_replicas=0, status_replicas=0, available_replicas=0)),
            "4 of 4 new pods available",
        ),
        (
            Scene(
                web=deployment(updated_replicas=0, status_replicas=9),
                sets=(replica_set(status_replicas=3, available_replicas=1), OLD),
            ),
            "1 of 4 new pods available, 2 old pods remain",
        ),
        (Scene(sets=(OLD,)), "0 of 4 new pods available, 2 old pods remain"),
        (
            Scene(sets=(replica_set(status_replicas=6, available_replicas=6),)),
            "4 of 4 new pods available, 2 more than wanted",
        ),
        (
            Scene(
                sets=(replica_set(available_replicas=3), replace(OLD, status_replicas=1)),
                deadline_decides=False,
            ),
            "3 of 4 old pods available, 1 new pod remains",
        ),
        (Scene(spec_changed=False), "4 of 4 pods available"),
    ],
)
def test_one_line_counts_pods_one_way(scene: Scene, words: str) -> None:
    """The Deployment's counters lag behind the ReplicaSets': they are not mixed in one line."""
    rollout = scene.seen()
    assert rollout.snapshot.live is not None
    assert rollout.count(rollout.snapshot.live) == words


@pytest.mark.contract("B1350")
@pytest.mark.parametrize(("required", "unready"), [(None, 1), (3, 2)])
def test_pods_that_are_not_ready_are_believed_over_counters(
    required: int | None, unready: int
) -> None:
    """A controller that has stopped goes on to count them; the clock begins as they are lost."""
    wanted = Share(required) if required is not None else None
    rollout = Scene(policy=Policy(requirement=Requirement(require=wanted))).seen()
    rollout = after(rollout, 1.0, *(pod(n) for n in range(4)))
    assert rollout.verdict(1.0).kind is COMPLETE
    lost = [pod(n, resource_version="200", ready=False) for n in range(unready)]
    rollout = after(rollout, 50.0, *lost)
    assert rollout.verdict(50.0).kind is PROGRESSING
    assert rollout.progress.last_at == 50.0
    back = after(rollout, 51.0, *(pod(n, resource_version="300") for n in range(unready)))
    assert back.verdict(51.0).kind is COMPLETE


@pytest.mark.contract("B746")
def test_what_is_missing_to_be_done_is_said() -> None:
    """All pods are there, and the Deployment's status does not know it."""
    behind = Scene(web=deployment(updated_replicas=0)).verdict()
    said = "4 of 4 new pods available, not yet in the Deployment's status"
    assert (behind.kind, behind.message) == (PROGRESSING, said)
    assert "yet" not in Scene(web=deployment(updated_replicas=0), sets=(OLD,)).verdict().message


@pytest.mark.contract("B55")
def test_wait_for_termination_looks_at_pods_where_the_server_does_not_count() -> None:
    """Before Kubernetes 1.33 a pod with a deletion timestamp tells; strangers' pods do not."""
    web = deployment(terminating_replicas=None)
    scene = Scene(web=web, policy=PATIENT)
    stranger = pod(8, owner_uid="zoo-1-uid", deleting=True)
    going = pod(9, owner_uid="web-1-uid", deleting=True)
    rollout = after(scene.seen(), 1.0, old_replica_set(), stranger)
    assert rollout.verdict(1.0).kind is COMPLETE
    rollout = after(rollout, 2.0, going)
    assert rollout.verdict(2.0).kind is PROGRESSING
    rollout = rollout.observe(Vanished(3.0, Kind.POD, going.uid))
    assert rollout.verdict(3.0).kind is COMPLETE


@pytest.mark.contract("B1410")
@pytest.mark.parametrize("server_counts", [True, False])
def test_a_pod_held_from_before_stands_for_no_pod_that_terminates(server_counts: bool) -> None:
    """A server counts none whose containers have ended: its one is another."""
    held = pod(8, owner_uid="web-1-uid", deleting=True, phase="Failed")
    web = deployment(terminating_replicas=0 if server_counts else None)
    scene = Scene(web=web, policy=PATIENT)
    start = scene.rollout()
    remembered = after(start, 0.0, old_replica_set(), held).snapshot.remember_pods()
    rollout = after(replace(start, snapshot=remembered), 1.0, web, *scene.sets)
    assert rollout.verdict(1.0).kind is COMPLETE
    unseen = after(rollout, 1.5, later(web, 200, terminating_replicas=1))
    assert unseen.verdict(1.5).kind is PROGRESSING
    going = pod(9, owner_uid="web-1-uid", deleting=True)
    counting = later(web, 300, terminating_replicas=1) if server_counts else web
    rollout = after(rollout, 2.0, counting, going)
    assert rollout.verdict(2.0).kind is PROGRESSING
    ended = replace(going, phase="Succeeded")
    assert after(rollout, 3.0, later(web, 400), ended).verdict(3.0).kind is PROGRESSING
    rollout = after(rollout, 3.0, later(web, 400)).observe(Vanished(3.0, Kind.POD, going.uid))
    assert rollout.verdict(3.0).kind is COMPLETE


@pytest.mark.contract("B56")
@pytest.mark.parametrize(
    ("require", "there"),
    [(Share(3), 3), (Share(50, percent=True), 2), (Share(51, percent=True), 3)],
    ids=str,
)
def test_require_lets_a_part_suffice(require: Share, there: int) -> None:
    """So many available new pods are enough, one less is not."""
    policy = Policy(requirement=Requirement(require=require))

    def kind(available: int) -> VerdictKind:
        web = deployment(updated_replicas=available, available_replicas=4, status_replicas=5)
        sets = (replica_set(replicas=available), old_replica_set(replicas=5 - available))
        return Scene(web=web, sets=sets, policy=policy).verdict().kind

    assert [kind(there), kind(there - 1)] == [COMPLETE, PROGRESSING]


@pytest.mark.contract("B59")
def test_without_managed_fields_any_addition_is_superseded() -> None:
    """Where nobody tells whose field is whose, the whole template has to be ours."""
    added = later(deployment(), 200, generation=3, template=template(annotations={"a": "b"}))
    assert after(Scene().seen(), 2.0, added).verdict(2.0).kind is VerdictKind.SUPERSEDED


@pytest.mark.contract("B127")
@pytest.mark.parametrize(
    "change", [{"uid": "another"}, {"deleting": True}], ids=["made-again", "being-deleted"]
)
def test_a_deployment_that_goes_away_is_deleted(change: dict[str, Any]) -> None:
    """Made again under the same name, or on its way out: not ours any more."""
    verdict = after(Scene().seen(), 2.0, later(deployment(), 200, **change)).verdict(2.0)
    assert (verdict.kind, verdict.reason) == (VerdictKind.SUPERSEDED, Reason.DELETED)


def test_late_lines_of_a_watch_undo_nothing() -> None:
    """An older state of the object, or of the one that had its name before, is not news."""
    rollout = Scene(web=later(deployment(), 500)).seen()
    for late in (
        later(deployment(), 400, updated_replicas=0),
        later(deployment(), 300, uid="the-one-before"),
    ):
        assert rollout.observe(Observed(2.0, late)) is rollout


@pytest.mark.parametrize(("version", "gone"), [("", True), ("600", True), ("400", False)])
def test_a_list_from_a_server_behind_tells_of_nothing_that_is_gone(
    version: str, gone: bool
) -> None:
    """A list that is older than what was seen cannot know it."""
    rollout = Scene(web=later(deployment(), 500)).seen()
    rollout = rollout.observe(Listed(2.0, DEPLOYMENT, WEB, (), version))
    assert (rollout.verdict(2.0).kind is VerdictKind.SUPERSEDED) is gone


@pytest.mark.contract("B1314", "B1466")
@each(
    ("strategy", "available", "went_before", "is_awaited"),
    [
        ("Recreate", 0, False, True),
        ("Recreate", 0, True, True),
        ("RollingUpdate", 0, False, False),
        ("RollingUpdate", 4, False, True),
        ("RollingUpdate", 4, True, False),
    ],
)
@pytest.mark.parametrize("is_held", [True, False])
def test_old_pods_that_end_are_a_cause_where_their_end_is_awaited(
    strategy: str, available: int, went_before: bool, is_awaited: bool, is_held: bool
) -> None:
    """`Recreate` waits for each, `--wait-for-termination` for those that go once all is done."""
    held = (CleanText("x.test/hold"),) if is_held else ()
    deletion = PodDeletion(finalizers=held, grace_seconds=0.0 if is_held else 30.0)
    old = (pod(8 + n, owner_uid="web-1-uid", deleting=True, deletion=deletion) for n in range(2))
    web = deployment(recreate=strategy == "Recreate", available_replicas=available)
    snapshot = after(Scene(web=web).seen(), 1.0, old_replica_set(), *old).snapshot
    snapshot = snapshot.remember_pods() if went_before else snapshot
    found = [(one.reason, one.message) for one in snapshot.kind.faults(snapshot, web, FailFast())]
    reason = Reason.BLOCKED_BY_FINALIZER if is_held else Reason.BLOCKED_BY_TERMINATION
    assert [one for one, _ in found] == [reason] * is_awaited
    assert all(message.endswith(", and 1 more") for _, message in found)
