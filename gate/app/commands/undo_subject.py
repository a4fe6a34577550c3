"""What an undo is about: the live workload, its history, and the live objects of its sets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace

from gate.app.command_context import CommandContext
from gate.app.locks.command_locks import wished_permissions
from gate.app.locks.memory import Memory
from gate.app.preflight import first_questions
from gate.app.preflight.neighbours import read_neighbours
from gate.app.preflight.replicas import scaler_permissions
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import Live, read_facts, read_live
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of, workload_ref
from gate.config import Settings
from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.fact import Known, Unknown
from gate.core.model.live_object import LiveFacts
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.history import History
from gate.core.versions.judged_version import template_digest
from gate.core.versions.shared_members import Neighbours
from gate.core.versions.undo_choice import revision_name, rolled_back_from
from gate.errors import RefusedError
from gate.kube.answers.failures import Forbidden
from gate.kube.rights.access import list_needed


@dataclass(frozen=True, slots=True)
class UndoSubject:
    """One undo before its plan: what runs, what is remembered, and the sets' live objects.

    `neighbours` are the workloads, not of its sets, that were verified with objects of them, and
    the attempts of other runs that need these.
    """

    session: Session
    settings: Settings
    console: Console
    live: Live
    memory: Memory
    lives: LiveFacts
    neighbours: Neighbours = field(default_factory=Neighbours)

    @property
    def ref(self) -> Ref:
        """Return the workload that was named."""
        return self.live.object.ref

    @property
    def history(self) -> History:
        """Return what is remembered of the workload."""
        return self.memory.history(self.ref)

    def histories(self) -> dict[Ref, History]:
        """Return what is remembered of each workload of its sets, and of its neighbours."""
        of_sets = (self.ref, *sorted(deployments_of(self.history) - {self.ref}))
        return {
            **{ref: self.memory.history(ref) for ref in of_sets},
            **self.neighbours.histories,
        }

    def with_neighbours(self, shared: Collection[Ref]) -> UndoSubject:
        """Return the undo with the neighbours that were verified with one of some objects.

        What could not be read of them is a warning.
        """
        if not shared:
            return self
        found = read_neighbours(self.session, shared, self.histories())
        if found.unread:
            names, why = ", ".join(map(str, sorted(shared))), "; ".join(found.unread)
            self.console.warn(f"which other workloads need {names} could not all be read: {why}")
        return replace(self, neighbours=found)

    def digests(self) -> dict[Ref, str]:
        """Return the digest of what our manager currently applies of each object."""
        return {
            ref: applied_digest(fact.value if isinstance(fact, Known) else None)
            for ref, fact in self.lives.items()
        }

    def find_attempt(self, ref: Ref) -> Lock | None:
        """Return the lock of another run's attempt that is to leave an object as it is, or None."""
        fact = self.lives.get(ref)
        digest = applied_digest(fact.value) if isinstance(fact, Known) else None
        return self.neighbours.find_attempt(ref, digest)

    def command(self, verb: str, *flags: str) -> str:
        """Return a command about the workload, ready to paste."""
        words = ("rollout-gate", verb, argument_of(self.ref), *flags)
        return self.session.connection.cluster.command(*words, namespace=self.ref.namespace)


def deployments_of(history: History) -> set[Ref]:
    """Return the workloads of the sets that were verified."""
    return {ref for one in history.once_verified for ref in one.members if is_workload(ref)}


def read_subject(context: CommandContext, name: str) -> UndoSubject:
    """Read what runs, and the live state of every object of the verified versions."""
    session, settings, memory = context.session, context.settings, context.memory
    ref = workload_ref(session.namespace, name)
    removes = settings.replace_blocked_pods
    needs = list_needed(session.resources, [ref], creates=(), removes=removes)
    try:
        live = read_live(session, name)
    except Forbidden:
        wished = (*wished_permissions(settings, [session.namespace]), *scaler_permissions([ref]))
        first_questions.check_access(session, name, needs, wished)
        raise
    history = memory.history(ref)
    members = {member for one in history.once_verified for member in one.members} - {ref}
    if settings.deployment_only:
        members = set()
    wanted = sorted(members)
    lives = {ref: Known(live.object), **read_facts(session, wanted)}
    found = UndoSubject(session, settings, context.console, live, memory, lives)
    _refuse_unread(found)
    return found


def describe_rollback(found: UndoSubject) -> str:
    """Say that a rollback already left the version which somebody may mean to undo, and why.

    "" if the last attempt was not rolled back, or if something else runs since.
    """
    left = rolled_back_from(found.live.snapshot, found.history)
    if left is None or left.why is None:
        return ""
    what = ", ".join(left.images)
    if left.template == template_digest(found.live.workload.template):
        what = f"a restart of {what}"
    return (
        f"{found.ref} was rolled back already, from {what} at {left.judged_at} ({left.why.reason})"
    )


def running_name(found: UndoSubject) -> str:
    """Return the name of the revision that a workload is to run."""
    current = found.live.snapshot.current()
    return revision_name(current) if current is not None else "it"


def _refuse_unread(found: UndoSubject) -> None:
    """Refuse if an object of a verified set could not be read: the choice depends on it."""
    unread = {ref: fact.why for ref, fact in found.lives.items() if isinstance(fact, Unknown)}
    if not unread:
        return
    session = found.session
    removes = found.settings.replace_blocked_pods
    needs = list_needed(session.resources, [found.ref, *unread], creates=(), removes=removes)
    locks = wished_permissions(found.settings, [session.namespace])
    wished = (*locks, *scaler_permissions([found.ref]))
    first_questions.check_access(session, found.ref.name, needs, wished)
    ref, why = next(iter(unread.items()))
    raise RefusedError(
        f"{ref} could not be read: {why}",
        reason=Reason.UNREACHABLE,
        hint=f"the pod template alone: {found.command('undo', '--deployment-only')}",
    )
