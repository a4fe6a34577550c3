"""What an apply would first finish of what a dead gate left: said by a run that writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gate.app.command_context import CommandContext
from gate.app.execution.earlier_runs import is_running, list_left_behind
from gate.app.execution.recovery import snapshots_of, watch_followed
from gate.app.execution.recovery_words import CLOSES, describe_patience
from gate.app.locks.acquisition import record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.unfinished_attempt import (
    describe_unfinished,
    read_open_record,
    recovery_command,
)
from gate.app.preflight.gone_namespaces import find_gone_namespaces
from gate.app.runtime.session import Session
from gate.core.kinds.registry import has_way_back, locks_of
from gate.core.model.fact import Known
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.plan.record import Record
from gate.core.recovery.gone_namespaces import find_oldest, without_namespaces
from gate.core.recovery.resumption import is_paused_half_way, list_incomplete, resume
from gate.core.recovery.rewritten_version import close_if_rewritten
from gate.core.rollout.snapshot import Snapshot
from gate.errors import GateError
from gate.kube.answers.failures import ApiError
from gate.kube.locks.lease import Held, Leases
from gate.kube.reads.quorum_reads import Reader
from gate.side_by_side import each


def foresee_recoveries(context: CommandContext, refs: Collection[Ref]) -> tuple[str, ...]:
    """Say of each attempt that was left open on workloads what an apply would first do about it.

    Reads alone; what may not be read is left out.
    """
    if not context.settings.lock:
        return ()
    leases = Leases(lock_client(context.session))
    places: dict[Lock, Held] = {}
    try:
        for lock in locks_of(refs, context.session.namespace):
            held = leases.read(lock)
            found = () if held is None else record_places(leases.read, held)
            places |= {one.lock: one for one in found}
    except ApiError:
        return ()
    return tuple(line for one in places.values() for line in _describe(context, one, refs))


def _describe(context: CommandContext, place: Held, refs: Collection[Ref]) -> Iterator[str]:
    left = describe_unfinished(context.session, place, context.world.processes)
    record = read_open_record(place)
    if not left or record is None:
        return
    try:
        first = _describe_way(context, place, record, refs)
    except GateError:
        first = "an apply would first finish it, forward or back"
    if first:
        yield f"{left}; {first}"


def _describe_way(
    context: CommandContext, place: Held, record: Record, rewrites: Collection[Ref]
) -> str:
    """Say which way it goes by what is there now, "" where nothing is left to do.

    `rewrites` is what the apply writes. Bodies of Secrets are not read: who changed them last is
    found out when it is finished.
    """
    session = context.session
    elsewhere = {one.ref.namespace for one in record.objects} - {place.lock.namespace}
    record = without_namespaces(
        record, find_gone_namespaces(session, elsewhere, find_oldest(record))
    )
    refs = [one.ref for one in record.objects]
    reader = Reader(session.client, session.resources, session.clock)
    found = dict(zip(refs, each(session.clock, reader.live, refs), strict=True))
    watching = watch_followed(session, record, found)
    try:
        watching.settle(context.settings.connect_timeout)
    finally:
        watching.stop()
    snapshots = snapshots_of(record, watching)
    at = session.clock.now()
    plan = resume(record, found, snapshots, at)
    if plan is None or plan.resumed is None:
        return ""
    waits = _describe_wait(session, place, snapshots)
    if close_if_rewritten(plan, rewrites, at):
        return f"an apply would first {CLOSES}{waits}"
    if not plan.resumed.back:
        past = recovery_command(session.connection.cluster, place.lock)
        why = _why_forward(plan, past, at)
        return f"an apply would first finish it forward, as {why}{waits}"
    ways = [
        f"{one.ref} to {one.baseline.value!s}"
        for one in record.followed
        if isinstance(one.baseline, Known) and one.ref not in plan.resumed.departed
    ]
    ended = f": {', '.join(ways)}" if ways else ""
    return f"an apply would first take it back, by what is there now{ended}{waits}"


def _why_forward(plan: Plan, past: str, at: float) -> str:
    """Say why nothing goes back; what runs once and is gone since had come to its end.

    Where it may take long, `past` is the command with which nobody waits for that.
    """
    incomplete = [one for one in list_incomplete(plan, at) if one.snapshot.live is not None]
    if not incomplete:
        return "it is complete"
    if all(map(is_paused_half_way, incomplete)):
        names = ", ".join(str(one.ref) for one in incomplete)
        return f"{names} {'is' if len(incomplete) == 1 else 'are'} paused half-way"
    return f"nothing of it is to be taken back{describe_patience(plan, past, at)}"


def _describe_wait(session: Session, place: Held, snapshots: Mapping[Ref, Snapshot]) -> str:
    """Name what runs once and has not ended: an apply writes nothing of its own before that."""
    once = {ref: one.live for ref, one in snapshots.items() if not has_way_back(ref)}
    running = [str(ref) for ref, live in once.items() if is_running(live)]
    locks = {place.lock, *place.holder.locks}
    pods = list_left_behind(session, {ref.namespace for ref in once}, locks)
    running += [str(one.ref) for one in pods]
    return f"; it would wait for the end of {', '.join(running)} as well" if running else ""
