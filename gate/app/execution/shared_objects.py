"""Which objects that an attempt created other runs of the gate have come to use.

Another run that applies the very same object leaves no trace in it: only the Lease of its
workload says what it was verified with, and its record what it is working on.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.app.locks.command_locks import lock_client
from gate.app.runtime.session import Session
from gate.core.kinds.registry import locks_of
from gate.core.model.body import FrozenMap
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import FindUsers
from gate.core.protocol.events import UsersFound
from gate.core.ssa.applied_fields import applied_digest
from gate.kube.answers.failures import ApiError, Forbidden
from gate.kube.locks.lease import Held, Leases
from gate.wire.decode import DecodeError
from gate.wire.history import read_history
from gate.wire.record import read_record


def answer_with_users(session: Session, plan: Plan, effect: FindUsers) -> UsersFound:
    """Answer which objects that an attempt created others use, by the Leases in their namespaces.

    If the server does not answer, or we may not list Leases, that is unknown: then they all stay.
    """
    own = locks_of((one.ref for one in plan.objects), session.namespace)
    held: dict[Ref, str] = {}
    for namespace in sorted({ref.namespace for ref in effect.created}):
        there = {ref: live for ref, live in effect.created.items() if ref.namespace == namespace}
        try:
            leases = Leases(lock_client(session)).all(namespace)
        except Forbidden:
            why = f"it takes the right to list Leases in {namespace} to tell who else uses it"
            held |= dict.fromkeys(there, why)
            continue
        except ApiError as error:
            why = f"the other users of this object could not be read: {error.message}"
            held |= dict.fromkeys(there, why)
            continue
        for other in leases:
            if other.lock not in own:
                held |= dict(_find_used(other, there))
    return UsersFound(session.clock.now(), effect.effect_id, FrozenMap(held))


def _find_used(other: Held, created: dict[Ref, LiveObject]) -> Iterator[tuple[Ref, str]]:
    """Yield what another lock's workload was verified with, or its unfinished attempt needs.

    That is all of them if what the lock remembers cannot be read: a newer gate may have written it.
    """
    try:
        verified = read_history(other.history).once_verified
        under_way = {one.ref for one in read_record(other.record).objects} if other.record else ()
    except DecodeError as error:
        why = f"whether {other.lock} uses it cannot be read: {error}"
        yield from dict.fromkeys(created, why).items()
        return
    for ref, live in created.items():
        if any(one.members.get(ref) == applied_digest(live) for one in verified):
            yield ref, f"{other.lock} was verified with it"
        elif ref in under_way:
            yield ref, f"the attempt of {other.lock} that is not finished needs it"
