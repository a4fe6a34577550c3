"""Taking the locks of an attempt: all or none, waiting for who holds them.

Whether a holder is gone is judged by its Lease's renewal time alone, which has to stay the same
for as long as the Lease says, on our own clock.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gate.app.console import Console
from gate.app.held_locks import history_of
from gate.app.keeping import Keeper
from gate.app.remembering import Histories, secret_permissions
from gate.app.session import Session
from gate.ci.host import pipeline_run
from gate.clock import Clock
from gate.cluster_name import ClusterName
from gate.config import Settings
from gate.core.lock import Lock, lock_of
from gate.core.objects import Ref
from gate.core.outcome import Reason
from gate.core.record import History
from gate.duration import format_seconds
from gate.engine import HEARTBEAT_SECONDS
from gate.errors import RefusedError
from gate.kube.access import Access, Permission
from gate.kube.client import Client
from gate.kube.failures import ApiError, Forbidden, NotFound, ResourceVersionConflict, role_hint
from gate.kube.kept_secrets import KeptSecrets
from gate.kube.lease import Held, Holder, Leases
from gate.kube.repetition import Limits
from gate.kube.resources import LEASES

POLL_SECONDS: Final = 5.0
LIMITS: Final = Limits(answer_seconds=5.0, write_seconds=5.0, retry_seconds=5.0)
"""Of requests about locks: one that hangs must not cost the lock that it renews."""
_PLAIN_NAME: Final = 40

Environment = Mapping[str, str]


class Locked(RefusedError):
    """Somebody else works on it. Exit 3."""

    def __init__(
        self, lock: Lock, holder: Holder, waited_seconds: float, cluster: ClusterName
    ) -> None:
        words = ("rollout-gate", "locks", "--release", str(lock))
        release = cluster.command(*words, namespace=lock.namespace)
        super().__init__(
            f"{lock} is locked by {holder}; waited for {format_seconds(waited_seconds)}",
            reason=Reason.LOCKED,
            hint=f"wait for that run, or longer: --lock-wait 30m; of one that hangs: {release}",
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a lock said when it was seen first like that, on our own clock."""

    holder: str
    renewed: str
    at: float


@dataclass(slots=True)
class _Waiting:
    """Takes a set of locks; remembers since when their holders are silent."""

    clock: Clock
    leases: Leases
    me: Holder
    own_job_at_once: bool
    seen: dict[Lock, _Seen] = field(default_factory=dict)
    from_the_dead: set[Lock] = field(default_factory=set)

    def look(self, locks: Iterable[Lock]) -> dict[Lock, Held | None]:
        """Read locks, and those of the attempts that left a record for them elsewhere."""
        found: dict[Lock, Held | None] = {}
        wanted = sorted(locks)
        while wanted:
            lock = wanted.pop(0)
            found[lock] = held = self.leases.read(lock)
            first = held.holder.locks[:1] if held is not None else ()
            if held is None or not first or first[0] in found or first[0] in wanted:
                continue
            keeper = self.leases.read(first[0])
            if keeper is not None and keeper.record and keeper.holder.locks == held.holder.locks:
                wanted += [other for other in held.holder.locks if other not in (*found, *wanted)]
        return dict(sorted(found.items()))

    def free_at(self, held: Held | None) -> float:
        """Return when a lock may be taken, by all that is known now."""
        now = self.clock.now()
        if held is None or held.is_free or held.holder.identity == self.me.identity:
            return now
        if self.own_job_at_once and held.holder.is_same_job(self.me):
            return now
        seen = self.seen.get(held.lock)
        if seen is None or (seen.holder, seen.renewed) != (held.holder.identity, held.renewed):
            seen = self.seen[held.lock] = _Seen(held.holder.identity, held.renewed, now)
        return seen.at + held.seconds

    def take(self, found: Mapping[Lock, Held | None]) -> tuple[Held, ...] | None:
        """Take locks as they were read; None, and none taken, where somebody was faster."""
        me, now = replace(self.me, locks=tuple(found)), self.clock.wall()
        taken: list[Held] = []
        try:
            for lock, held in found.items():
                made = self._taken(lock, held, me, now)
                if made is None:
                    break
                taken.append(made)
        except ResourceVersionConflict:
            pass
        except ApiError:
            self._give_back(taken)
            raise
        if len(taken) == len(found):
            self.from_the_dead = {k for k, held in found.items() if held and not held.is_free}
            return tuple(taken)
        self._give_back(taken)
        return None

    def _taken(self, lock: Lock, held: Held | None, me: Holder, now: datetime) -> Held | None:
        """Take one lock, None where somebody was faster; where the answer is lost, read it back."""
        try:
            if held is not None:
                return self._claimed(held, me, now)
            return self.leases.create(lock, me, now)
        except ApiError as error:
            if error.untouched or not error.transient:
                raise
            seen = self.leases.read(lock)
            return seen if seen is not None and seen.holder.identity == me.identity else None

    def _claimed(self, held: Held, me: Holder, now: datetime) -> Held | None:
        """Take over a Lease, None where its holder has deleted it just now."""
        try:
            return self.leases.claim(held, me, now)
        except NotFound:
            return None

    def _give_back(self, taken: Iterable[Held]) -> None:
        for held in taken:
            try:
                self.leases.release(held, {}, self.clock.wall())
            except ApiError:
                continue  # it expires


