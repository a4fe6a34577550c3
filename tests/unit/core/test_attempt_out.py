"""The way out: from the journal to a verdict that a quorum read has borne out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.following import UnexpectedAnswer
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.kinds.deployment.objects import DEPLOYMENT, ReplicaSet, deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Absent, Unknown
from gate.core.model.lock import lock_of
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Asking, Collect, Read, Release, SaveRecord, Write
from gate.core.protocol.events import (
    AccessGranted,
    Collected,
    ContactLost,
    ContactRestored,
    LeaseLost,
    ReadBack,
    Recorded,
    WriteRejected,
)
from gate.core.rollout.observations import Vanished
from gate.core.rollout.policy import OnFailure, OnFirstFailure, Policy
from gate.core.steps.step import begin, step, wake_at
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import STARTED_AT, Player, ends, planned, watched
from tests.unit.core.server import Server
from tests.unit.core.world import refusals

IMAGE = 'spec.template.spec.containers[name="web"].image'


def rolled_out(policy: Policy | None = None, **behaviour: str) -> Player:
    """Begin to roll v2 out over a v1 that serves."""
    server = Server(**behaviour)
    server.put(manifest("v1"))
    return Player(server, planned(server, manifest("v2"), policy=policy))


# -- good ------------------------------------------------------------------------------------------


@pytest.mark.contract("B20", "B53")
def test_a_good_version_is_verified_by_a_read_after_completion() -> None:
    """Recorded, written, followed, complete, read once more, released: exit 0."""
    player = rolled_out()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    kinds = [type(effect) for effect in player.sent]
    assert kinds == [SaveRecord, Write, Read, Release]
    assert [state for _, state in player.places] == [
        State.RECORDING,
        State.WRITING,
        State.FOLLOWING,
        State.CONFIRMING,
        State.CLOSING,
        State.ENDED,
    ]


@pytest.mark.contract("B125")
def test_the_first_write_carries_uid_and_resource_version() -> None:
    """Whoever changed the object since the preflight makes it conflict; a new one has none."""
    server = Server()
    ref = server.put(manifest("v1"))
    player = Player(server, planned(server, config("a"), manifest("v2")))
    player.run()
    new, existing = player.writes
    live = player.attempt.plan.before(ref)
    assert live is not None
    assert (new.uid, new.resource_version) == (None, None)
    assert (existing.uid, existing.resource_version) == (live.uid, live.resource_version)


@pytest.mark.contract("B53")
def test_a_read_that_contradicts_completion_goes_on() -> None:
    """What the watches told was behind: a pod is gone by the time of the read."""
    player = rolled_out()

    def contradict(player: Player, effect: Read) -> ReadBack:
        truth = player.read(effect)
        assert truth.revisions is not None
        behind = [
            replace(one, available_replicas=0, resource_version="9999")
            for one in truth.revisions
            if isinstance(one, ReplicaSet)
        ]
        return replace(truth, revisions=tuple(behind))

    player.bend(Read, contradict)
    player.run_to(State.CONFIRMING)
    player.pass_to(STARTED_AT + 1.0)
    assert player.attempt.course.state is State.FOLLOWING
    assert "refuted" in [line.event for line in player.said]


@pytest.mark.contract("B57")
def test_a_manifest_without_a_deployment_is_complete_at_once() -> None:
    """A Service switch is written and done; nothing is there to be followed."""
    server = Server()
    player = Player(server, planned(server, config("a")))
    assert ends(player.run()) == (0, Outcome.APPLIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT


@pytest.mark.contract("B50")
def test_the_same_again_is_no_change() -> None:
    """What runs already is observed, complete, and not called a new version."""
    server = Server()
    server.put(manifest("v1"))
    player = Player(server, planned(server, manifest("v1")))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.NO_CHANGE)


@pytest.mark.contract("B164")
def test_an_outage_in_mid_flight_changes_no_verdict() -> None:
    """Silent for longer than the deadline, then the truth: it was good all the time."""
    player = rolled_out()
    player.control = False
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.hear(ContactLost(player.attempt.now + 1.0, "connection refused"))
    player.pass_to(STARTED_AT + 610.0)
    assert player.attempt.course.state is State.FOLLOWING
    player.server.control(player.web)
    player.hold = ()
    player.hear(ContactRestored(player.attempt.now))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.written() == [("apply", "deployment/web")]


@pytest.mark.contract("B159")
def test_an_independent_read_every_30_s_finds_what_the_watch_does_not_tell() -> None:
    """The watch is silent; the read is the truth."""
    player = rolled_out()
    player.control = False
    player.run_to(State.FOLLOWING)
    player.server.control(player.web)
    list(player.server.news(0.0))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 30.0


# -- bake ------------------------------------------------------------------------------------------

BAKE = Policy(bake_seconds=300.0, timeout_seconds=600.0)


@pytest.mark.contract("B54")
def test_completion_has_to_last_for_the_bake_window() -> None:
    """Nothing is verified before it is over, and then a read says so once more."""
    player = rolled_out(BAKE)
    player.pass_to(STARTED_AT + 299.0)
    assert player.attempt.course.state is State.BAKING
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 300.0


@pytest.mark.contract("B54")
def test_a_version_that_breaks_in_the_bake_window_goes_back() -> None:
    """Ready, then crashing."""
    player = rolled_out(BAKE)
    player.pass_to(STARTED_AT + 100.0)
    player.behave("crash")
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)


@pytest.mark.contract("B54")
def test_a_moment_of_incompleteness_starts_the_window_anew() -> None:
    """A pod is replaced at 100 s: no failure, but 300 s from where it is complete again."""
    player = rolled_out(BAKE)
    player.pass_to(STARTED_AT + 100.0)
    ref = player.web
    lost = player.server.stored[ref].sets[-1].pods.pop()
    player.server.touch(ref)
    player.news()
    assert player.place == (Leg.FORWARD, State.FOLLOWING)
    player.server.stored[ref].sets[-1].pods.append(lost)
    player.server.touch(ref)
    player.news()
    assert player.place == (Leg.FORWARD, State.BAKING)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 400.0


@pytest.mark.contract("B54", "B163")
def test_the_window_ends_with_the_budget_at_the_latest() -> None:
    """Complete again late: at the end of timeout and bake together it is complete or not."""
    player = rolled_out(BAKE)
    ref = player.web
    for at in (250.0, 500.0, 750.0):
        player.pass_to(STARTED_AT + at)
        player.server.stored[ref].sets[-1].pods.pop()
        player.server.touch(ref)
        player.news()
        player.server.control(ref)
        player.news()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 900.0


@pytest.mark.contract("B54")
def test_in_the_window_a_version_may_recover_beyond_the_total() -> None:
    """Unsettled at 700 s of 600 and 300: it has until 900 s, not until 600."""
    player = rolled_out(BAKE)
    player.pass_to(STARTED_AT + 200.0)
    for at in (250.0, 500.0, 700.0):
        player.pass_to(STARTED_AT + at)
        player.server.stored[player.web].sets[-1].pods.pop()
        player.server.touch(player.web)
        player.news()
        assert player.place == (Leg.FORWARD, State.FOLLOWING)
        player.pass_to(STARTED_AT + at + 20.0)
        player.server.control(player.web)
        player.news()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)


# -- failed and kept -------------------------------------------------------------------------------


@pytest.mark.contract("B26", "B135")
def test_keep_leaves_the_failed_version() -> None:
    """`--on-failure keep` ends with 6 and writes nothing."""
    player = rolled_out(Policy(on_failure=OnFailure.KEEP), v2="crash")
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.CRASH_LOOP)
    assert player.written() == [("apply", "deployment/web")]


@pytest.mark.contract("B18", "B34")
def test_observe_never_fails_the_job() -> None:
    """It writes nothing after the apply, ends with 0, and keeps what would have been."""
    player = rolled_out(Policy(observe=True), v2="crash")
    assert ends(player.run()) == (0, Outcome.OBSERVED, Reason.CRASH_LOOP)
    assert player.written() == [("apply", "deployment/web")]
    assert [ending.outcome for ending in player.attempt.result.endings.values()] == [Outcome.FAILED]


@pytest.mark.contract("B36")
@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("good", (0, Outcome.VERIFIED, Reason.COMPLETE)),
        ("pull", (6, Outcome.FAILED, Reason.IMAGE_PULL)),
        ("stuck", (6, Outcome.FAILED, Reason.PROGRESS_DEADLINE_EXCEEDED)),
    ],
)
def test_verify_judges_and_writes_nothing(what: str, end: tuple[int, Outcome, Reason]) -> None:
    """What somebody else rolled out is judged by the same rules."""
    server = Server()
    ref = server.put(manifest("v1"), "helm")
    server.behaviour["shop/web:v2"] = what
    server.put(manifest("v2"), "helm")
    player = Player(server, watched(server, ref, policy=Policy(timeout_seconds=610.0)))
    assert ends(player.run()) == end
    assert not player.writes


@pytest.mark.contract("B36")
def test_verify_steps_back_from_another_version() -> None:
    """What was to be verified is not what runs any more: 8, naming who changed it."""
    server = Server(v1="stuck")
    ref = server.put(manifest("v1"), "helm")
    player = Player(server, watched(server, ref))
    player.run_to(State.FOLLOWING)
    server.edit(ref, "kubectl-edit", {IMAGE: "shop/web:v3"})
    player.news()
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.attempt.result.ending is not None
    assert player.attempt.result.ending.message.endswith("shop/web:v3 (by kubectl-edit)")


@pytest.mark.contract("B100")
def test_the_controllers_condition_ends_the_way_out() -> None:
    """A second before the deadline, 6 s before the gate's own clock."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    player.exceed_deadline()
    player.run_to(State.RECORDING, Leg.BACK)
    assert player.attempt.now == STARTED_AT + 599.0


