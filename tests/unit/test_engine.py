"""The engine: which message comes next, when the attempt is woken, when a sign of life is due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from queue import SimpleQueue

import pytest

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.fact import Known
from gate.core.model.outcome import Outcome, Reason
from gate.core.protocol.effects import Announce, Asking, Collect, Read, Release, SaveRecord
from gate.core.protocol.events import Collected, ReadBack, Recorded, Released
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Budgets, Policy
from gate.engine import Broken, Engine, Inbox
from gate.virtual_time import VirtualClock
from tests.unit.core.leaves import manifest
from tests.unit.core.player import watched
from tests.unit.core.server import Server
from tests.unit.core.world import WEB


class Ears:
    """Remembers what was heard, and when."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.said_at: list[float] = []
        self.beats_at: list[float] = []
        self.states: list[State] = []

    def on_announce(self, announce: Announce) -> None:
        """Hear a line."""
        self.said_at.append(announce.at)

    def on_step(self, attempt: Attempt) -> None:
        """Take no note."""

    def beat(self, attempt: Attempt) -> None:
        """Hear a sign of life."""
        self.beats_at.append(self.clock.now())
        self.states.append(attempt.course.state)


class World:
    """One Deployment that is followed, and answers to all that is asked about it."""

    def __init__(self, clock: VirtualClock | None = None) -> None:
        self.clock = clock or VirtualClock(100.0)
        self.inbox: Inbox = SimpleQueue()
        self.ears = Ears(self.clock)
        self.server = Server()
        self.server.put(manifest("v1", replicas=2))
        self.asked: list[Asking] = []
        self.before_answer: Callable[[Asking], None] = lambda _: None

    def answer(self, *effects: Asking) -> None:
        """Answer at once."""
        for effect in effects:
            self._answer(effect)

    def _answer(self, effect: Asking) -> None:
        self.asked.append(effect)
        self.before_answer(effect)
        now, number = self.clock.now(), effect.effect_id
        match effect:
            case SaveRecord():
                self.inbox.put(Recorded(now, number))
            case Read():
                live = self.server.read(WEB)
                assert live is not None
                self.inbox.put(ReadBack(now, number, Known(live), *self.server.parts(WEB)))
            case Collect():
                self.inbox.put(Collected(now, number, ()))
            case Release():
                self.inbox.put(Released(now, number))
            case _:
                raise AssertionError(effect)

    def run(self, policy: Policy | None = None) -> Attempt:
        """Verify the Deployment as it stands."""
        plan = watched(self.server, WEB, policy=policy)
        return Engine(self.clock, self.inbox, self.answer, self.ears).run(plan)


@pytest.fixture
def stuck() -> World:
    """Return a world whose Deployment gets nowhere."""
    return stick(World())


def stick(world: World) -> World:
    """Let its pods never get ready."""
    world.server.behaviour["shop/web:v1"] = "never-ready"
    world.server.control(WEB)
    return world


def test_it_wakes_the_attempt_at_its_own_time(stuck: World) -> None:
    """A budget ends without any message, at its time and not later."""
    attempt = stuck.run(Policy(budgets=Budgets(timeout_seconds=50.0)))
    ending = attempt.result.ending
    assert ending is not None
    assert (ending.outcome, ending.reason) == (Outcome.FAILED, Reason.TIMEOUT)
    assert stuck.clock.now() == 150.0


@pytest.mark.contract("B170")
def test_silence_of_30_seconds_has_a_sign_of_life(stuck: World) -> None:
    """Every 30 s in which nothing was said, what is waited for is."""
    stuck.run(Policy(budgets=Budgets(timeout_seconds=100.0)))
    said = [at for at in stuck.ears.said_at if at < 200.0]
    assert said == []
    assert stuck.ears.beats_at == [130.0, 160.0, 190.0]
    assert set(stuck.ears.states) == {State.FOLLOWING}


@pytest.mark.contract("B170")
def test_a_line_puts_the_next_sign_of_life_off(stuck: World) -> None:
    """Where something was said there is no silence yet."""

    def progress(effect: Asking) -> None:
        (made,) = stuck.server.stored[WEB].sets
        if isinstance(effect, Read):
            made.pods[0] = replace(made.pods[0], ready=True)
            stuck.server.touch(WEB)

    stuck.before_answer = progress
    stuck.run(Policy(budgets=Budgets(timeout_seconds=80.0, read_interval_seconds=20.0)))
    assert stuck.ears.said_at[0] == 120.0
    assert stuck.ears.beats_at == [150.0, 180.0]


class Restless(VirtualClock):
    """A clock by which the server says every second something that changes nothing."""

    server: Server

    def __init__(self) -> None:
        super().__init__(100.0)

    def receive(self, inbox: SimpleQueue[object], seconds: float) -> object:  # type: ignore[override]
        """Return what is there, else an observation after a second."""
        if not inbox.empty():
            return inbox.get()
        self.advance_to(self.now() + min(1.0, seconds))
        return Observed(self.now(), self.server.parts(WEB)[0][0])


def test_messages_that_never_end_do_not_keep_it_from_its_time() -> None:
    """A busy namespace delays neither the sign of life nor the end of the budget."""
    clock = Restless()
    world = World(clock)
    clock.server = world.server
    attempt = stick(world).run(Policy(budgets=Budgets(timeout_seconds=70.0)))
    assert attempt.outcome is Outcome.FAILED
    assert world.clock.now() == 170.0
    assert world.ears.beats_at == [130.0, 160.0]


def test_what_broke_a_worker_is_raised(stuck: World) -> None:
    """An effect whose worker died would never be answered: the run ends there."""
    stuck.inbox.put(Broken(KeyError("a bug")))
    with pytest.raises(KeyError, match="a bug"):
        stuck.run()


def test_an_attempt_without_a_wake_time_can_be_waited_for(stuck: World) -> None:
    """No deadline, no budget in sight: the nap is bounded, as a queue's must be."""
    naps: list[float] = []
    receive = stuck.clock.receive

    def noted(inbox: Inbox, seconds: float) -> object:
        naps.append(seconds)
        return receive(inbox, seconds)

    stuck.clock.receive = noted  # type: ignore[method-assign,assignment]
    budgets = Budgets(timeout_seconds=200_000.0, read_interval_seconds=150_000.0)
    stuck.run(Policy(budgets=budgets))
    assert max(naps) <= 1.0
    assert min(naps) >= 0.0


@pytest.mark.contract("B1437")
@pytest.mark.parametrize(
    ("begins", "seconds", "noticed"), [(0.0, 3.1, True), (0.0, 60.0, True), (1.0, 1.9, False)]
)
def test_a_standstill_within_a_long_wait_is_noticed(
    stuck: World, begins: float, seconds: float, noticed: bool
) -> None:
    """It begins at the start or at the end of one nap; nothing is due for a long time."""
    receive, clock = stuck.clock.receive, stuck.clock

    def suspended(inbox: Inbox, nap_seconds: float) -> object:
        if clock.now() != 110.0:
            return receive(inbox, nap_seconds)
        message = receive(inbox, begins)
        clock.advance_to(110.0 + max(begins + seconds, nap_seconds))
        return message

    clock.receive = suspended  # type: ignore[method-assign,assignment]
    attempt = stuck.run(Policy(budgets=Budgets(timeout_seconds=100.0)))
    slept_seconds = clock.now() - 200.0
    assert slept_seconds == pytest.approx(max(1.0, seconds) if noticed else 0.0)
    assert attempt.interference.suspended_seconds == pytest.approx(slept_seconds)
