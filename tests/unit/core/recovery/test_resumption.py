"""An attempt that dies at any of its effects is finished from its record: forward or back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gate.core.checks.spec import OnInconclusive
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.plan.record import Record
from gate.core.plan.target_set import TargetSet
from gate.core.protocol.effects import Release, SaveRecord, Write
from gate.core.protocol.events import Written
from gate.core.recovery.resumption import resume
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from tests.long import longer
from tests.unit.core.checks_world import a_check
from tests.unit.core.leaves import IMAGE, config, manifest, ref_of
from tests.unit.core.player import Player, ending_of, ends, planned, target
from tests.unit.core.server import Server
from tests.unit.core.world import WEB, config_ref

LATER = 500.0


class Dying(Player):
    """An attempt whose gate ends at some moment, and what its record says then."""

    answered = 0
    saved: Record | None = None

    @property
    def record(self) -> Record:
        """What was saved last, which something has to have been."""
        assert self.saved is not None
        return self.saved

    def _answer(self, effect: Any) -> Any:
        answer = super()._answer(effect)
        self.answered += 1
        if isinstance(effect, SaveRecord):
            self.saved = effect.record
        return answer

    def die_after(self, answers: int) -> bool:
        """Run until so many answers were heard; tell whether that came before the end."""
        self.run(lambda attempt: attempt.ended or self.answered >= answers)
        return not self.attempt.ended

    def die_after_writes(self, count: int) -> Record:
        """Run until the record is saved and the server has done so many writes."""
        self.run(lambda _: self.saved is not None and len(self.server.done) == count)
        return self.record

    def die_going_back(self) -> Record:
        """Run until the record says that all goes back."""
        self.run(lambda _: self.saved is not None and self.saved.leg is Leg.BACK)
        return self.record


def deaths(begin: Callable[[], Dying]) -> Iterator[Dying]:
    """Iterate the same attempt whose gate ends after one answer, after two, and so on."""
    for answers in range(1, 1000):
        player = begin()
        if not player.die_after(answers):
            return
        yield player


def tried(server: Server, body: Mapping[str, Any]) -> LiveObject:
    """Return what the server would make of an apply, as a dry run says it."""
    copied, ref = copy.deepcopy(server), ref_of(body)
    copied.merges_creations = True  # a dry run has no preconditions
    answer = copied.perform(Write(0, ref, Verb.APPLY, Body.of(body), None, None), 0.0)
    assert isinstance(answer, Written)
    assert answer.live is not None
    return answer.live


def plan_of(server: Server, *bodies: Mapping[str, Any], **more: Any) -> Plan:
    """Plan to apply the bodies, each tried before."""
    plan = planned(server, *bodies, **more)
    trials = {ref_of(body): tried(server, body) for body in bodies}
    objects = tuple(replace(one, trial=trials[one.ref]) for one in plan.objects)
    return replace(plan, objects=objects)


def resumed(server: Server, record: Record) -> Plan | None:
    """Plan to finish the attempt of a record."""
    lives = {kept.ref: server.read(kept.ref) for kept in record.objects}
    found = {ref: Absent() if live is None else Known(live) for ref, live in lives.items()}
    snapshots = {one.ref: target(server, one.ref).snapshot for one in record.followed}
    return resume(record, found, snapshots, LATER)


def finished(server: Server, record: Record) -> Player:
    """Finish the attempt of a record to its end."""
    plan = resumed(server, record)
    assert plan is not None
    player = Player(server, plan)
    player.run()
    return player


def images(server: Server) -> set[str]:
    """Return the images that the templates ask for."""
    return {stored.image for ref, stored in server.stored.items() if ref.kind == "Deployment"}


def serving() -> Server:
    """Return a server with a ConfigMap and two Deployments that run v1."""
    server = Server()
    for body in (config("a"), manifest("v1"), manifest("v1", "api")):
        server.put(body)
    return server


VERSION_2 = (config("b"), manifest("v2"), manifest("v2", "api"))


OLD, NEW = ({"shop/web:v1"}, "a"), ({"shop/web:v2"}, "b")
WHOLE = {Outcome.VERIFIED: NEW, Outcome.FAILED: NEW, Outcome.ROLLED_BACK: OLD}


def what_runs(server: Server) -> tuple[set[str], str]:
    """Return the images of the templates and the mode of the ConfigMap."""
    return images(server), str(server.stored[config_ref()].leaves["data.mode"])


def dying(behaviour: str, on_failure: OnFailure) -> Dying:
    """Begin to apply version 2 of all, which behaves so."""
    server = serving()
    server.behaviour["shop/web:v2"] = behaviour
    policy = Policy(response=Response(on_failure=on_failure))
    return Dying(server, plan_of(server, *VERSION_2, policy=policy))


def assert_whole(player: Player) -> None:
    """Assert that what runs is one version, and the one that the outcome names."""
    outcome = player.attempt.outcome
    assert outcome in WHOLE
    assert what_runs(player.server) == WHOLE[outcome]
    for stored in player.server.stored.values() if outcome is not Outcome.FAILED else ():
        assert all(one.image == stored.image or not one.pods for one in stored.sets)


@pytest.mark.contract("B32", "B530", "B531")
@pytest.mark.parametrize("behaviour", ["good", "crash", longer("stuck")])
@pytest.mark.parametrize("on_failure", OnFailure)
def test_a_death_anywhere_leaves_no_half(behaviour: str, on_failure: OnFailure) -> None:
    """What is complete is judged; a part of it goes back whatever was asked for."""
    whole, parts = set(), 0
    for dead in deaths(partial(dying, behaviour, on_failure)):
        is_part = 0 < len(dead.server.done) < len(VERSION_2)
        plan = resumed(dead.server, dead.record)
        if plan is None:
            assert what_runs(dead.server) == OLD
            continue
        player = Player(dead.server, plan)
        outcome = player.run().outcome
        assert_whole(player)
        assert not is_part or outcome is Outcome.ROLLED_BACK
        parts += is_part
        if not is_part:
            whole.add(outcome)
    assert parts == len(VERSION_2) - 1
    kept = Outcome.ROLLED_BACK if on_failure is OnFailure.ROLLBACK else Outcome.FAILED
    assert (Outcome.VERIFIED if behaviour == "good" else kept) in whole


@pytest.mark.contract("B32", "B532")
@pytest.mark.parametrize("behaviour", ["good", longer("crash")])
@pytest.mark.parametrize("on_failure", [OnFailure.KEEP, OnFailure.PAUSE])
def test_a_second_death_leaves_no_half(behaviour: str, on_failure: OnFailure) -> None:
    """Whoever finishes the attempt dies as well: the next one takes back what was to go back."""
    second_deaths = 0
    for dead in deaths(partial(dying, behaviour, on_failure)):
        if resumed(dead.server, dead.record) is None:
            continue

        def finishing(dead: Dying = dead) -> Dying:
            server = copy.deepcopy(dead.server)
            plan = resumed(server, dead.record)
            assert plan is not None
            player = Dying(server, plan)
            player.saved = dead.record
            return player

        for again in deaths(finishing):
            assert_whole(finished(again.server, again.record))
            second_deaths += 1
    assert second_deaths > len(VERSION_2)


@pytest.mark.contract("B530")
@pytest.mark.parametrize("writes", [0, 1])
def test_a_death_before_any_change_is_not_said_to_be_rolled_back(writes: int) -> None:
    """The configuration is as it will be: its write changes nothing, done or not."""
    server = serving()
    server.put(config("b"))
    record = Dying(server, plan_of(server, *VERSION_2)).die_after_writes(writes)
    assert resumed(server, record) is None
    assert what_runs(server) == ({"shop/web:v1"}, "b")


@pytest.mark.contract("B530")
def test_a_version_that_did_not_serve_and_was_not_written_is_nobody_elses() -> None:
    """Its ConfigMap goes back; nobody has made the Deployment again."""
    server = Server(v1="crash")
    for body in (config("a"), manifest("v1")):
        server.put(body)
    record = Dying(server, plan_of(server, config("b"), manifest("v2"))).die_after_writes(1)
    assert all(followed.baseline == Absent() for followed in record.followed)
    assert finished(server, record).attempt.outcome is Outcome.ROLLED_BACK
    assert what_runs(server) == OLD


@pytest.mark.contract("B895")
def test_what_somebody_deletes_that_was_to_stay_is_no_deletion_of_the_dead_gate() -> None:
    """A first version that fails is scaled to 0: that it is gone was not the gate's doing."""
    server = Server(v1="crash")
    policy = Policy(response=Response(on_first_failure=OnFirstFailure.SCALE_TO_ZERO))
    player = Dying(server, plan_of(server, config("b"), manifest("v1"), policy=policy))
    record = player.die_going_back()
    del server.stored[player.web]
    ended = finished(server, record).attempt
    assert not ended.ledger.deleted
    assert player.web not in ended.ledger.written
    assert ended.exit_code == 6