@pytest.mark.contract("B110")
def test_paused_in_mid_flight_ends_with_6_and_no_write() -> None:
    """A pause of somebody else is not answered by a rollback."""
    player = rolled_out(Policy(timeout_seconds=300.0))
    player.control = False
    player.run_to(State.FOLLOWING)
    player.server.edit(player.web, "kubectl", {"spec.paused": True})
    player.news()
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.PAUSED)
    assert player.attempt.now == STARTED_AT + 300.0
    assert player.written() == [("apply", "deployment/web")]


# -- somebody else's -------------------------------------------------------------------------------


@pytest.mark.contract("B27", "B59")
def test_superseded_in_mid_flight_writes_nothing_after_it() -> None:
    """Another image in mid-flight is somebody else's version: 8."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    player.server.edit(player.web, "labeller", {"metadata.labels.team": "shop"})
    player.news()
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.written() == [("apply", "deployment/web")]
    assert player.attempt.result.ending is not None
    assert player.attempt.result.ending.message.endswith("shop/web:v9 (by kubectl-set)")


def test_who_superseded_is_not_waited_for_longer_than_evidence() -> None:
    """The name is a courtesy: 2 s, then it ends without, and names nobody else instead."""
    server = Server(v2="stuck")
    ref = server.put(manifest("v1"))
    server.edit(ref, "reloader", {"spec.template.metadata.annotations.checksum": "abc"})
    server.control(ref)
    player = Player(server, planned(server, manifest("v2")))
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.server.edit(player.web, "kubectl-set", {IMAGE: "shop/web:v9"})
    player.news()
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.attempt.now == STARTED_AT + 2.0
    assert player.attempt.result.ending is not None
    assert player.attempt.result.ending.message.endswith("shop/web:v9")


@pytest.mark.contract("B127")
@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_deleted_in_mid_flight_is_8_and_not_made_again(again: bool) -> None:
    """Neither the deleted one nor its successor is written to."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    player.server.remove(player.web)
    if again:
        player.server.put(manifest("v2"), "kubectl")
    player.news()
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert player.written() == [("apply", "deployment/web")]


