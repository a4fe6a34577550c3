"""The locks of a command: taken and held for as long as it runs, or only read."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from typing import Final

from gate.app.locks.acquisition import LockTaking, take_within
from gate.app.locks.held_locks import history_of
from gate.app.locks.keeper import Keeper
from gate.app.locks.memory import Memory, MemorySnapshot, secret_permissions
from gate.app.locks.secret_backup import SecretsBeside
from gate.app.locks.verified_bodies import VerifiedBodies
from gate.app.runtime.console import Console
from gate.app.runtime.session import Session
from gate.app.runtime.world import World
from gate.ci.host import pipeline_run
from gate.cluster_name import ClusterName
from gate.config import Settings
from gate.core.kinds.registry import has_way_back, is_workload
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.versions.history import History
from gate.errors import RefusedError
from gate.kube.answers.failures import ApiError, Forbidden, NotFound, Rejected, role_hint
from gate.kube.client.client import Client
from gate.kube.client.repetition import Limits
from gate.kube.locks.kept_secrets import KeptSecrets
from gate.kube.locks.lease import Leases
from gate.kube.locks.verified_secrets import VerifiedSecrets
from gate.kube.paths.resources import LEASES
from gate.kube.rights.access import Access, Permission

LIMITS: Final = Limits(answer_seconds=5.0, write_seconds=5.0, retry_seconds=5.0)
"""Limits of requests about locks: one that hangs must not cost the lock that it renews."""
_PLAIN_NAME: Final = 40

# -- taking ----------------------------------------------------------------------------------------


def take_locks(
    session: Session,
    settings: Settings,
    console: Console,
    world: World,
    locks: Iterable[Lock],
    *,
    recovers: bool = False,
) -> Keeper | None:
    """Take locks and hold them until the session's end; None if the run goes without locks.

    Raises Locked if somebody holds one for longer than `--lock-wait`. If permissions are missing,
    the run warns and goes on without lock and record, or is refused with `--require-lock`.
    A run that `recovers` always needs its locks.
    """
    wanted = sorted(set(locks))
    if not wanted or (not settings.lock and not recovers):
        return None
    client = lock_client(session)
    if settings.require_lock:
        _require_rights(client, wanted)
    taking = LockTaking(
        session.clock, Leases(client), _holder(world, console.attempt_id), world.processes
    )
    session.at_end(taking.leave)
    try:
        taken = take_within(taking, settings.lock_wait, console, wanted)
    except (Forbidden, NotFound) as error:
        taking.leave()
        if settings.require_lock or recovers:
            raise
        console.warn(_without(wanted[0], error))
        return None
    except Rejected as error:
        taking.leave()
        goes_without = not settings.require_lock and not recovers
        raise _not_taken(
            wanted[0], error, taking.leases.cluster, goes_without=goes_without
        ) from error
    bodies = _verified_bodies(session, client, settings, console)
    beside = SecretsBeside(KeptSecrets(client), console.warn, taking.from_the_dead)
    keeper = Keeper(session.clock, taking.leases, beside, bodies, taken, console.warn)
    keeper.mask = session.secrets.mask
    keeper.endings.record_stays = console.record_stays
    keeper.holders_before = taking.holders_before
    keeper.start()
    session.at_end(keeper.leave)
    taking.hand_over()
    return keeper


def lock_client(session: Session) -> Client:
    """Return a client with the limits for locks, sharing the session's connections and pace."""
    contact = session.client.contact
    client = Client(session.connection, session.clock, limits=LIMITS, contact=contact)
    client.pace, client.is_beside = session.client.pace, True
    return client


def _verified_bodies(
    session: Session, client: Client, settings: Settings, console: Console
) -> VerifiedBodies:
    return VerifiedBodies(
        VerifiedSecrets(client),
        session.secrets.add_secret,
        console.warn,
        keeps=settings.keep_verified_secrets,
    )


def _holder(world: World, attempt_id: str) -> Holder:
    """Return this attempt as a holder; its name is unique, and people can tell who it is."""
    run = pipeline_run(world.environ)
    job = filter(None, (run.run, run.attempt, run.job))
    name = "/".join(job) or socket.gethostname()[:_PLAIN_NAME]
    return Holder(f"{name} {attempt_id}", run.url, process=world.processes.this())


