"""`locks`: who holds which lock, since when, from which run; and giving one back for somebody."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from gate.app import arrival
from gate.app.arrival import require_namespace
from gate.app.console import Console, write_safely
from gate.app.lock_state import is_dead, state_of
from gate.app.locking import lock_client
from gate.app.session import Session
from gate.app.world import World
from gate.config import Settings
from gate.core.lock import PREFIX, Lock, lock_of
from gate.core.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.kube.failures import Forbidden
from gate.kube.lease import Held, Leases
from gate.processes import Processes
from gate.report.locks import LockRow, locks_table

_YES = (b"y", b"yes")


def locks(session: Session, settings: Settings, world: World, console: Console) -> int:
    """Print the locks of the namespace, or of all of them (`--all-namespaces`)."""
    now = session.clock.wall()
    found = read_locks(session, settings, "locks")
    rows = [_row(held, now, world.processes) for held in sorted(found, key=lambda held: held.lock)]
    if settings.output == "json":
        text = json.dumps([row.document() for row in rows], indent=2) + "\n"
    else:
        text = locks_table(
            rows, now, console.style(settings), with_namespace=settings.all_namespaces
        )
        text += "".join(f"{line}\n" for line in _steps(session, rows))
    console.write(text)
    return 0


def _steps(session: Session, rows: Sequence[LockRow]) -> Iterator[str]:
    """Yield how to finish what attempts left open that are no longer at it."""
    for row in rows:
        kind, _, name = row.locks.partition("/")
        if row.unfinished and row.state != "held" and kind == "deployment":
            words = ("rollout-gate", "recover", name)
            command = session.connection.cluster.command(*words, namespace=row.namespace)
            yield f"{row.locks} is unfinished; to finish it: {command}"


def read_locks(session: Session, settings: Settings, command: str) -> tuple[Held, ...]:
    """Return the locks of the namespace, or of all of them.

    Raises RefusedError where there is no such namespace, and where not all may be listed, which
    says how `command` does with one.
    """
    leases = Leases(lock_client(session))
    if not settings.all_namespaces:
        found = leases.all(session.namespace)
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


def _row(held: Held, now: datetime, processes: Processes) -> LockRow:
    return LockRow(
        namespace=held.lock.namespace,
        name=held.lock.name,
        locks=str(held.lock),
        state=state_of(held, now, processes),
        holder=held.holder.identity,
        run_url=held.holder.url,
        acquired_at=held.acquired,
        renewed_at=held.renewed,
        unfinished=bool(held.record),
    )


def release(session: Session, settings: Settings, world: World, console: Console) -> int:
    """Give a lock back for whoever holds it, after asking; what it remembers stays."""
    if settings.all_namespaces:
        raise UsageError("--release and --all-namespaces: a lock is given back in its namespace")
    arrival.announce(session, console)
    leases = Leases(lock_client(session))
    lock = _named(session.namespace, settings.release or "")
    held = leases.read(lock)
    if held is None:
        listing = leases.cluster.command("rollout-gate", "locks", namespace=lock.namespace)
        raise RefusedError(
            f"there is no lock of {lock} in namespace {lock.namespace}",
            reason=Reason.NOT_FOUND,
            hint=f"see which there are: {listing}",
        )
    if held.is_free:
        console.note("lock", f"nobody holds {lock}")
        return 0
    if not settings.yes and not agreed(world, held):
        console.note("lock", f"{lock} is still held by {held.holder}")
        return 0
    leases.release(held, {}, session.clock.wall())
    console.note("lock", f"{lock} was held by {held.holder}; it is free")
    return 0


def _named(namespace: str, name: str) -> Lock:
    name = name.rpartition("/")[2]
    return Lock(namespace, name) if name.startswith(PREFIX) else lock_of(namespace, name)


def agreed(world: World, held: Held) -> bool:
    """Ask whoever sits before the terminal."""
    if not world.stdin.isatty():
        raise UsageError(
            "giving back somebody's lock has to be agreed to",
            hint="on a terminal, or with --yes",
        )
    if is_dead(held, world.processes):
        question = f"{held.lock} was held by {held.holder}, whose process has ended. Give it back?"
    else:
        question = f"{held.lock} is held by {held.holder}. Give it back? Its gate may still run."
    question += " [y/N] "
    write_safely(world.stderr, question)
    return world.stdin.readline().strip().lower() in _YES
