"""Plays an attempt against the model server, in virtual time, answering all that it asks.

A test bends single answers (`bend`), keeps kinds of effects unanswered (`hold`), or does
something at the moment when an effect is sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.checks import questions
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import AnyReason, Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target, in_phases
from gate.core.protocol.effects import (
    Announce,
    Ask,
    Asking,
    Collect,
    Effect,
    FindTerminatingNamespaces,
    FindUsers,
    Read,
    Release,
    RemovePod,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import (
    Answered,
    AttemptEvent,
    Collected,
    Errored,
    Evidence,
    ReadBack,
    Recorded,
    Released,
    TerminatingNamespacesFound,
    UsersFound,
    Woke,
    WriteConflicted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin, step, wake_at
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.server import Server

Asks = TypeVar("Asks", bound=Asking)
Measure = Callable[[Ask], questions.Answers | questions.Errored]
Bent = Callable[["Player", Any], AttemptEvent | None]
STARTED_AT = 100.0
MOST_STEPS = 5000


def planned(
    server: Server,
    *bodies: Mapping[str, Any],
    policy: Policy | None = None,
    may_retreat: bool = True,
    command: str = "apply",
    phases: Mapping[str, Phase] | None = None,
    needs: Mapping[Ref, tuple[Ref, ...]] | None = None,
    **write: Any,
) -> Plan:
    """Plan to apply the bodies over what the server has now; `phases` go by name."""
    refs = [ref_of(body) for body in bodies]
    followed = (target(server, ref) for ref in refs if ref.kind == "Deployment")
    targets = tuple(
        replace(one, phase=(phases or {}).get(one.ref.name, Phase.MAIN)) for one in followed
    )
    writes = tuple(
        PlannedWrite(ref, Verb.APPLY, Body.of(body), **write)
        for ref, body in zip(refs, bodies, strict=True)
    )
    return Plan(
        command=command,
        targets=targets,
        objects=tuple(PlannedObject(ref, _fact(server.read(ref))) for ref in refs),
        writes=in_phases(writes, targets, needs or {}),
        policy=policy or Policy(),
        may_retreat=may_retreat,
    )


def watched(server: Server, *refs: Ref, policy: Policy | None = None) -> Plan:
    """Plan to follow Deployments without a write, as `verify` does."""
    targets = tuple(target(server, ref) for ref in refs)
    return Plan("verify", targets, (), (), policy or Policy(), may_retreat=False)


def target(server: Server, ref: Ref) -> Target:
    """Return what is known of a Deployment before the attempt."""
    snapshot = unseen(ref)
    for fact in server.listed(ref, 0.0):
        snapshot = snapshot.fold(fact)
    return Target(ref, snapshot, baseline_of(snapshot))


def _confirm(effect: SaveRecord | Release | FindTerminatingNamespaces, now: float) -> AttemptEvent:
    """Return the answer that has nothing to say."""
    match effect:
        case SaveRecord(effect_id):
            return Recorded(now, effect_id)
        case Release(effect_id):
            return Released(now, effect_id)
        case FindTerminatingNamespaces(effect_id):
            return TerminatingNamespacesFound(now, effect_id, frozenset())


def _fact(live: LiveObject | None) -> Fact[LiveObject]:
    return Absent() if live is None else Known(live)


def serving(*bodies: dict[str, Any], **behaviour: str) -> Server:
    """Return a server that has v1 of `web`, and these objects."""
    server = Server(**behaviour)
    server.put(manifest("v1"))
    for body in bodies:
        server.put(body)
    return server


def rolling_out(*before: dict[str, Any], policy: Policy | None = None, **behaviour: str) -> Player:
    """Begin to roll v2 of `web` out over v1, which serves, with ConfigMaps that change to "b"."""
    server = serving(*before, **behaviour)
    changed = [config("b", body["metadata"]["name"]) for body in before]
    return Player(server, planned(server, *changed, manifest("v2"), policy=policy))


def going_back(*before: dict[str, Any], policy: Policy | None = None) -> Player:
    """Return the same once v2 has crashed, and the way back is about to begin."""
    player = rolling_out(*before, policy=policy, v2="crash")
    player.run_to(State.RECORDING, Leg.BACK)
    return player


def ending_of(attempt: Attempt) -> Ending:
    """Return how an attempt ended, which it has to have."""
    assert attempt.result.ending is not None
    return attempt.result.ending


def ends(attempt: Attempt) -> tuple[int, Outcome, AnyReason]:
    """Return exit code, outcome and reason of an attempt that has ended."""
    assert attempt.ended
    ending = ending_of(attempt)
    return attempt.exit_code, ending.outcome, ending.reason


def nobody_answers(_: Ask) -> questions.Errored:
    """Answer a check as a server that is not there."""
    return questions.Errored(CleanText("nobody answers"), questions.Trouble.UNREACHABLE)


class Player:
    """One attempt, all that it sent, and the answers to what is outstanding."""

    def __init__(self, server: Server, plan: Plan) -> None:
        """Begin the attempt; nothing is answered before `run`."""
        self.server = server
        self.sent: list[Asking] = []
        self.said: list[Announce] = []
        self.places: list[tuple[Leg, State]] = []
        self.waiting: list[Asking] = []
        self.hold: tuple[type[Asking], ...] = ()
        self.users: dict[Ref, str] = {}
        self.control = True
        self.measure: Measure = nobody_answers
        self._bent: list[tuple[type[Asking], int, Bent]] = []
        self._steps = 0
        list(server.news(0.0))
        self.attempt, effects = begin(plan, STARTED_AT)
        self._take(effects)

    @property
    def web(self) -> Ref:
        """The first Deployment that is followed."""
        return self.attempt.plan.targets[0].ref

    @property
    def place(self) -> tuple[Leg, State]:
        """Where the attempt is."""
        return self.attempt.course.leg, self.attempt.course.state

    @property
    def writes(self) -> list[Write]:
        """Every write that was sent."""
        return self.asked(Write)

    def asked(self, kind: type[Asks]) -> list[Asks]:
        """Return every effect of a kind that was sent."""
        return [effect for effect in self.sent if isinstance(effect, kind)]

    def lines(self, event: str) -> list[str]:
        """Return the lines of the timeline of one event."""
        return [line.message for line in self.said if line.event == event]

    def written(self) -> list[tuple[str, str]]:
        """Return verb and object of every write that the server has done, in order."""
        return [(write.verb.value, str(write.ref)) for write in self.server.done]

    def bend(self, kind: type[Asking], answer: Bent, times: int = 1) -> None:
        """Answer the next effects of a kind otherwise; None leaves one unanswered."""
        self._bent.append((kind, times, answer))

    def let_pass(self, kind: type[Asking], times: int = 1) -> None:
        """Answer the next effects of a kind as the server would, before what is bent next."""
        self.bend(kind, Player.answer, times)

    def hear(self, event: AttemptEvent) -> None:
        """Step once."""
        self._steps += 1
        assert self._steps < MOST_STEPS, "the attempt does not come to rest"
        self.attempt, effects = step(self.attempt, event)
        self._take(effects)

    def news(self) -> None:
        """Let the attempt hear what the watches have to tell."""
        for event in self.server.news(self.attempt.now):
            self.hear(event)

    def run(
        self,
        until: Callable[[Attempt], bool] = lambda attempt: attempt.ended,
        *,
        at_most: float = math.inf,
    ) -> Attempt:
        """Answer and let time pass until `until` holds, or nothing is due before `at_most`."""
        while not until(self.attempt):
            if self._answer_next():
                continue
            due_at = wake_at(self.attempt)
            if due_at > at_most or math.isinf(due_at):
                break
            self.hear(Woke(due_at))
        return self.attempt

    def run_to(self, state: State, leg: Leg = Leg.FORWARD) -> Attempt:
        """Run until the attempt is at a place, which it has to come to rest at."""
        self.run(lambda attempt: (attempt.course.leg, attempt.course.state) == (leg, state))
        assert self.place == (leg, state), f"at {self.place}"
        return self.attempt

    def behave(self, what: str, image: str = "v2") -> None:
        """Let the pods of an image behave otherwise from now on, and the watches tell."""
        self.server.behaviour[f"shop/web:{image}"] = what
        for one in self.attempt.plan.targets:
            self.server.control(one.ref)
        self.news()

    def pass_to(self, at: float) -> Attempt:
        """Let time pass, answering, until nothing is due before `at`; then wake it there."""
        self.run(at_most=at)
        if not self.attempt.ended:
            self.hear(Woke(at))
            self.run(at_most=at)
        return self.attempt

    def _take(self, effects: Iterable[Effect]) -> None:
        place = (self.attempt.course.leg, self.attempt.course.state)
        if not self.places or self.places[-1] != place:
            self.places.append(place)
        for effect in effects:
            if isinstance(effect, Announce):
                self.said.append(effect)
            else:
                self.sent.append(effect)
                self.waiting.append(effect)

    def _answer_next(self) -> bool:
        """Answer the first effect that is not held; tell whether there was one."""
        for effect in self.waiting:
            if effect.effect_id not in self.attempt.requests.outstanding:
                self.waiting.remove(effect)
                return True
            if not isinstance(effect, self.hold):
                self.waiting.remove(effect)
                answer = self._answer(effect)
                if answer is not None:
                    self.hear(answer)
                if isinstance(effect, Write) and self.control:
                    self.server.control(effect.ref)
                self.news()
                return True
        return False

    def _answer(self, effect: Asking) -> AttemptEvent | None:
        for number, (kind, times, bent) in enumerate(self._bent):
            if isinstance(effect, kind):
                self._bent[number : number + 1] = [(kind, times - 1, bent)] if times > 1 else []
                return bent(self, effect)
        return self.answer(effect)

    def answer(self, effect: Asking) -> AttemptEvent:
        """Answer as the server would."""
        now = self.attempt.now
        match effect:
            case SaveRecord() | Release() | FindTerminatingNamespaces():
                return _confirm(effect, now)
            case FindUsers(effect_id, created, changed):
                asked = {*created, *changed}
                used = {ref: why for ref, why in self.users.items() if ref in asked}
                return UsersFound(now, effect_id, FrozenMap(used))
            case Collect(effect_id, _, pod, container):
                log = Evidence("log", pod, container, CleanText("panic: no database"), "")
                return Collected(now, effect_id, (log,))
            case Read():
                return self.read(effect)
            case Write():
                return self.server.perform(effect, now)
            case RemovePod():
                raise TypeError(f"no Deployment needs a pod removed: {effect}")
            case Ask(effect_id):
                said = self.measure(effect)
                if isinstance(said, questions.Errored):
                    return Errored(now, effect_id, said)
                return Answered(now, effect_id, said)

    def read(self, effect: Read) -> ReadBack:
        """Read as the server would."""
        sets, pods = self.server.parts(effect.ref) if effect.whole_rollout else (None, None)
        fact = _fact(self.server.read(effect.ref))
        return ReadBack(self.attempt.now, effect.effect_id, fact, sets, pods)


def lost(player: Player, effect: Write, *, done: bool) -> AttemptEvent:
    """Lose the answer to a write that was done, or was not."""
    if done:
        player.server.perform(effect, player.attempt.now)
    return WriteUncertain(player.attempt.now, effect.effect_id, "connection reset")


def unread(player: Player, effect: Read) -> ReadBack:
    """Answer a read with that nobody could tell."""
    return ReadBack(player.attempt.now, effect.effect_id, Unknown("503"))


def conflicted(player: Player, effect: Write) -> WriteConflicted:
    """Answer a write with a conflict of its version."""
    return WriteConflicted(player.attempt.now, effect.effect_id)


def rejected(player: Player, effect: Write, reason: Reason = Reason.REJECTED) -> AttemptEvent:
    """Refuse a write for good."""
    return WriteRejected(player.attempt.now, effect.effect_id, reason, CleanText("no"))
