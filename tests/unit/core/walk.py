"""A walk of one attempt among people and machines that interfere, and what holds at each step."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gate.core.attempt.following import UnexpectedAnswer
from gate.core.attempt.state import Attempt, Purpose
from gate.core.attempt.transitions import TRANSITIONS, State
from gate.core.model.fact import Unknown
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Asking, Read, Write
from gate.core.protocol.events import (
    AttemptEvent,
    ContactLost,
    ContactRestored,
    Interrupted,
    LeaseLost,
    ReadBack,
    Recorded,
    Woke,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import (
    Budgets,
    OnFailure,
    OnFirstFailure,
    OnInterrupt,
    Policy,
    Response,
)
from gate.core.steps.step import step, wake_at
from tests.unit.core.leaves import IMAGE, config, leaves_of, manifest, spec_of
from tests.unit.core.player import Player, planned, watched
from tests.unit.core.server import Server
from tests.unit.core.world import config_ref, refusals

TIMEOUT, BAKE, ROLLBACK_TIMEOUT = 100.0, 40.0, 70.0


CHANGES: dict[str, dict[str, Any]] = {
    "image": {IMAGE: "shop/web:v9"},
    "back": {IMAGE: "shop/web:v2"},
    "replicas": {"spec.replicas": 6},
    "pause": {"spec.paused": True},
}


BEHAVIOURS = ["good", "crash", "crashed-once", "pull", "stuck", "denied"]


policies = st.builds(
    Policy,
    budgets=st.builds(
        Budgets,
        timeout_seconds=st.just(TIMEOUT),
        rollback_timeout_seconds=st.just(ROLLBACK_TIMEOUT),
        bake_seconds=st.sampled_from([0.0, BAKE]),
    ),
    response=st.builds(
        Response,
        on_failure=st.sampled_from([OnFailure.ROLLBACK, OnFailure.ROLLBACK, *OnFailure]),
        on_first_failure=st.sampled_from(OnFirstFailure),
        on_interrupt=st.sampled_from(OnInterrupt),
        prune_created=st.booleans(),
    ),
    observe=st.sampled_from([*[False] * 7, True]),
)


class Walk(RuleBasedStateMachine):
    """One attempt of a ConfigMap and two Deployments, among people and machines that interfere."""

    @initialize(
        policy=policies,
        serving=st.sets(st.sampled_from(["web", "api", "settings"])),
        verify=st.sampled_from([*[False] * 7, True]),
        what=st.sampled_from(BEHAVIOURS),
    )
    def begin(self, policy: Policy, serving: set[str], *, verify: bool, what: str) -> None:
        """Begin over some of the objects, others being new."""
        self.server = Server(v2=what)
        before = [manifest("v1"), manifest("v1", "api"), config("a")]
        refs = [self.server.put(body) for body in before if body["metadata"]["name"] in serving]
        deployments = [ref for ref in refs if ref.kind == "Deployment"]
        if verify and deployments:
            plan = watched(self.server, *deployments, policy=policy)
        else:
            after = [config("b"), manifest("v2"), manifest("v2", "api")]
            plan = planned(self.server, *after, policy=policy)
        self.player = Player(self.server, plan)
        self.player.most_steps = 10**6
        self.suspected: dict[Any, Rollout] = {}
        self.retreats = 0
        self.check([*self.player.sent], None)

    # -- steps ---------------------------------------------------------------------------------

    @property
    def attempt(self) -> Attempt:
        """The attempt as it stands."""
        return self.player.attempt

    def hear(self, event: AttemptEvent) -> None:
        """Step, and hold the step to what every step promises."""
        before, sent = self.attempt, len(self.player.sent)
        self.player.hear(event)
        again = step(before, event)
        assert again[0] == self.attempt, "a step is a function of attempt and event"
        assert [one for one in again[1] if isinstance(one, Asking)] == self.player.sent[sent:]
        self.check(self.player.sent[sent:], before)

    def check(self, effects: list[Asking], before: Attempt | None) -> None:
        """Hold one step's effects and place to the invariants."""
        after = self.attempt
        for effect in effects:
            if isinstance(effect, Write):
                self.check_write(effect, before)
        if before is not None and before.course.leg is not after.course.leg:
            self.retreats += 1
            assert (before.course.leg, after.course.leg) == (Leg.FORWARD, Leg.BACK)
        assert self.retreats <= 1, "at most one rollback"
        entered = after.course.state is State.CONFIRMING and after.course.purpose is Purpose.FAILURE
        if entered and after.course.leg is Leg.FORWARD:
            self.suspected = dict(after.workloads.rollouts)
        if after.ended and after.outcome is Outcome.VERIFIED:
            assert after.course.leg is Leg.FORWARD, "what went back is not the new version"
            for ref, rollout in self.suspected.items():
                seen = after.workloads.rollouts[ref].snapshot is not rollout.snapshot
                failed = after.result.failures.get(ref)
                assert seen or failed is None, "no success after failure without new evidence"

    def check_write(self, write: Write, before: Attempt | None) -> None:
        """A write is sent in WRITING alone, guarded, and never where nothing may be written."""
        assert self.attempt.course.state is State.WRITING
        assert before is None or before.result.verdict_at is None
        assert write.ref not in self.attempt.interference.departures, (
            "what is somebody else's is left alone"
        )
        known = self.attempt.ledger.live.get(write.ref)
        if known is not None:
            assert (write.uid, write.resource_version) == (known.uid, known.resource_version)
        else:
            assert self.attempt.plan.before(write.ref) is None
        policy = self.attempt.plan.policy
        if self.attempt.course.leg is Leg.BACK:
            assert not policy.observe
            assert policy.response.on_failure is not OnFailure.KEEP

    # -- the server answers, or does not ---------------------------------------------------------

    def take(self, kind: type[Asking] | None = None) -> Asking | None:
        """Take the first effect that is still awaited."""
        for effect in list(self.player.waiting):
            awaited = effect.effect_id in self.attempt.requests.outstanding
            if not awaited:
                self.player.waiting.remove(effect)
            elif kind is None or isinstance(effect, kind):
                self.player.waiting.remove(effect)
                return effect
        return None

    @rule(control=st.booleans())
    def answer(self, *, control: bool) -> None:
        """Answer truly; the controllers act on what was written, or later."""
        effect = self.take()
        if effect is not None:
            self.hear(self.player.answer(effect))
            if isinstance(effect, Write) and control:
                self.server.control(effect.ref)

    @rule(steps=st.integers(1, 8))
    def go_on(self, steps: int) -> None:
        """Let the world do its work for a while: true answers, controllers, watches."""
        for _ in range(steps):
            self.answer(control=True)
            self.tell()

    @rule(how=st.sampled_from(["conflict", "reject", "lost", "lost-undone"]), inside=st.booleans())
    def answer_a_write_badly(self, how: str, *, inside: bool) -> None:
        """Refuse a write, or lose its answer."""
        effect = self.take(Write)
        if not isinstance(effect, Write):
            return
        now, number = self.attempt.now, effect.effect_id
        if how == "lost":
            self.server.perform(effect, now)
        if how == "conflict":
            self.hear(WriteConflicted(now, number))
        elif how == "reject":
            paths = (f".{IMAGE}",) if inside else (".spec.replicas",)
            self.hear(WriteRejected(now, number, Reason.CONFLICT, CleanText("no"), paths))
        else:
            self.hear(WriteUncertain(now, number, "reset"))

    @rule()
    def fail_to_read(self) -> None:
        """Answer a read with that nobody could tell."""
        effect = self.take(Read)
        if effect is not None:
            self.hear(ReadBack(self.attempt.now, effect.effect_id, Unknown("503")))

    @rule(number=st.integers(1000, 1010))
    def answer_what_nobody_asked(self, number: int) -> None:
        """An answer to nothing raises and changes nothing."""
        before = self.attempt
        with pytest.raises(UnexpectedAnswer):
            step(before, Recorded(before.now, number))

    # -- the world goes on -------------------------------------------------------------------------

    @rule()
    def tell(self) -> None:
        """Let the watches tell what is new."""
        for event in self.server.news(self.attempt.now):
            self.hear(event)

    @rule(what=st.sampled_from(BEHAVIOURS), tag=st.sampled_from(["v1", "v2"]))
    def act(self, what: str, tag: str) -> None:
        """Let pods behave otherwise, and the controllers act."""
        self.server.behaviour[f"shop/web:{tag}"] = what
        for ref in self.server.stored:
            self.server.control(ref)

    @rule(seconds=st.sampled_from([0.5, 2.0, 5.0, 20.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass, but not beyond what the attempt wants to be woken for."""
        due_at = wake_at(self.attempt)
        if not math.isinf(due_at):
            self.hear(Woke(min(self.attempt.now + seconds, due_at)))

    def hear_in_time(self, event: AttemptEvent) -> None:
        """Hear what comes later, woken before it as often as the attempt wants; nothing if ended.

        A process is: an event of a later time is never the first to come after a wake time.
        """
        while (due_at := wake_at(self.attempt)) < event.at:
            self.hear(Woke(due_at))
        if not self.attempt.ended:
            self.hear(event)

    @rule(
        name=st.sampled_from(["web", "api", "settings"]),
        change=st.sampled_from([*CHANGES, "add", "remove"]),
    )
    def interfere(self, name: str, change: str) -> None:
        """Let somebody else change or delete an object."""
        leaves = CHANGES.get(change, {"spec.template.metadata.annotations.a": "b"})
        for ref in [ref for ref in self.server.stored if ref.name == name]:
            if change == "remove":
                self.server.remove(ref)
            elif ref == config_ref():
                self.server.edit(ref, "somebody", {"data.mode": change})
            else:
                self.server.edit(ref, "somebody", leaves)

    @rule(lost=st.booleans())
    def lose_contact(self, *, lost: bool) -> None:
        """Lose contact, or have it again."""
        now = self.attempt.now
        self.hear(ContactLost(now, "gone") if lost else ContactRestored(now))

    @precondition(lambda self: len(self.player.places) > 3)
    @rule(what=st.sampled_from(["lease", "forbidden", "signal", *[""] * 12]))
    def end(self, what: str) -> None:
        """Rarely: take the lock away, close the door for good, send a signal."""
        now = self.attempt.now
        if what == "lease":
            self.hear(LeaseLost(now, "other"))
        elif what == "forbidden":
            for event in refusals(now):
                self.hear_in_time(event)
        elif what == "signal":
            self.hear(Interrupted(now, 15))

    @rule(available=st.integers(0, 4), observed=st.integers(0, 9))
    def tell_nonsense(self, available: int, observed: int) -> None:
        """Let a watch tell of counters that fit nothing."""
        for ref, stored in self.server.stored.items():
            if ref.kind == "Deployment":
                web = self.server.deployment(stored)
                lie = replace(web, available_replicas=available, observed_generation=observed)
                self.hear(Observed(self.attempt.now, lie))

    # -- always ------------------------------------------------------------------------------------

    @invariant()
    def holds(self) -> None:
        """The attempt is a value, in a place that the table has, asking no more than it may."""
        if not hasattr(self, "player"):
            return
        attempt = self.attempt
        assert isinstance(hash(attempt), int)
        assert attempt.course.state in TRANSITIONS[attempt.course.leg]
        self.check_outstanding()
        assert attempt.ended or not math.isinf(wake_at(attempt)), "somebody has to wake it"

    def check_outstanding(self) -> None:
        """One write at a time; after a signal, what goes back of one kind is written side by side.

        An object has one write at a time even then (B165).
        """
        asked = self.attempt.requests.outstanding.values()
        refs = [effect.ref for effect in asked if isinstance(effect, Write)]
        assert len(set(refs)) == len(refs), "one write at a time to an object"
        signalled = self.attempt.interference.signal_number is not None
        if self.attempt.course.leg is Leg.BACK and signalled:
            assert len({ref.kind for ref in refs}) <= 1, "configuration before the workloads"
        else:
            assert len(refs) <= 1, "one write at a time"

    def teardown(self) -> None:
        """From wherever it is, it ends in time: with true answers, or with errors and silence."""
        if not hasattr(self, "player"):
            return
        truly = len(self.player.sent) % 2 == 0
        while not self.attempt.ended:
            if truly:
                self.go_on(8)
            self.fail_to_read()
            due_at = wake_at(self.attempt)
            if not math.isinf(due_at):
                assert due_at > self.attempt.now
                self.hear(Woke(due_at))
        self.check_end()

    def standing(self) -> list[Write]:
        """Return the writes that changed an object, of those that still stand in it."""
        return [
            write
            for write in self.server.changing
            if write.ref in self.server.stored
            and leaves_of(spec_of(write.body.thaw())).items()
            <= self.server.stored[write.ref].leaves.items()
        ]

    def check_end(self) -> None:
        """Hold the end to its bounds, and its code to what was done."""
        attempt = self.attempt
        began_at = attempt.writes.first_sent_at or attempt.course.started_at
        bake = attempt.plan.policy.budgets.bake_seconds
        assert attempt.now <= began_at + TIMEOUT + bake + ROLLBACK_TIMEOUT + 10.0
        assert attempt.now <= attempt.interference.interrupted_at + 5.0
        assert attempt.result.ending is not None
        assert set(attempt.result.endings) == {target.ref for target in attempt.plan.targets}
        assert attempt.exit_code in (0, 3, 4, 5, 6, 8, 9, 143)
        if attempt.outcome is Outcome.REFUSED:
            assert not self.standing(), "refused is: nothing of ours is there"
        if attempt.outcome is Outcome.ROLLED_BACK:
            assert len(self.server.changing) > 1 or attempt.result.why_back is not None