@pytest.mark.contract("B127")
def test_what_is_made_again_after_its_deletion_was_heard_of_is_not_called_gone() -> None:
    """The deletion comes first, and its successor within milliseconds: a read tells."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    uid = player.server.stored[player.web].uid
    player.server.remove(player.web)
    player.server.put(manifest("v2"), "kubectl")
    player.hear(Vanished(player.attempt.now, DEPLOYMENT, uid))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert player.attempt.result.ending is not None
    assert player.attempt.result.ending.message == "the Deployment was deleted and created again"
    assert player.written() == [("apply", "deployment/web")]


@pytest.mark.contract("B127")
def test_what_is_made_again_before_the_last_look_is_not_called_gone() -> None:
    """The read after the deletion still found nothing; the last look finds its successor."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    uid = player.server.stored[player.web].uid
    player.server.remove(player.web)

    def then_made(playing: Player, effect: Read) -> ReadBack:
        playing.server.put(manifest("v2"), "kubectl")
        return ReadBack(playing.attempt.now, effect.effect_id, Absent())

    player.bend(Read, then_made)
    player.hear(Vanished(player.attempt.now, DEPLOYMENT, uid))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)
    assert player.attempt.result.ending is not None
    assert player.attempt.result.ending.message == "the Deployment was deleted and created again"