def _not_taken(
    lock: Lock, error: Rejected, cluster: ClusterName, *, goes_without: bool
) -> RefusedError:
    """Return the error for a Lease that admission rejects, such as a quota of 0, with a hint."""
    hint = "the server rejects its Lease"
    if "quota" in error.message:
        look = cluster.command("kubectl", "describe", "resourcequota", namespace=lock.namespace)
        hint = f"the quota has no room for its Lease: {look}"
    hint += "; to continue without lock and record: --no-lock" if goes_without else ""
    return RefusedError(
        f"{lock}: the lock cannot be taken: {error.message}", reason=error.reason, hint=hint
    )


def _without(lock: Lock, error: ApiError) -> str:
    without = "running without a lock and without a record"
    if isinstance(error, NotFound):
        return f"{without}: {error.message}"
    rule = "get, create, patch leases.coordination.k8s.io"
    return f"{without}: not allowed in namespace {lock.namespace}: {rule}"


# -- permissions -----------------------------------------------------------------------------------


def permissions(namespaces: Iterable[str], secrets_in: Iterable[str] = ()) -> Iterator[Permission]:
    """Yield the permissions for locks and records, and for keeping Secrets in `secrets_in`."""
    for namespace in sorted(set(namespaces)):
        for verb in ("get", "create", "patch"):
            yield Permission(namespace, LEASES.group, LEASES.plural, verb)
    yield from secret_permissions(secrets_in)


def wished_permissions(
    settings: Settings, namespaces: Iterable[str], secrets_in: Iterable[str] = ()
) -> Iterator[Permission]:
    """Yield the permissions for locks if the run takes any; without them it only warns."""
    if settings.lock:
        yield from permissions(namespaces, secrets_in)


def reading_permissions(namespace: str, refs: Iterable[Ref]) -> Iterator[Permission]:
    """Yield the permissions to read the locks of workloads; for a Job all are listed."""
    alone = all(map(has_way_back, refs))
    for verb in ("get",) if alone else ("get", "list"):
        yield Permission(namespace, LEASES.group, LEASES.plural, verb)


def _require_rights(client: Client, locks: Iterable[Lock]) -> None:
    missing = Access(client).missing(permissions(lock.namespace for lock in locks))
    if missing:
        listed = ", ".join(dict.fromkeys(map(str, missing)))
        raise RefusedError(
            f"--require-lock: not allowed: {listed}",
            reason=Reason.FORBIDDEN,
            hint=role_hint(client.connection.cluster, client.connection.namespace),
        )


# -- looking ---------------------------------------------------------------------------------------


def recall_history(session: Session, ref: Ref) -> History:
    """Return what the lock of a workload remembers; an empty history if it cannot be read."""
    try:
        held = Leases(lock_client(session)).read(lock_of(ref))
    except ApiError:
        return History()
    return history_of(held, _unsaid)


def _unsaid(_: str) -> None:
    """Drop a warning: the caller can do without the history."""


def look_at_locks(
    session: Session, settings: Settings, console: Console, refs: Iterable[Ref], seen: Memory
) -> MemorySnapshot:
    """Read the locks of workloads without taking them; report their holders.

    What was `seen` by an earlier look is kept, and neither read nor reported again.
    """
    client = lock_client(session)
    leases, histories = Leases(client), dict[Ref, History]()
    if isinstance(seen, MemorySnapshot):
        histories |= seen.found
    unseen = {ref for ref in refs if is_workload(ref)} - histories.keys()
    for ref in sorted(unseen) if settings.lock else ():
        lock = lock_of(ref)
        try:
            held = leases.read(lock)
        except Forbidden as error:
            console.warn(_without(lock, error))
            break
        if held is not None and not held.is_free:
            console.note("lock", f"{lock} is locked by {held.holder}")
        histories[ref] = history_of(held, console.warn)
    return MemorySnapshot(histories, _verified_bodies(session, client, settings, console))
