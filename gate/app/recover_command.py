"""The command `recover`: finds what dead gates left in a namespace, and finishes it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Final

from gate import signals
from gate.app import arrival
from gate.app.finishing import Passed, Run
from gate.app.guards import refuse_protected
from gate.app.keeping import Keeper
from gate.app.live import read_object
from gate.app.lock_taking import Locked, record_place
from gate.app.locking import lock_client, locked
from gate.app.locks import read_locks
from gate.app.recover import ENDS_ALL, Recovery
from gate.app.session import Session, guarded
from gate.app.world import World
from gate.core.attempt import Attempt
from gate.core.holder import Holder, is_proven_dead
from gate.core.lock import Lock, lock_of
from gate.core.objects import deployment_ref
from gate.core.outcome import worst
from gate.errors import RefusedError, UsageError
from gate.kube.lease import Held, Leases
from gate.report.headline import RECOVERED
from gate.signals import Delivery
from gate.sources.source import Sources

NOTHING_LEFT: Final = Passed("nothing is left to be finished")


def recover(recovery: Recovery, session: Session, names: tuple[str, ...]) -> Run | Passed:
    """Prepare to finish attempts: on some Deployments, of the namespace, or of all of them.

    RefusedError for a name that neither a lock nor a Deployment has.
    """
    settings, console = recovery.settings, recovery.console
    if settings.all_namespaces and names:
        raise UsageError("a NAME and --all-namespaces: a Deployment is named in its namespace")
    arrival.announce(session, console, everywhere=settings.all_namespaces)
    here = [] if settings.all_namespaces else [session.namespace]
    arrival.check_cluster(session, settings, console, here)
    leases = Leases(lock_client(session))
    if names:
        found = {name: leases.read(lock_of(session.namespace, name)) for name in names}
        for name in (name for name, held in found.items() if held is None):
            read_object(session, deployment_ref(session.namespace, name))
        seen = [held for held in found.values() if held is not None]
        places = _record_places(leases, seen)
    else:
        seen = list(read_locks(session, settings, "recover"))
        places = {held.lock: held for held in seen if held.record}
    abandoned = _abandoned(recovery.world, seen, places.values())
    if not (places or abandoned):
        return NOTHING_LEFT
    if settings.all_namespaces:
        namespaces = {lock.namespace for lock in (*places, *abandoned)}
        refuse_protected(sorted(namespaces), settings.protected_namespace)
    return partial(_finish_all, recovery, list(places), abandoned)


def _record_places(leases: Leases, seen: Iterable[Held]) -> dict[Lock, Held]:
    """Return where the records stand: that of several Deployments stands in the first's lock."""
    places = (record_place(leases, held) for held in seen)
    return {place.lock: place for place in places if place is not None}


def _abandoned(world: World, seen: Iterable[Held], places: Iterable[Held]) -> list[Lock]:
    """Return the locks of gates that died before they wrote anything, as this machine proves."""
    me = Holder("", process=world.processes.this())
    recorded = {lock for place in places for lock in (place.lock, *place.holder.locks)}
    return [
        held.lock
        for held in seen
        if not (held.is_free or held.lock in recorded)
        and is_proven_dead(held.holder, me, world.processes.has_ended)
    ]


def _finish_all(
    recovery: Recovery, places: list[Lock], abandoned: list[Lock], delivered: Delivery
) -> Attempt | Passed:
    """Finish one after another; the worst end counts."""
    if abandoned:
        _give_back(recovery, abandoned, delivered)
    ended: list[Attempt] = []
    refused: list[RefusedError] = []
    for place in places:
        try:
            ended += _finished(recovery, place, delivered)
        except RefusedError as error:
            recovery.console.warn(error.message)
            refused.append(error)
        except signals.Signalled as signalled:
            signalled.after_recovery = bool(ended)
            raise
        if ended and ended[-1].outcome in ENDS_ALL:
            return ended[-1]
    everywhere = recovery.settings.all_namespaces
    for attempt in ended if refused or len(ended) > 1 else ():
        targets = ", ".join(
            f"{target.ref} in {target.ref.namespace}" if everywhere else str(target.ref)
            for target in attempt.plan.targets
        )
        recovery.console.note(RECOVERED, f"{targets}: {attempt.outcome.value}")
    if refused:
        refused[0].after_recovery = bool(ended)
        raise refused[0]
    outcome = worst(attempt.outcome for attempt in ended)
    return next((one for one in ended if one.outcome is outcome), None) or NOTHING_LEFT


def _finished(recovery: Recovery, place: Lock, delivered: Delivery) -> list[Attempt]:
    """Take the locks of an attempt, as soon as its gate is gone, and finish it."""
    with ExitStack() as stack:
        keeper = _taken(recovery, stack, [place], delivered)
        if keeper is None:
            return []
        ended = (recovery.finish(keeper, lock, delivered) for lock in keeper.open_records)
        return [attempt for attempt in ended if attempt is not None]


def _give_back(recovery: Recovery, locks: list[Lock], delivered: Delivery) -> None:
    """Give back what dead gates hold and never wrote under; what somebody has by now is theirs."""
    at_once = replace(recovery, settings=recovery.settings.model_copy(update={"lock_wait": 0.0}))
    for lock in locks:
        with suppress(Locked), ExitStack() as stack:
            _taken(at_once, stack, [lock], delivered)
            recovery.console.note("recover", f"{lock}: its gate died before it wrote anything")


def _taken(
    recovery: Recovery, stack: ExitStack, locks: list[Lock], delivered: Delivery
) -> Keeper | None:
    """Take locks in a session of their own, until the stack is closed."""
    world, settings = recovery.world, recovery.settings
    session = stack.enter_context(guarded(world, settings, Sources({})))
    with signals.raised(delivered):
        return locked(session, settings, recovery.console, world, locks, recovers=True)
