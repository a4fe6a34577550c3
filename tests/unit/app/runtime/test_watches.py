"""The watches before the first write: what they wait for, and what refuses."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from gate.app.rehearsal.virtual_world import PlayedSignals
from gate.app.runtime.live_state import judge_now, read_live
from gate.app.runtime.session import Session, connect_session
from gate.app.runtime.watches import Watching
from gate.app.runtime.world import Streams
from gate.config import load
from gate.core.kinds.deployment.objects import DEPLOYMENT, deployment_ref
from gate.core.model.outcome import Reason
from gate.core.protocol.events import AccessRefused, ContactLost
from gate.core.rollout.observations import Kind, Listed, Observed
from gate.errors import RefusedError
from gate.sources.source import Sources
from gate.virtual_time import VirtualClock
from tests.unit.app.bodies import web
from tests.unit.app.server import Server

WEB = deployment_ref("shop", "web")
SELECTOR = {"matchLabels": {"app": "web"}}


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock that waiting moves."""
    return VirtualClock(100.0)


@pytest.fixture
def session(server: Server, clock: VirtualClock) -> Iterator[Session]:
    """Return a session with version "pending" of web, whose time is apart from the sandbox's."""
    server.put(web("pending"))
    signals = PlayedSignals(server.played.clock.group())
    streams = Streams(io.BytesIO(), io.StringIO(), io.StringIO())
    world = server.played.world(signals, streams, user=server.user)
    settings = load("status", {}, environ={})
    with connect_session(settings, clock, world.connect, Sources({})) as session:
        yield session


@pytest.fixture
def watching(session: Session) -> Watching:
    """Return watches that were not started: the test says what they hear."""
    return Watching(session, {WEB: SELECTOR})


def listed(session: Session, kind: Kind, *things: object) -> None:
    """Let a list be heard."""
    session.inbox.put(Listed(100.0, kind, WEB, things))  # type: ignore[arg-type]


@pytest.mark.contract("B243")
@pytest.mark.parametrize("why", ["", "connection refused"])
def test_a_list_that_does_not_come_is_a_refusal(
    session: Session, watching: Watching, clock: VirtualClock, why: str
) -> None:
    """After the time that was given, with the reason where one is known."""
    listed(session, DEPLOYMENT)
    if why:
        session.inbox.put(ContactLost(100.0, why))
    with pytest.raises(RefusedError, match=f"did not list what runs within 5 s.*{why}") as caught:
        watching.settle(5.0)
    assert caught.value.reason == "Unreachable"
    assert clock.now() == 105.0


def test_a_right_that_is_missing_is_a_refusal_at_once(
    session: Session, watching: Watching, clock: VirtualClock
) -> None:
    """Trying again is no use."""
    session.inbox.put(AccessRefused(100.0, "shop/Pod", "pods is forbidden", Reason.FORBIDDEN))
    with pytest.raises(RefusedError, match="pods is forbidden"):
        watching.settle(5.0)
    assert clock.now() == 100.0


def test_following_folds_one_event_at_a_time(
    session: Session, watching: Watching, clock: VirtualClock
) -> None:
    """Where nothing comes, time passes until it may change the verdict."""
    live = read_live(session, "web")
    rollout = judge_now(live, clock.now())
    (replica_set,) = live.snapshot.revisions.values()
    session.inbox.put(Observed(100.0, replica_set))
    assert watching.follow(rollout) is rollout
    assert clock.now() == 100.0
    watching.follow(rollout)
    assert clock.now() == 100.0 + 600 + 5


@pytest.mark.contract("B188")
def test_a_standstill_is_counted_from_now_on(session: Session, clock: VirtualClock) -> None:
    """`status --watch` does not take the time before it for its own."""
    rollout = judge_now(read_live(session, "web"), clock.now())
    assert rollout.verdict(100.0 + 600).kind == "progressing"
    assert rollout.verdict(100.0 + 606).reason == "ProgressDeadlineExceeded"