@pytest.mark.contract("B530", "B414")
@pytest.mark.parametrize(
    ("asked_for", "end"),
    [
        (OnInconclusive.KEEP, (7, Outcome.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)),
        (OnInconclusive.ROLLBACK, (4, Outcome.ROLLED_BACK, Reason.INTERRUPTED)),
        (OnInconclusive.PASS, (0, Outcome.VERIFIED, Reason.COMPLETE)),
    ],
)
def test_checks_that_nobody_asks_again_are_no_success(
    asked_for: OnInconclusive, end: tuple[int, Outcome, Reason]
) -> None:
    """Complete is not verified where checks were to say so."""
    server = Server()
    server.put(manifest("v1"))
    limits = Policy(
        checks=(a_check(),),
        budgets=Budgets(bake_seconds=60.0),
        response=Response(on_inconclusive=asked_for),
    )
    dying = Dying(server, plan_of(server, manifest("v2"), policy=limits))
    assert dying.die_after(3)
    assert dying.record.checks == ("errors",)
    assert ends(finished(server, dying.record).attempt) == end


@pytest.mark.contract("B530")
def test_a_version_that_was_to_be_paused_and_is_back_is_somebody_elses() -> None:
    """The gate died before its pause; that the old one runs was not its doing: 8."""
    server = Server(v2="crash")
    ref = server.put(manifest("v1"))
    limits = Policy(response=Response(on_failure=OnFailure.PAUSE))
    record = Dying(server, plan_of(server, manifest("v2"), policy=limits)).die_going_back()
    server.edit(ref, "kubectl-edit", {IMAGE: "shop/web:v1"})
    server.control(ref)
    end = ends(finished(server, record).attempt)
    assert end == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)


