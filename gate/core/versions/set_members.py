"""The objects beside the workloads that a return to verified versions restores, or cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.core.kinds.registry import is_workload
from gate.core.model.body import NOTHING
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.live_object import LiveFacts
from gate.core.model.objects import CleanText, Ref
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion
from gate.core.versions.return_doubts import left_unverified
from gate.core.versions.shared_members import SharedMember, shared_members

_NO_BODY: Final = CleanText("what was verified of it is not remembered, and it has changed since")
_NOT_OURS: Final = CleanText("somebody else had changed it when that version was verified")
_NOT_NAMED: Final = CleanText("this run does not write it, and it has changed since")
_NOT_VERIFIED: Final = CleanText("this run does not write it, and it stands unverified")
_NO_VALUES: Final = CleanText("its environment values are not remembered, and it has changed since")
_LEFT_UNVERIFIED: Final = CleanText(
    "an attempt that was not verified left it as it is, and no other verified version is remembered"
)
_BROUGHT_UNVERIFIED: Final = CleanText(
    "an attempt that was not verified brought it, and the version that is returned to had none"
)
_UNREAD: Final = CleanText("this run does not write it, and it could not be read")


def configuration(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[Ref, str, Ref]]:
    """Yield the manifest's other objects that are not as they are to be returned.

    Each comes with its digest of then and the workload whose lock remembers it: as it was verified,
    or as a workload that stays was verified with it since.
    """
    followed = {target.ref for target in candidates.targets}
    before = candidates.before()
    kept = {one.ref: (one.digest, one.workload) for one in find_shared(candidates, returns)}
    for ref, found in {**_verified_members(candidates, returns), **kept}.items():
        if ref in before and ref not in followed and before[ref] != found[0]:
            yield ref, *found


def find_shared(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> tuple[SharedMember, ...]:
    """Return the members of the versions that neighbours need in another state."""
    neighbours = candidates.neighbours
    digests = {**candidates.live_digests(), **neighbours.digests}
    histories = neighbours.histories
    return tuple(
        one
        for ref, version in returns.items()
        for one in shared_members(version, ref, histories, digests, returned=())
    )


def _verified_members(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> dict[Ref, tuple[str, Ref]]:
    """Return each object's last verified digest, and the workload whose lock remembers it.

    The sets of several attempts overlap: what a later one did not name stayed as it was.
    """
    newest_first = sorted(
        _versions(candidates, returns), key=lambda pair: pair[0].judged_at, reverse=True
    )
    found: dict[Ref, tuple[str, Ref]] = {}
    for version, workload in newest_first:
        for ref, digest in version.members.items():
            found.setdefault(ref, (digest, workload))
    return found


def left_beside(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the other objects that are live but unverified, with nothing to return them to.

    A failed rollback left them: the earlier version beside the bad one's configuration. Or the
    version that is returned to is from before they existed.
    """
    live_digests, verified = candidates.live_digests(), _verified_members(candidates, returns)
    for target in candidates.targets:
        why = _BROUGHT_UNVERIFIED if target.ref in returns else _LEFT_UNVERIFIED
        left = left_unverified(target, candidates.history(target.ref), live_digests)
        for ref, digest in left.members.items() if left is not None else ():
            is_known = target.ref in returns and ref in verified
            if not (is_workload(ref) or is_known) and digest and live_digests.get(ref) == digest:
                yield ref, why


def why_without_body(history: History, digest: str) -> CleanText:
    """Return why the content of a digest cannot be written back."""
    if not digest:
        return _NOT_OURS
    return _NO_VALUES if digest in history.bodies else _NO_BODY


def _versions(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[JudgedVersion, Ref]]:
    """Yield the versions that are returned to, and those verified before them.

    Each comes with the workload whose lock remembers it.
    """
    for ref, version in returns.items():
        verified = candidates.history(ref).verified
        for one in verified[verified.index(version) :]:
            yield one, ref


def changed_unnamed(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion], others: LiveFacts
) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the members of a set that are not in the manifest and no longer as verified."""
    for ref, (digest, _) in _verified_members(candidates, returns).items():
        if ref not in others:
            continue
        match others[ref]:
            case Unknown():
                yield ref, _UNREAD
            case Known(live) if applied_digest(live) == digest:
                continue
            case Known(live) if is_workload(ref):
                if _is_left_unverified(candidates, ref, applied_digest(live)):
                    yield ref, _NOT_VERIFIED
            case Absent() if digest == NOTHING or is_workload(ref):
                continue
            case _:
                yield ref, _NOT_NAMED


def _is_left_unverified(candidates: Candidates, ref: Ref, digest: str) -> bool:
    """Tell whether a workload beside the manifest is as an attempt left it, unverified.

    If not, it has gone on by itself, with a history of its own.
    """
    judged = {
        one.verified
        for found in candidates.histories.values()
        for one in found.versions
        if one.members.get(ref) == digest
    }
    return judged == {False}
