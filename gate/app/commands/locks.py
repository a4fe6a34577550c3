"""`locks`: shows who holds which lock, since when, from which run; and releases somebody's lock."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from gate.app.command_context import CommandContext, connect
from gate.app.locks.acquisition import record_places
from gate.app.locks.command_locks import lock_client
from gate.app.locks.keeper import RENEWAL_SECONDS
from gate.app.locks.lock_state import LockState, is_dead, state_of, what_is_known_of
from gate.app.locks.unfinished_attempt import (
    describe_finish,
    describe_unfinished,
    read_open_record,
    recovery_command,
)
from gate.app.preflight import first_questions
from gate.app.preflight.first_questions import require_namespace
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import write_safely
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import workload_ref
from gate.app.runtime.world import World
from gate.cluster_name import ClusterName
from gate.config import Settings
from gate.core.model.lock import PREFIX, Lock, lock_of
from gate.core.model.outcome import Reason
from gate.duration import format_seconds
from gate.errors import RefusedError, UsageError
from gate.kube.answers.failures import Forbidden
from gate.kube.locks.lease import Held, Leases
from gate.processes import Processes
from gate.report.views.locks import LockRow, locks_table

_YES = (b"y", b"yes")
_RENEWAL = format_seconds(RENEWAL_SECONDS)


def locks(start: CommandStart) -> int:
    """Show the locks of a namespace, or give one back."""
    context = connect(start)
    return _release(context) if start.settings.release is not None else _show(context)


def _show(context: CommandContext) -> int:
    """Print the locks of the namespace, or of all of them (`--all-namespaces`)."""
    session, settings, console = context.session, context.settings, context.console
    now = session.clock.wall()
    found = sorted(read_locks(session, settings, "locks"), key=lambda held: held.lock)
    processes = context.world.processes
    rows = [_row(held, now, processes) for held in found]
    if settings.output == "json":
        text = json.dumps([row.document() for row in rows], indent=2) + "\n"
    else:
        text = locks_table(
            rows, now, console.uncut(settings), with_namespace=settings.all_namespaces
        )
        steps = (describe_unfinished(session, held, processes) for held in found)
        text += "".join(f"{line}\n" for line in filter(None, steps))
    console.write(text)
    return 0


def read_locks(session: Session, settings: Settings, command: str) -> tuple[Held, ...]:
    """Return the locks of the namespace, or of all namespaces.

    Raises RefusedError if there is no such namespace, or if listing is forbidden; the hint of the
    latter may suggest `command` for one namespace or one workload.
    """
    leases = Leases(lock_client(session))
    if not settings.all_namespaces:
        found = _list_locks(session, leases, command)
        if not found:
            require_namespace(session, session.namespace)
        return found
    try:
        return leases.all("")
    except Forbidden as error:
        one = leases.cluster.command("rollout-gate", command, namespace="NAMESPACE")
        raise RefusedError(
            error.message,
            reason=error.reason,
            hint="to see all namespaces takes a ClusterRole that may list"
            f" leases.coordination.k8s.io; of one: {one}",
        ) from error


def _list_locks(session: Session, leases: Leases, command: str) -> tuple[Held, ...]:
    """List the locks of the namespace; RefusedError that names the missing permission."""
    try:
        return leases.all(session.namespace)
    except Forbidden as error:
        right = f"this needs the right to list leases.coordination.k8s.io in {session.namespace}"
        words = ("rollout-gate", command, "NAME")
        one = leases.cluster.command(*words, namespace=session.namespace)
        hint = f"{right}; of one workload: {one}" if command == "recover" else right
        raise RefusedError(error.message, reason=error.reason, hint=hint) from error


def _row(held: Held, now: datetime, processes: Processes) -> LockRow:
    state = state_of(held, now, processes)
    is_released = state is LockState.RELEASED
    return LockRow(
        namespace=held.lock.namespace,
        name=held.lock.name,
        locks=str(held.lock),
        state=state,
        holder=held.holder.held_last_by if is_released else held.holder.identity,
        run_url=held.holder.url,
        acquired_at=held.acquired,
        renewed_at=held.renewed,
        unfinished=bool(held.record),
    )


def _release(context: CommandContext) -> int:
    """Release a lock on behalf of its holder, after asking; what it remembers stays."""
    session, settings, console = context.session, context.settings, context.console
    if settings.all_namespaces:
        raise UsageError(
            "--release and --all-namespaces exclude each other: name the lock's namespace with -n"
        )
    first_questions.announce(context)
    leases = Leases(lock_client(session))
    lock = _parse_lock(session.namespace, settings.release or "")
    held = leases.read(lock)
    if held is None:
        listing = leases.cluster.command("rollout-gate", "locks", namespace=lock.namespace)
        raise RefusedError(
            f"no lock exists for {lock} in namespace {lock.namespace}",
            reason=Reason.NOT_FOUND,
            hint=f"list the locks: {listing}",
        )
    if held.is_free:
        console.note("lock", f"nobody holds {lock}")
        return 0
    if not settings.yes and not ask_for_consent(context.world, held):
        console.note("lock", f"{lock} is still held by {held.holder}")
        return 0
    left = record_places(leases.read, held)
    leases.release_for(held, session.clock.wall())
    for said in _iter_release_lines(held, leases.cluster, context.world.processes, left=left):
        console.note("lock", said)
    return 0


def _iter_release_lines(
    held: Held, cluster: ClusterName, processes: Processes, *, left: Sequence[Held]
) -> Iterator[str]:
    """Say whose lock was released, what its holder does if still alive, and what is unfinished."""
    lock, known = held.lock, what_is_known_of(held.holder, processes)
    yield f"{lock} was held by {held.holder}, {known}; it is free"
    has_ended = is_dead(held, processes)
    if not has_ended:
        yield (
            f"if that run is alive it goes on and takes the lock again within {_RENEWAL}; where"
            " another run has it by then, it stops and writes nothing more (exit 8)"
        )
    if left:
        way = describe_finish(read_open_record(left[0]))
        recovery = recovery_command(cluster, lock)
        when = "to finish that" if has_ended else "once that run has ended, to finish it"
        yield f"its attempt is unfinished; {when}{way}: {recovery}"


def _parse_lock(namespace: str, name: str) -> Lock:
    bare = name.rpartition("/")[2]
    is_lock = bare.startswith(PREFIX)
    return Lock(namespace, bare) if is_lock else lock_of(workload_ref(namespace, name))


def ask_for_consent(world: World, held: Held) -> bool:
    """Ask the person at the terminal; UsageError if there is no terminal."""
    if not world.streams.stdin.isatty():
        raise UsageError(
            "releasing somebody else's lock needs a confirmation",
            hint="answer on a terminal, or pass --yes",
        )
    was = "was" if is_dead(held, world.processes) else "is"
    known = what_is_known_of(held.holder, world.processes)
    question = f"{held.lock} {was} held by {held.holder}, {known}. Release it? [y/N] "
    write_safely(world.streams.stderr, question)
    return world.streams.stdin.readline().strip().lower() in _YES