@pytest.mark.contract("B127")
def test_a_deletion_that_only_a_read_shows_is_noticed() -> None:
    """The watch missed it; `verify`, which wrote nothing, learns it from its read."""
    server = Server(v1="stuck")
    ref = server.put(manifest("v1"))
    player = Player(server, watched(server, ref))
    player.run_to(State.FOLLOWING)
    server.remove(ref)
    list(server.news(0.0))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.DELETED)


@pytest.mark.contract("B58")
def test_an_addition_by_others_is_followed_to_the_end() -> None:
    """A restart annotation in mid-flight: still ours, and verified with its ReplicaSet."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    ref = player.web
    player.server.behaviour["shop/web:v2"] = "good"
    player.server.edit(ref, "reloader", {"spec.template.metadata.annotations.checksum": "abc"})
    player.server.control(ref)
    player.news()
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert [line for line in player.said if line.event == "replicaset"]


def test_the_lock_lost_ends_it_without_another_write() -> None:
    """Whoever holds the lock by now is responsible: 8."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    player.hear(LeaseLost(player.attempt.now, "pipeline 7"))
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.LOCKED)


@pytest.mark.parametrize("bare", [False, True])
def test_the_lock_lost_before_the_first_write_is_a_refusal(bare: bool) -> None:
    """Nothing was written: 3, with or without a Deployment."""
    server = Server()
    player = Player(server, planned(server, config("a") if bare else manifest("v1")))
    player.hear(LeaseLost(player.attempt.now, "pipeline 7"))
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.LOCKED)
    assert not player.writes


# -- several Deployments ---------------------------------------------------------------------------


def two(policy: Policy | None = None, **behaviour: str) -> Player:
    """Begin to roll out `web` and `api`, both serving v1, to v2 and v3."""
    server = Server(**behaviour)
    server.put(manifest("v1"))
    server.put(manifest("v1", "api"))
    bodies = manifest("v2"), manifest("v3", "api")
    return Player(server, planned(server, *bodies, policy=policy))