def died(server: Server, policy: Policy | None = None, writes: int = len(VERSION_2)) -> Record:
    """Let a gate die when version 2 is written, or so many of its objects; return its record."""
    return Dying(server, plan_of(server, *VERSION_2, policy=policy)).die_after_writes(writes)


@pytest.mark.contract("B533")
def test_the_version_that_somebody_else_brought_first_is_theirs() -> None:
    """The dead gate never wrote it and said so: that it is just what was wanted tells nothing."""
    server = serving()
    ref = ref_of(manifest("v2"))
    player = Dying(server, plan_of(server, config("b"), manifest("v2")))
    player.run(lambda _: len(server.done) == 1)
    server.edit(ref, "kubectl-set", {IMAGE: "shop/web:v2"})
    ended = finished(server, player.die_going_back()).attempt
    assert ends(ended) == (8, Outcome.SUPERSEDED, Reason.SUPERSEDED)
    assert {write.ref for write in server.done} == {config_ref()}
    assert server.stored[ref].image == "shop/web:v2"


@pytest.mark.contract("B530")
@pytest.mark.parametrize(
    ("policy", "serving_before", "code"),
    [
        (Policy(response=Response(on_failure=OnFailure.KEEP)), True, 6),
        (Policy(), False, 6),
        (Policy(observe=True), True, 0),
    ],
    ids=["keep", "first", "observe"],
)
def test_what_cannot_go_back_is_followed_on(
    policy: Policy, serving_before: bool, code: int
) -> None:
    """Where nothing is to go back the rollout is judged on; a bad one stays, as it would have."""
    server = serving() if serving_before else Server()
    server.behaviour["shop/web:v2"] = "crash"
    record = died(server, policy)
    done = len(server.done)
    player = finished(server, record)
    assert player.attempt.exit_code == code
    assert len(server.done) == done


