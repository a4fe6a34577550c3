"""The look at the controller manager's Lease: when its silence is reported, and when it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Never, cast

import pytest

from gate.app.runtime.controller_manager import ControllerManagerWatch
from gate.clock import Clock
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.kinds.registry import kind_of
from gate.core.plan.leg import Leg
from gate.core.protocol.events import ControllersActed, ControllersSilent
from gate.core.rollout.observations import Observed
from gate.core.rollout.snapshot import Snapshot
from gate.kube.answers.failures import ApiError, Forbidden, Unreachable
from gate.kube.client.client import Client
from gate.kube.connection.in_process import Place, connection_to
from gate.virtual_time import VirtualClock
from tests.table import each
from tests.unit.core.world import WEB, deployment, pod, replica_set

END_SECONDS = 150.0


def unused_client() -> Client:
    """Return a client of a server that is never asked."""

    def serve(*_: object) -> Never:
        raise AssertionError("it was asked")

    clock = VirtualClock()
    place = Place("https://nowhere", "here", "shop", "t0ken")
    return Client(connection_to(serve, clock.wait_until, clock, place), clock)


class Timeline:
    """A clock that lets something happen at its times, and says when the watch has to end."""

    def __init__(self) -> None:
        """Begin at 0, with nothing to happen."""
        self.seconds = 0.0
        self.happens: dict[float, Callable[[], None]] = {}

    def now(self) -> float:
        """Return the seconds that were waited."""
        return self.seconds

    def skip(self, seconds: float) -> None:
        """Go on at once, as while the machine is suspended."""
        self.seconds += seconds

    def wait(self, seconds: float, _until: object = None) -> bool:
        """Go on, and let happen what is due."""
        self.seconds += seconds
        self.happens.pop(self.seconds, lambda: None)()
        return self.seconds >= END_SECONDS


class Scene:
    """A watch whose Lease says `renewed`, or cannot be read."""

    def __init__(self) -> None:
        """Begin with a rollout that has stood still since 0, and a Lease that is not renewed."""
        self.clock = Timeline()
        self.put: list[ControllersSilent | ControllersActed] = []
        self.renewed: str | ApiError | None = "once"
        self.snapshot = Snapshot(WEB, kind_of(WEB))
        self.watch = ControllerManagerWatch(
            cast("Clock", self.clock),
            unused_client(),
            self.put.append,
            threading.Event(),
        )
        self.watch._leases = self  # type: ignore[assignment]
        self.move(State.FOLLOWING)

    def read(self, _lock: object) -> SimpleNamespace | None:
        """Answer in place of the server."""
        if isinstance(self.renewed, ApiError):
            raise self.renewed
        return None if self.renewed is None else SimpleNamespace(renewed=self.renewed)

    def move(self, state: State, leg: Leg = Leg.FORWARD) -> None:
        """Let the attempt be there, with a rollout that moved last at this moment."""
        progress = SimpleNamespace(last_at=self.clock.seconds)
        rollout = SimpleNamespace(progress=progress, snapshot=self.snapshot)
        attempt = SimpleNamespace(
            course=SimpleNamespace(state=state, leg=leg),
            workloads=SimpleNamespace(rollouts={"web": rollout}),
            interference=SimpleNamespace(departures=frozenset()),
        )
        self.watch.on_step(cast("Attempt", attempt))

    def at(self, seconds: float, happens: Callable[[], None]) -> None:
        """Let something happen then."""
        self.clock.happens[seconds] = happens

    def answer(self, renewed: str | ApiError | None) -> None:
        """Let the Lease say this from now on."""
        self.renewed = renewed

    def reported(self) -> list[tuple[str, float]]:
        """Watch to the end; return what was reported, and when."""
        self.watch.run()
        return [(type(event).__name__, event.at) for event in self.put]


@pytest.fixture
def scene() -> Scene:
    """Return a scene; its client is never asked."""
    return Scene()


SILENT_FROM_30 = [("ControllersSilent", 30.0)]


@pytest.mark.contract("B119", "B1351")
@pytest.mark.parametrize("state", [State.FOLLOWING, State.BAKING])
def test_a_lease_that_stays_the_same_is_silence(scene: Scene, state: State) -> None:
    """It is reported once, from the first look on, also of what is complete and to stay so."""
    scene.move(state)
    assert scene.reported() == SILENT_FROM_30


@pytest.mark.contract("B1527")
@pytest.mark.parametrize(("at", "silent_at", "since"), [(20.0, 80.0, 60.0), (40.0, 30.0, 10.0)])
def test_a_lease_that_nobody_renewed_in_a_sleep_is_no_silence(
    scene: Scene, at: float, silent_at: float, since: float
) -> None:
    """It is watched again from the wake on; a silence that was known before goes on."""
    scene.at(at, lambda: scene.clock.skip(40.0))
    scene.watch.run()
    assert scene.put == [ControllersSilent(silent_at, since)]


@pytest.mark.contract("B119")
@pytest.mark.parametrize("answer", [Forbidden("no more"), None], ids=["forbidden", "deleted"])
def test_what_cannot_be_read_any_more_ends_the_silence(
    scene: Scene, answer: ApiError | None
) -> None:
    """What nobody reads is no evidence, also where it was one before."""
    scene.at(60.0, lambda: scene.answer(answer))
    assert scene.reported() == [*SILENT_FROM_30, ("ControllersActed", 60.0)]
    assert scene.clock.seconds == 60.0


@pytest.mark.contract("B119")
def test_a_read_that_fails_in_passing_ends_nothing(scene: Scene) -> None:
    """The next look tells."""
    scene.at(60.0, lambda: scene.answer(Unreachable("no connection")))
    assert scene.reported() == SILENT_FROM_30
    assert scene.clock.seconds == END_SECONDS


@pytest.mark.contract("B119")
def test_the_way_back_is_told_of_a_silence_too(scene: Scene) -> None:
    """Its rollouts are others; they hear of it once they stand still themselves."""
    scene.at(60.0, lambda: scene.move(State.WRITING, Leg.BACK))
    scene.at(70.0, lambda: scene.move(State.FOLLOWING, Leg.BACK))
    assert scene.reported() == [*SILENT_FROM_30, ("ControllersSilent", 100.0)]


@pytest.mark.contract("B119")
@pytest.mark.parametrize("state", [State.FOLLOWING, State.BAKING])
def test_whoever_moves_again_is_silent_no_more(scene: Scene, state: State) -> None:
    """Somebody changed the counters, or made the rollout complete."""
    scene.at(60.0, lambda: scene.move(state))
    assert scene.reported()[:2] == [*SILENT_FROM_30, ("ControllersActed", 60.0)]


BEFORE = "2026-11-21T11:00:00Z"
AFTER = "2026-11-21T12:00:30Z"


@pytest.mark.contract("B1390")
@each(
    ("pod_at", "owner", "revision_at", "reported"),
    [
        (AFTER, "web-2-uid", BEFORE, []),
        ("", "web-2-uid", AFTER, []),
        (AFTER, "another-uid", BEFORE, SILENT_FROM_30),
        ("2026-11-21T12:00:10Z", "web-2-uid", BEFORE, SILENT_FROM_30),
        (BEFORE, "web-2-uid", "", SILENT_FROM_30),
    ],
)
def test_a_lease_that_controllers_have_outlived_says_nothing(
    pod_at: str, owner: str, revision_at: str, reported: list[tuple[str, float]]
) -> None:
    """They act without renewing it; what is not theirs, or was made with the last renewal, not."""
    scene = Scene()
    scene.renewed = "2026-11-21T12:00:00.500000Z"
    made = (
        deployment(),
        replica_set(created_at=revision_at),
        pod(created_at=pod_at, owner_uid=owner),
    )
    for one in made:
        scene.snapshot = scene.snapshot.fold(Observed(0.0, one))
    scene.move(State.BAKING)
    assert scene.reported() == reported
