"""Which objects a return shares with workloads that it does not return, and what those need.

The sets of several attempts overlap: what a later attempt on another workload wrote to a shared
object was beside this one, too, until the attempt that is undone. A lock knows the objects that
its workload was applied with, not which of them its pods use. The record of an attempt that is
not finished says what it is to leave an object as.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import FrozenMap
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref
from gate.core.plan.record import Record
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Workloads with a lock that a command does not hold: what it remembers, and what runs.

    `digests` are those of what our manager currently applies of each workload (`applied_digest`).
    `attempts` are those of other runs that are not finished, by the lock that has the record.
    `unread` says of which namespaces or locks that could not be read, and why.
    """

    histories: Mapping[Ref, History] = field(default_factory=dict)
    digests: Mapping[Ref, str] = field(default_factory=dict)
    attempts: Mapping[Lock, Record] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def find_attempt(self, ref: Ref, digest: str | None) -> Lock | None:
        """Return the lock of an attempt that is to leave an object so, None if there is none."""
        if is_workload(ref) or digest is None:
            return None
        found = (one for one, record in self.attempts.items() if record.is_to_leave(ref, digest))
        return next(found, None)


@dataclass(frozen=True, slots=True)
class SharedMember:
    """An object as a workload that stays was verified with it.

    `is_live` is whether it still has that digest: then it cannot be returned without that
    workload.
    """

    ref: Ref
    digest: str
    workload: Ref
    is_live: bool


def shared_members(
    version: JudgedVersion,
    own: Ref,
    histories: Mapping[Ref, History],
    digests: Mapping[Ref, str],
    returned: Collection[Ref],
) -> tuple[SharedMember, ...]:
    """Return the members of a version of `own` that workloads which stay need in another state.

    For each object the newest verified version of another workload counts, if it was verified no
    earlier than `version`, runs by `digests`, and is not `returned` too. A workload that runs as
    `version` itself had it belongs to that set.
    """
    found: dict[Ref, SharedMember] = {}
    stay = _that_stay(version, frozenset((own, *returned)), histories, digests)
    for workload, one in sorted(stay, key=lambda pair: pair[1].judged_at):
        for ref, wanted in version.members.items():
            digest = one.members.get(ref)
            if not is_workload(ref) and digest and digest != wanted:
                found[ref] = SharedMember(ref, digest, workload, digest == digests.get(ref))
    return tuple(found.values())


def with_shared_members(version: JudgedVersion, shared: Collection[SharedMember]) -> JudgedVersion:
    """Return a version with its shared objects as the workloads that stay need them."""
    needed = {one.ref: one.digest for one in shared if not one.is_live}
    return replace(version, members=FrozenMap({**version.members, **needed}))


def _that_stay(
    version: JudgedVersion,
    returned: frozenset[Ref],
    histories: Mapping[Ref, History],
    digests: Mapping[Ref, str],
) -> Iterator[tuple[Ref, JudgedVersion]]:
    for ref, history in histories.items():
        runs_as_then = version.members.get(ref) == digests.get(ref)
        if ref in returned or runs_as_then:
            continue
        runs = (one for one in history.unrevoked if one.members.get(ref) == digests.get(ref))
        newest = next(runs, None)
        if newest is not None and newest.judged_at >= version.judged_at:
            yield ref, newest