@pytest.mark.contract("B840")
@pytest.mark.parametrize("is_written", [False, True])
def test_one_lock_lost_of_two_is_told_of_its_own_deployment(is_written: bool) -> None:
    """The other one's ending names the lock, and the whole ends as the one whose lock it was."""
    player = two(v2="stuck", v3="stuck")
    if is_written:
        player.run_to(State.FOLLOWING)
    player.hear(
        LeaseLost(player.attempt.now, "pipeline 7", (lock_of(deployment_ref("shop", "api")),))
    )
    player.run()
    endings = player.attempt.result.endings
    assert {ref.name: (one.reason, one.message) for ref, one in endings.items()} == {
        "api": (Reason.LOCKED, "the lock was taken by pipeline 7"),
        "web": (Reason.SIBLING_LOCKED, "the lock of deployment/api was taken by pipeline 7"),
    }
    whole, outcome = player.attempt.result.ending, player.attempt.outcome
    assert whole is not None
    expected = Outcome.SUPERSEDED if is_written else Outcome.REFUSED
    assert (outcome, whole.reason) == (expected, Reason.LOCKED)


@pytest.mark.contract("B19")
def test_two_deployments_are_verified_together() -> None:
    """Complete is when both are."""
    player = two(v3="stuck")
    player.run_to(State.FOLLOWING)
    player.pass_to(STARTED_AT + 60.0)
    assert player.attempt.course.state is State.FOLLOWING
    player.behave("good", "v3")
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)


@pytest.mark.contract("B19", "B30", "B133")
def test_one_that_fails_takes_both_back() -> None:
    """The one that failed first, each verified."""
    player = two(v3="crash")
    assert ends(player.run()) == (4, Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    names = ["deployment/web", "deployment/api"]
    assert [name for _, name in player.written()] == names + names[::-1]
    assert {ending.outcome for ending in player.attempt.result.endings.values()} == {
        Outcome.ROLLED_BACK
    }


@pytest.mark.contract("B30")
def test_one_superseded_leaves_the_other_to_its_own_verdict() -> None:
    """The other one is followed on, rolled back where it fails, and the worse code counts."""
    player = two(v2="stuck", v3="stuck")
    player.run_to(State.FOLLOWING)
    web, api = (one.ref for one in player.attempt.plan.targets)
    player.server.edit(web, "kubectl-set", {IMAGE: "shop/web:v9"})
    player.news()
    assert player.attempt.course.state is State.FOLLOWING
    player.behave("crash", "v3")
    assert ends(player.run()) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert player.attempt.result.endings[api].outcome is Outcome.ROLLED_BACK
    assert player.written()[2:] == [("apply", "deployment/api")]


@pytest.mark.contract("B30")
def test_one_kept_in_failure_ends_both() -> None:
    """With nothing to write back, the one that was under way tells why it was left."""
    player = two(Policy(on_failure=OnFailure.KEEP), v2="stuck", v3="crash")
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.CRASH_LOOP)
    web, _ = (one.ref for one in player.attempt.plan.targets)
    assert "deployment/api failed" in player.attempt.result.endings[web].message


@pytest.mark.contract("B136")
def test_a_first_deployment_beside_one_that_goes_back() -> None:
    """The one with a baseline returns; the new one is kept, which is 6."""
    server = Server(v3="crash")
    server.put(manifest("v1"))
    player = Player(server, planned(server, manifest("v2"), manifest("v3", "api")))
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.CRASH_LOOP)
    web, _ = (one.ref for one in player.attempt.plan.targets)
    assert player.attempt.result.endings[web].outcome is Outcome.ROLLED_BACK


@pytest.mark.contract("B134", "B136")
@pytest.mark.parametrize(
    ("prune", "end"), [(False, (6, Outcome.FAILED)), (True, (4, Outcome.ROLLED_BACK))]
)
def test_a_good_first_deployment_beside_one_that_fails(
    prune: bool, end: tuple[int, Outcome]
) -> None:
    """Kept, the new version stands in part: 6. Pruned with the rest, nothing of it does: 4."""
    server = Server(v2="crash")
    server.put(manifest("v1"))
    policy = Policy(prune_created=prune)
    player = Player(server, planned(server, manifest("v2"), manifest("v1", "api"), policy=policy))
    assert ends(player.run()) == (*end, Reason.CRASH_LOOP)
    api = player.attempt.plan.targets[1].ref
    assert (api in server.stored) is not prune
    assert player.attempt.result.endings[player.web].outcome is Outcome.ROLLED_BACK


