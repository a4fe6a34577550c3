"""Worker lanes: what waits for what, and that no effect stays without an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import pytest

from gate.app.runtime.worker_lanes import OBJECT_LANES, Lanes, Performers
from gate.clock import SystemClock
from gate.core.checks.questions import Answers, CommandQuestion, Exit, Questions
from gate.core.checks.tick_grid import Tick
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.protocol.effects import Announce, Ask, Collect, Read, Write
from gate.core.protocol.events import (
    Answered,
    Collected,
    PodRemoval,
    ReadBack,
    Removal,
    TerminatingNamespacesFound,
    UsersFound,
    Written,
)
from gate.engine import Broken, Inbox
from gate.kube.reads.quorum_reads import MOST_READ_SINGLY

WEB, API = Ref("apps/v1", "Deployment", "shop", "web"), Ref("apps/v1", "Deployment", "shop", "api")
NOTHING = Body.of({})


class Standing(SystemClock):
    """A clock that shows 5 s, and whose threads are the machine's."""

    def now(self) -> float:
        """Return 5 s."""
        return 5.0


class Scene:
    """Lanes whose work a test can hold up, by the number of the effect."""

    def __init__(self) -> None:
        self.inbox: Inbox = SimpleQueue()
        self.gates: dict[int, threading.Event] = {}
        self.fails: set[int] = set()
        self.begun: SimpleQueue[int] = SimpleQueue()
        self.together: list[tuple[int, ...]] = []
        performers = Performers(
            write=self.worker(lambda n: Written(5.0, n, None)),
            remove_pod=self.worker(lambda n: PodRemoval(5.0, n, Removal.ACCEPTED)),
            read=self.worker(lambda n: ReadBack(5.0, n, Absent())),
            read_together=self.read_together,
            collect=self.worker(lambda n: Collected(5.0, n, ())),
            ask=self.worker(lambda n: Answered(5.0, n, Answers(Exit(0)))),
            find_users=self.worker(lambda n: UsersFound(5.0, n, FrozenMap())),
            find_terminating_namespaces=self.worker(
                lambda n: TerminatingNamespacesFound(5.0, n, frozenset())
            ),
        )
        self.lanes = Lanes(Standing(), self.inbox, performers)

    def worker(self, answer: Callable[[int], Any]) -> Callable[[Any], Any]:
        """Return what performs an effect once its gate is open."""

        def perform(effect: Any) -> Any:
            number = effect.effect_id
            self.begun.put(number)
            if number in self.gates:
                self.gates[number].wait()
            if number in self.fails:
                raise LookupError("a bug")
            return answer(number)

        return perform

    def read_together(self, reads: Sequence[Read]) -> list[ReadBack]:
        """Answer reads that came together, and note their numbers."""
        self.together.append(tuple(one.effect_id for one in reads))
        return [ReadBack(5.0, one.effect_id, Absent()) for one in reads]

    def hold(self, *numbers: int) -> None:
        """Let the work on these effects wait."""
        self.gates |= {number: threading.Event() for number in numbers}

    def answers(self, count: int) -> list[Any]:
        """Return the next answers, in the order in which they came."""
        return [self.inbox.get(timeout=10) for _ in range(count)]


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Return lanes that end with the test."""
    scene = Scene()
    yield scene
    for gate in scene.gates.values():
        gate.set()
    scene.lanes.stop()


def write(number: int, ref: Ref = WEB) -> Write:
    """Return a write."""
    return Write(number, ref, Verb.APPLY, NOTHING, None, None)


@pytest.mark.contract("B165")
def test_writes_that_are_asked_for_together_do_not_wait_for_each_other(scene: Scene) -> None:
    """The core decides which go side by side; what was sent is known in order."""
    scene.hold(1)
    for number, ref in ((1, WEB), (2, API)):
        scene.lanes.dispatch(write(number, ref))
    assert scene.answers(1)[0].effect_id == 2
    scene.gates[1].set()
    assert scene.answers(1)[0].effect_id == 1
    assert list(scene.lanes.sent) == [WEB, API]


def test_a_slow_log_delays_neither_a_read_nor_a_write(scene: Scene) -> None:
    """Evidence has a lane of its own, and so has each object that is read."""
    scene.hold(1, 2)
    scene.lanes.dispatch(Collect(1, WEB, "web-1", "", previous=False))
    scene.lanes.dispatch(Read(2, API, whole_rollout=True))
    scene.lanes.dispatch(Read(3, WEB, whole_rollout=True))
    scene.lanes.dispatch(write(4))
    assert {answer.effect_id for answer in scene.answers(2)} == {3, 4}
    scene.gates[2].set()
    assert scene.answers(1)[0].effect_id == 2


@pytest.mark.contract("B1526")
def test_a_question_that_a_newer_one_replaces_is_not_asked(scene: Scene) -> None:
    """What is under way is finished; of what waits behind it, the newest of each check is asked."""
    scene.hold(1)
    for number, check in ((1, "smoke"), (2, "smoke"), (3, "other"), (4, "smoke")):
        questions = Questions(CommandQuestion(("smoke",)))
        scene.lanes.dispatch(Ask(number, check, Tick(number, 5.0), questions))
        if number == 1:
            assert scene.begun.get(timeout=20.0) == 1
    assert scene.answers(1)[0].effect_id == 3
    scene.gates[1].set()
    assert [answer.effect_id for answer in scene.answers(2)] == [1, 4]
    assert scene.inbox.empty()


@pytest.mark.contract("B49", "B515")
def test_many_objects_are_read_side_by_side_in_a_few_lanes(scene: Scene) -> None:
    """One that hangs holds up an eighth of the rest, and no thread is made for each."""
    before = threading.active_count()
    scene.hold(0)
    for number in range(20 * OBJECT_LANES):
        scene.lanes.dispatch(Read(number, WEB, whole_rollout=False))
    rest = 20 * (OBJECT_LANES - 1)
    held = {number for number in range(20 * OBJECT_LANES) if number % OBJECT_LANES == 0}
    assert not held & {answer.effect_id for answer in scene.answers(rest)}
    assert threading.active_count() - before <= OBJECT_LANES
    scene.gates[0].set()
    assert {answer.effect_id for answer in scene.answers(20)} == held


@pytest.mark.contract("B557")
def test_many_rollouts_of_a_namespace_are_read_together(scene: Scene) -> None:
    """A few are read one by one, and so are those of another namespace or kind: a list has one."""
    refs = [Ref("apps/v1", "Deployment", "shop", f"web-{n}") for n in range(MOST_READ_SINGLY + 1)]
    reads = [Read(number, ref, whole_rollout=True) for number, ref in enumerate(refs)]
    others = (("Deployment", "bar"), ("StatefulSet", "shop"), ("Job", "shop"))
    elsewhere = [
        Read(97 + number, Ref("apps/v1", kind, namespace, "web"), whole_rollout=True)
        for number, (kind, namespace) in enumerate(others)
    ]
    scene.lanes.dispatch(*reads, *elsewhere)
    answered = {answer.effect_id for answer in scene.answers(len(reads) + len(elsewhere))}
    assert answered == {97, 98, 99, *range(len(reads))}
    assert scene.together == [tuple(range(len(reads)))]
    scene.lanes.dispatch(*reads[1:])
    scene.answers(MOST_READ_SINGLY)
    assert len(scene.together) == 1


@pytest.mark.contract("B21")
@pytest.mark.parametrize(
    "effect",
    [write(1), Read(1, WEB, whole_rollout=True), Collect(1, WEB, "web-1", "", previous=False)],
)
def test_a_bug_in_a_lane_is_a_message(scene: Scene, effect: Any) -> None:
    """Nobody waits for an answer that will never come; the lane goes on."""
    scene.fails.add(1)
    scene.lanes.dispatch(effect)
    (message,) = scene.answers(1)
    assert isinstance(message, Broken)
    assert isinstance(message.error, LookupError)
    scene.fails.clear()
    scene.lanes.dispatch(effect)
    assert scene.answers(1)[0].effect_id == 1


def test_lanes_end_when_they_are_told_to(scene: Scene) -> None:
    """What is under way is finished first; nobody is waited for."""
    before = set(threading.enumerate())
    scene.hold(1)
    scene.lanes.dispatch(write(1))
    (lane,) = set(threading.enumerate()) - before
    scene.lanes.stop()
    assert lane.daemon
    scene.gates[1].set()
    assert scene.answers(1)[0].effect_id == 1
    lane.join(10)
    assert not lane.is_alive()


def test_what_is_no_effect_of_a_lane_is_a_bug(scene: Scene) -> None:
    """It comes back as one."""
    with pytest.raises(TypeError, match="Announce"):
        scene.lanes._perform(Announce(0.0, "x", "y"))  # type: ignore[arg-type]
