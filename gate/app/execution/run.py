"""Runs a plan to its end: lanes for the effects, watches for the facts, signals as events."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from gate.app.command_context import CommandContext
from gate.app.execution.end_at_once import describe_end_at_once, describe_ended
from gate.app.execution.restoration_trials import read_and_try
from gate.app.execution.shared_objects import answer_with_users
from gate.app.locks.held_locks import LookAtLocks
from gate.app.locks.tasks import LockLane
from gate.app.preflight.gone_namespaces import find_gone_namespaces
from gate.app.runtime.check_sources import performer
from gate.app.runtime.console import Console
from gate.app.runtime.controller_manager import ControllerManagerWatch
from gate.app.runtime.session import Session
from gate.app.runtime.tape import Tape
from gate.app.runtime.watches import Watching
from gate.app.runtime.worker_lanes import Lanes, Performers
from gate.clock import Clock
from gate.core.attempt.left_open import is_left_open
from gate.core.attempt.record import record_of
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import (
    Announce,
    Asking,
    FindTerminatingNamespaces,
    Release,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import Answer, Interrupted, TerminatingNamespacesFound
from gate.engine import Engine, Listener
from gate.kube.answers.failures import ApiError
from gate.kube.client.client import Client
from gate.kube.reads.evidence import Collector
from gate.kube.reads.quorum_reads import Reader
from gate.kube.writes.pod_removal import PodRemover
from gate.kube.writes.writes import Writer
from gate.last_word import Word, last_word
from gate.side_by_side import each

LOOK_SECONDS = 5.0
"""How long we wait for a look at the locks; no request about them takes longer."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An attempt that nothing has refused.

    `watching`, already started, is on the workloads that it follows, None if there are none.
    """

    context: CommandContext
    plan: Plan
    watching: Watching | None = None

    @property
    def selectors(self) -> Mapping[Ref, Mapping[str, Any]]:
        """The selectors of the workloads that it follows."""
        return self.watching.selectors if self.watching is not None else FrozenMap()


def run(ready: Ready) -> Attempt:
    """Return the attempt in its end state.

    A signal is an event to it. A bug of ours is raised, after a warning that names what was
    written.
    """
    context = ready.context
    console, lock_lane, tape = context.console, context.lock_lane, context.tape
    clock, inbox, client = context.session.clock, context.session.inbox, context.session.client
    stopping, has_written = threading.Event(), threading.Event()
    lanes = Lanes(clock, inbox, _performers(ready, has_written))

    watch = ControllerManagerWatch(clock, client, inbox.put, stopping)
    latest = _Latest()
    observers = (latest.on_step, watch.on_step, *((tape.on_step,) if tape is not None else ()))
    console.is_locked = lock_lane is not None
    listener, look = _Steps(console, observers), partial(_look_at_locks, clock, lock_lane)
    engine = Engine(clock, inbox, partial(_dispatch, ready, lanes), listener, look)
    with suppress(RuntimeError):  # no thread can be started; the run can do without these two
        clock.start(partial(_prepare_end, clock, client, has_written, stopping), "connections")
        clock.start(watch.run, "controllers")
    try:
        word = partial(_describe_end_at_once, ready, lanes, latest)
        interrupted = context.world.delivered(
            lambda number: inbox.put(Interrupted(clock.now(), number))
        )
        with last_word(word), interrupted:
            attempt = engine.run(replace(ready.plan, origin=console.origin))
            console.end_word = partial(_describe_ended, attempt, word)
    except Exception:
        _warn_of_writes(console, lanes.sent)
        raise
    finally:
        stopping.set()
        has_written.set()
        lanes.stop()
    if tape is not None:
        tape.on_end(attempt, console.run())
    return attempt


def _prepare_end(
    clock: Clock, client: Client, has_written: threading.Event, stopping: threading.Event
) -> None:
    """Prepare for the verdict and its report while the rollout goes on: both will have to be quick.

    Not before the first write was answered, which would otherwise share the processor with this.
    """
    clock.wait(math.inf, has_written)
    if stopping.is_set():
        return
    client.keep_ready()
    with suppress(ImportError):  # the end says so, where the report is needed
        from gate.app.runtime import end_report  # noqa: F401 - so that it is loaded


def _performers(ready: Ready, has_written: threading.Event) -> Performers:
    """Return what performs the effects of an attempt, and sets `has_written` after the first write.

    The tape sees writes and measurements.
    """
    session, tape = ready.context.session, ready.context.tape
    clock, client, resources = session.clock, session.client, session.resources
    write = _then_set(has_written, Writer(client, resources, clock).perform)
    reader = Reader(client, resources, clock, ready.selectors, insists=True)
    return Performers(
        write=write if tape is None else _record_writes(tape, write),
        remove_pod=PodRemover(client, clock).perform,
        read=partial(read_and_try, reader, Writer(client, resources, clock)),
        read_together=reader.perform_together,
        collect=Collector(client, clock, mask=session.secrets.mask).perform,
        ask=performer(session.sources, clock, None if tape is None else tape.on_measurement),
        find_users=partial(answer_with_users, session, ready.plan),
        find_terminating_namespaces=partial(_answer_with_terminating_namespaces, session),
    )


def _dispatch(ready: Ready, lanes: Lanes, *effects: Asking) -> None:
    """Queue effects for the lanes that perform them."""
    lock_lane = ready.context.lock_lane
    for effect in effects:
        if lock_lane is not None and isinstance(effect, SaveRecord | Release):
            lock_lane(effect)
        if isinstance(effect, Release) and ready.watching is not None:
            ready.watching.stop()  # it is decided, and further events would only delay the end
    is_for_locks = (SaveRecord, Release) if lock_lane is not None else ()
    lanes.dispatch(*(effect for effect in effects if not isinstance(effect, is_for_locks)))


def _warn_of_writes(console: Console, sent: Iterable[Ref]) -> None:
    """Name what was written when a bug of ours breaks off a run."""
    if names := ", ".join(map(str, sent)):
        console.warn(f"stopped after writes to {names}: these objects stay as they are")


def _answer_with_terminating_namespaces(
    session: Session, effect: FindTerminatingNamespaces
) -> TerminatingNamespacesFound:
    """Answer which namespaces go; one that cannot be read is not taken for one that does."""

    def goes(name: str) -> bool:
        with suppress(ApiError):
            return bool(find_gone_namespaces(session, [name]))
        return False

    answers = each(session.clock, goes, effect.namespaces)
    found = zip(effect.namespaces, answers, strict=True)
    names = frozenset(name for name, is_going in found if is_going)
    return TerminatingNamespacesFound(session.clock.now(), effect.effect_id, names)


def _describe_end_at_once(ready: Ready, lanes: Lanes, latest: _Latest, number: int) -> str:
    console, attempt = ready.context.console, latest.attempt
    if attempt is None:
        return console.describe_end(number)
    return describe_end_at_once(
        attempt,
        lanes.sent,
        console.cluster,
        number,
        recorded_leg=_find_recorded_leg(ready.context, attempt.plan),
        has_recovered=console.has_recovered,
    )


def _find_recorded_leg(context: CommandContext, plan: Plan) -> Leg | None:
    """Return the leg that `recover` would continue, None without a lock for the record.

    While a record is being saved, it is that of the one before.
    """
    if context.lock_lane is None or context.keeper is None:
        return None
    return context.keeper.saved_leg or record_of(plan).leg


def _describe_ended(attempt: Attempt, unfinished: Word, number: int) -> str:
    """Say what an ended attempt leaves: a second signal may cut off its report."""
    return unfinished(number) if is_left_open(attempt) else describe_ended(attempt, number)


def _look_at_locks(clock: Clock, lock_lane: LockLane | None) -> None:
    """Have the locks checked, if there are any, and wait for that."""
    if lock_lane is not None:
        done = threading.Event()
        lock_lane(LookAtLocks(done))
        clock.wait(LOOK_SECONDS, done)


class _Latest:
    """Keeps the attempt as it was after its last step, None before the first."""

    def __init__(self) -> None:
        self.attempt: Attempt | None = None

    def on_step(self, attempt: Attempt) -> None:
        self.attempt = attempt


@dataclass(frozen=True, slots=True)
class _Steps:
    """A listener that also passes each step to others."""

    listener: Listener
    others: tuple[Callable[[Attempt], None], ...]

    def on_announce(self, announce: Announce) -> None:
        self.listener.on_announce(announce)

    def on_step(self, attempt: Attempt) -> None:
        for tell in self.others:
            tell(attempt)
        self.listener.on_step(attempt)

    def beat(self, attempt: Attempt) -> None:
        self.listener.beat(attempt)


def _then_set(
    done: threading.Event, perform: Callable[[Write], Answer]
) -> Callable[[Write], Answer]:
    """Return what performs a write, and sets the event once it is answered."""

    def perform_and_set(effect: Write) -> Answer:
        try:
            return perform(effect)
        finally:
            done.set()

    return perform_and_set


def _record_writes(tape: Tape, perform: Callable[[Write], Answer]) -> Callable[[Write], Answer]:
    """Return what tells the tape of a write before it performs it."""

    def record_and_perform(effect: Write) -> Answer:
        tape.writing(effect)
        return perform(effect)

    return record_and_perform