# -- out of reach ----------------------------------------------------------------------------------


def test_a_server_gone_before_the_first_write_is_a_refusal() -> None:
    """Nothing was written, so nothing is unknown."""
    player = rolled_out()
    player.hold = (SaveRecord,)
    player.hear(ContactLost(player.attempt.now, "connection refused"))
    assert ends(player.run()) == (3, Outcome.REFUSED, Reason.UNREACHABLE)


@pytest.mark.contract("B33")
def test_reads_that_become_forbidden_after_a_write_end_with_9() -> None:
    """Trying again is no use; what runs is unknown."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    for event in refusals(player.attempt.now):
        assert not player.attempt.ended
        player.hear(event)
    assert ends(player.run()) == (9, Outcome.LOST_CONTACT, Reason.FORBIDDEN)
    assert player.attempt.result.ending is not None
    assert player.attempt.result.ending.message == "forbidden"


@pytest.mark.contract("B28", "B115")
def test_a_verdict_that_cannot_be_confirmed_is_asked_again_until_the_end() -> None:
    """Unread is unknown: no rollback on it, a pause between the questions, then 9."""
    player = rolled_out(Policy(timeout_seconds=300.0), v2="crash")

    def unread(player: Player, effect: Read) -> ReadBack:
        return ReadBack(player.attempt.now, effect.effect_id, Unknown("503"))

    player.bend(Read, unread, times=1000)
    assert ends(player.run()) == (9, Outcome.LOST_CONTACT, Reason.UNREACHABLE)
    assert player.attempt.now == STARTED_AT + 307.0
    assert player.written() == [("apply", "deployment/web")]
    reads = [effect for effect in player.sent if isinstance(effect, Read)]
    assert 300 <= len(reads) <= 330
    assert [line.event for line in player.said].count("unread") == 1


@pytest.mark.contract("B28", "B163")
@pytest.mark.parametrize("hold", [Read, Write], ids=lambda kind: kind.__name__)
def test_an_answer_that_never_comes_ends_within_the_bounds(hold: type[Asking]) -> None:
    """After the first write at most timeout and 10 s; what may be written is unknown."""
    player = rolled_out(Policy(timeout_seconds=300.0), v2="crash")
    player.hold = (hold,)
    assert ends(player.run()) == (9, Outcome.LOST_CONTACT, Reason.UNREACHABLE)
    assert player.attempt.now <= STARTED_AT + 310.0


@pytest.mark.contract("B105")
def test_the_total_counts_from_the_first_write() -> None:
    """A journal that takes its time does not shorten the rollout's."""
    player = rolled_out(Policy(timeout_seconds=300.0, on_failure=OnFailure.KEEP), v2="stuck")
    player.hold = (SaveRecord,)
    player.pass_to(STARTED_AT + 50.0)
    player.hold = ()
    assert ends(player.run()) == (6, Outcome.FAILED, Reason.TIMEOUT)
    assert player.attempt.now == STARTED_AT + 350.0


@pytest.mark.contract("B163")
def test_the_lock_that_cannot_be_given_back_holds_nobody_up() -> None:
    """Two seconds, then it ends all the same."""
    player = rolled_out()
    player.hold = (Release,)
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert player.attempt.now == STARTED_AT + 2.0


@pytest.mark.contract("B142")
def test_evidence_is_collected_beside_the_read_and_bounded() -> None:
    """The most telling pod's log is asked for; without an answer it goes on after 2 s."""
    player = rolled_out(v2="crash")
    player.hold = (Collect,)
    player.run_to(State.RECORDING, Leg.BACK)
    assert player.attempt.now == STARTED_AT + 2.0
    asked = [effect for effect in player.sent if isinstance(effect, Collect)]
    assert [(one.pod, one.container, one.previous) for one in asked] == [("web-2-p0", "web", True)]
    assert not player.attempt.result.evidence