@pytest.mark.contract("B138")
def test_a_part_of_an_apply_stays_where_an_age_limit_forbids_any_way_back() -> None:
    """What would be returned to is too old, also for who finishes the attempt."""
    server = serving()
    limits = Policy(response=Response(on_failure=OnFailure.KEEP, takes_back_parts=False))
    record = died(server, limits, writes=1)
    done = len(server.done)
    player = finished(server, record)
    assert player.attempt.exit_code == 6
    assert len(server.done) == done


@pytest.mark.contract("B535", "B700")
@pytest.mark.parametrize("is_member", [False, True])
def test_what_is_not_kept_ends_with_5_unless_the_set_has_it(is_member: bool) -> None:
    """What was changed and stands in neither cannot be restored, and that is said."""
    server = serving()
    server.behaviour["shop/web:v2"] = "stuck"
    record = died(server)
    if is_member:
        bodies = {config_ref(): Body.of(config("a")), WEB: Body.of(manifest("v1"))}
        record = replace(record, target_set=TargetSet(FrozenMap(bodies)))
    kept = tuple(
        replace(one, before=Unknown("its data is in no record"), expected=None)
        if one.ref == config_ref()
        else one
        for one in record.objects
    )
    player = finished(server, replace(record, objects=kept))
    end = (4, Outcome.ROLLED_BACK) if is_member else (5, Outcome.ROLLBACK_FAILED)
    assert ends(player.attempt)[:2] == end
    assert images(server) == {"shop/web:v1"}
    assert server.stored[config_ref()].leaves["data.mode"] == ("a" if is_member else "b")
    causes = ending_of(player.attempt).causes
    assert any("in no record" in cause.message for cause in causes) is not is_member


# -- what is remembered ----------------------------------------------------------------------------


def failed_images(player: Player, ref: Ref) -> list[str]:
    """Return the images of what an attempt leaves to be remembered of a Deployment as failed."""
    [released] = player.asked(Release)
    [closing] = [one for one in released.closed.workloads if one.ref == ref]
    return [str(image) for one in closing.versions if one.failed for image in one.images]


@pytest.mark.contract("B895")
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside-another"])
@pytest.mark.parametrize("prune", [False, True], ids=["kept", "pruned"])
def test_a_deletion_whose_answer_a_dead_gate_never_heard(prune: bool, beside: bool) -> None:
    """Whenever it dies on its way back, whoever finishes it ends and remembers as it would have."""
    policy = Policy(response=Response(on_first_failure=OnFirstFailure.DELETE, prune_created=prune))

    def begin() -> Dying:
        server = Server(v1="crash")
        if beside:
            server.put(manifest("v3", "api"))
        others = (manifest("v2", "api"),) if beside else ()
        bodies = (config("b"), config("c", "more"), manifest("v1"), *others)
        return Dying(server, plan_of(server, *bodies, policy=policy))

    undisturbed = begin()
    orderly, unheard = undisturbed.run(), 0
    for player in deaths(begin):
        web = player.web
        if player.record.leg is Leg.FORWARD:
            continue
        again = finished(player.server, player.record)
        unheard += web not in player.attempt.ledger.deleted
        assert ends(again.attempt) == ends(orderly)
        assert set(again.attempt.ledger.deleted) == set(orderly.ledger.deleted)
        assert failed_images(again, web) == failed_images(undisturbed, web) == ["shop/web:v1"]
    assert unheard