# -- taking ----------------------------------------------------------------------------------------


def locked(
    session: Session,
    settings: Settings,
    console: Console,
    environ: Environment,
    locks: Iterable[Lock],
    *,
    recovers: bool = False,
) -> Keeper | None:
    """Take locks and keep them until the session's end; None where that is not to be.

    Raises Locked where somebody holds one for longer than `--lock-wait`. Without the rights for
    it the run goes on without lock and record after a warning, or is refused, `--require-lock`.
    Who `recovers` cannot do without, and need not wait for an earlier step of its own job.
    """
    wanted = sorted(set(locks))
    if not wanted or (not settings.lock and not recovers):
        return None
    client = lock_client(session)
    if settings.require_lock:
        _require_rights(client, wanted)
    run = pipeline_run(environ)
    job = (run.run, run.attempt, run.job)
    me = Holder(_identity(job, console.attempt_id), *job, run.url)
    waiting = _Waiting(session.clock, Leases(client), me, recovers)
    try:
        taken = _waited(waiting, settings.lock_wait, console, wanted)
    except (Forbidden, NotFound) as error:
        if settings.require_lock or recovers:
            raise
        console.warn(_without(wanted[0], error))
        return None
    keeper = Keeper(
        session.clock,
        waiting.leases,
        KeptSecrets(client),
        taken,
        console.warn,
        from_the_dead=waiting.from_the_dead,
    )
    keeper.mask = session.secrets.mask
    keeper.start()
    session.at_end(keeper.leave)
    return keeper


def lock_client(session: Session) -> Client:
    """Return a client with the limits of locks, on the session's connections and at its pace."""
    contact = session.client.contact
    client = Client(session.connection, session.clock, limits=LIMITS, contact=contact)
    client.pace = session.client.pace
    return client


def _identity(job: Iterable[str], attempt_id: str) -> str:
    """Return a name for this attempt that no other has, and that tells people who it is."""
    name = "/".join(filter(None, job)) or socket.gethostname()[:_PLAIN_NAME]
    return f"{name} {attempt_id}"


def _waited(
    waiting: _Waiting, seconds: float, console: Console, locks: Iterable[Lock]
) -> tuple[Held, ...]:
    clock = waiting.clock
    started_at = clock.now()
    told, told_at = "", started_at
    while True:
        found = waiting.look(locks)
        free_at = {lock: waiting.free_at(held) for lock, held in found.items()}
        busy = [lock for lock in found if free_at[lock] > clock.now()]
        if not busy:
            taken = waiting.take(found)
            if taken is not None:
                return taken
            busy = [*found]
        held, waited = found[busy[0]], clock.now() - started_at
        holder = held.holder if held is not None else Holder("somebody else")
        if waited >= seconds:
            raise Locked(busy[0], holder, waited, waiting.leases.cluster)
        if holder.identity != told or clock.now() >= told_at + HEARTBEAT_SECONDS:
            told, told_at = holder.identity, clock.now()
            console.note("lock", f"{busy[0]} is locked by {holder}; waiting")
        until = min(free_at[busy[0]], clock.now() + POLL_SECONDS, started_at + seconds)
        clock.wait(max(until - clock.now(), _LEAST_NAP_SECONDS))


_LEAST_NAP_SECONDS: Final = 0.2


def _without(lock: Lock, error: ApiError) -> str:
    if isinstance(error, NotFound):
        return f"no lock is held and no record is kept: {error.message}"
    rule = "get, create, patch leases.coordination.k8s.io"
    return (
        f"no lock is held and no record is kept: not allowed in namespace {lock.namespace}: {rule}"
    )


# -- rights ----------------------------------------------------------------------------------------


def permissions(namespaces: Iterable[str], secrets_in: Iterable[str] = ()) -> Iterator[Permission]:
    """Yield what locks and records take; Secrets are kept where the attempt changes some."""
    for namespace in sorted(set(namespaces)):
        for verb in ("get", "create", "patch"):
            yield Permission(namespace, LEASES.group, LEASES.plural, verb)
    yield from secret_permissions(secrets_in)


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


def looked(
    session: Session, settings: Settings, console: Console, refs: Iterable[Ref]
) -> Histories:
    """Look at the locks of Deployments without taking them; say who holds one."""
    leases, histories = Leases(lock_client(session)), dict[Ref, History]()
    for ref in sorted(ref for ref in refs if ref.kind == "Deployment") if settings.lock else ():
        lock = lock_of(ref.namespace, ref.name)
        try:
            held = leases.read(lock)
        except Forbidden as error:
            console.warn(_without(lock, error))
            break
        if held is not None and not held.is_free:
            console.note("lock", f"{lock} is locked by {held.holder}")
        histories[ref] = history_of(held, console.warn)
    return Histories(histories)