@pytest.mark.contract("B142")
def test_evidence_is_collected_once() -> None:
    """A verdict that had to be confirmed twice asks for its log but once."""
    player = rolled_out(v2="crash")
    player.bend(Read, lambda p, e: ReadBack(p.attempt.now, e.effect_id, Unknown("503")))
    assert ends(player.run())[0] == 4
    assert len([effect for effect in player.sent if isinstance(effect, Collect)]) == 1


@pytest.mark.contract("B142")
def test_evidence_is_of_the_new_pods() -> None:
    """An old pod that crashes has nothing to tell."""
    player = rolled_out(v2="stuck", v1="crash")
    player.run()
    asked = [effect for effect in player.sent if isinstance(effect, Collect)]
    assert asked[0].pod.startswith("web-2-")
    assert player.attempt.result.evidence[0].pod.startswith("web-2-")


# -- answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda attempt: Recorded(attempt.now, 99),
        lambda attempt: Collected(attempt.now, next(iter(attempt.requests.outstanding)), ()),
        lambda attempt: WriteRejected(
            attempt.now, next(iter(attempt.requests.outstanding)), Reason.REJECTED, CleanText("no")
        ),
    ],
    ids=["unknown-id", "another-kind", "no-write"],
)
def test_an_answer_that_nobody_awaits_raises_and_changes_nothing(
    answer: Callable[[Attempt], Any],
) -> None:
    """Neither one without its effect nor one of another kind is taken."""
    attempt, _ = begin(rolled_out().attempt.plan, STARTED_AT)
    before = hash(attempt)
    with pytest.raises(UnexpectedAnswer):
        step(attempt, answer(attempt))
    assert hash(attempt) == before


def test_after_the_end_nothing_is_asked_and_nothing_is_due() -> None:
    """Whatever is heard then."""
    player = rolled_out()
    player.run()
    after, effects = step(player.attempt, ContactLost(1e6, "gone"))
    assert (after.result.ending, effects, wake_at(after)) == (
        player.attempt.result.ending,
        (),
        math.inf,
    )


def test_a_target_that_is_never_followed_is_not_verified() -> None:
    """A Deployment that nobody could read is waited for, in bounds."""
    server = Server()
    ref = server.put(manifest("v1"))
    plan = watched(server, ref)
    unread = replace(plan.targets[0], snapshot=unseen(ref))
    player = Player(server, replace(plan, targets=(unread,)))
    assert ends(player.run())[0] == 9


def test_first_failure_policies_do_not_touch_a_good_version() -> None:
    """A first deployment that is good is verified whatever its failure would do."""
    server = Server()
    policy = Policy(on_first_failure=OnFirstFailure.DELETE, prune_created=True)
    player = Player(server, planned(server, config("a"), manifest("v1"), policy=policy))
    assert ends(player.run()) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert len(player.writes) == 2


@pytest.mark.contract("B33")
def test_a_refusal_now_and_then_ends_nothing() -> None:
    """What is answered in between begins the count anew, however often that happens."""
    player = rolled_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    for number in range(6):
        *before, last = refusals(player.attempt.now + 5.0 * number)
        for event in (*before, AccessGranted(last.at - 1.0, last.what), last):
            player.hear(event)
        player.hear(AccessGranted(last.at, last.what))
    assert player.attempt.interference.contact.refusal is None
    assert player.attempt.course.state is State.FOLLOWING


@pytest.mark.contract("B33")
def test_a_refusal_that_stands_at_the_end_of_the_budget_is_why() -> None:
    """It has not lasted yet, and nothing else is known."""
    player = rolled_out(v2="stuck", policy=Policy(timeout_seconds=20.0))
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.hear(refusals(player.attempt.now + 15.0)[0])
    assert ends(player.run()) == (9, Outcome.LOST_CONTACT, Reason.FORBIDDEN)
