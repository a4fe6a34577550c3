"""A workload as the live tree shows it, from a snapshot of what is known now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.core.model.fact import Absent
from gate.core.model.objects import Workload
from gate.core.model.outcome import ON_THEIR_WAY
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout, Verdict, VerdictKind
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import CURRENT, call_others
from gate.report.document.branches import Branch, branches_of
from gate.report.document.pods import PodRank, alike
from gate.report.kinds import registry
from gate.report.live.view import Mark, PodGroup, PodView, RevisionView, WorkloadView

MARKS: Final = {
    VerdictKind.COMPLETE: Mark.GOOD,
    VerdictKind.FAILED: Mark.BAD,
    VerdictKind.SUPERSEDED: Mark.UNSURE,
    VerdictKind.EMPTIED: Mark.UNSURE,
    VerdictKind.PROGRESSING: Mark.MOVING,
    VerdictKind.HELD: Mark.UNSURE,
}
_POD_MARKS: Final = {
    PodRank.FAILING: Mark.BAD,
    PodRank.HINDERED: Mark.UNSURE,
    PodRank.STARTING: Mark.MOVING,
    PodRank.RESTARTED: Mark.UNSURE,
    PodRank.OVER: Mark.QUIET,
    PodRank.READY: Mark.GOOD,
}
_ROLES: Final = ("back", "new", "failed", CURRENT)
"""In the order in which they are shown; the others come after them."""


def rollout_view(
    rollout: Rollout, now: float, roles: Mapping[str, str] | None = None
) -> WorkloadView:
    """Return the view of a workload that is followed; `roles` are those of versions, by uid.

    Without `roles` nobody knows which is newer: the live one is current. `now` is monotonic
    seconds of the rollout's clock.
    """
    verdict, snapshot = rollout.verdict(now), rollout.snapshot
    causes = verdict.causes or rollout.causes(now)
    given = {snapshot.current_uid: CURRENT} if roles is None else roles
    return WorkloadView(
        str(rollout.ref),
        rollout.ref.namespace,
        MARKS[verdict.kind],
        words_of(verdict),
        _cause(causes),
        tuple(_versions(snapshot, given)),
        registry.of_ref(rollout.ref),
    )


def _cause(causes: Sequence[Cause]) -> str:
    """Return the most telling cause; pods that are on their way say so themselves."""
    telling = (cause for cause in causes if cause.reason not in ON_THEIR_WAY)
    return next((f"{cause.reason}: {cause.message}" for cause in telling), "")


def words_of(verdict: Verdict) -> str:
    """Return a verdict in one line; one that is progressing or complete says how far it is."""
    if verdict.kind in (VerdictKind.PROGRESSING, VerdictKind.COMPLETE):
        return verdict.message
    return f"{verdict.reason}: {verdict.message}"


def snapshot_view(snapshot: Snapshot, roles: Mapping[str, str]) -> WorkloadView:
    """Return the view of a workload that is not followed now: before a write, what runs."""
    live = snapshot.live
    missing = "does not exist" if isinstance(snapshot.workload, Absent) else "not read yet"
    words = f"{_available(snapshot, live)} of {live.replicas} pods available" if live else missing
    parts = tuple(_versions(snapshot, roles))
    kind = registry.of_ref(snapshot.ref)
    return WorkloadView(
        str(snapshot.ref), snapshot.ref.namespace, Mark.QUIET, words, "", parts, kind
    )


def _versions(snapshot: Snapshot, roles: Mapping[str, str]) -> Iterator[RevisionView]:
    """Yield the versions that have a role or pods, or want pods."""
    branches = branches_of(snapshot)
    shown = [one for one in branches if one.uid in roles or one.has_pods]
    rest = call_others(CURRENT) if CURRENT in roles.values() else "old"
    for branch in sorted(shown, key=lambda one: _place(roles.get(one.uid, rest))):
        found = _version(branch, roles.get(branch.uid, rest))
        yield replace(found, short=branch.name.removeprefix(f"{snapshot.ref.name}-"))


def _available(snapshot: Snapshot, live: Workload) -> int:
    return snapshot.kind.status_counts(live).available


def _place(role: str) -> int:
    return _ROLES.index(role) if role in _ROLES else len(_ROLES)


def _version(branch: Branch, role: str) -> RevisionView:
    return RevisionView(
        role,
        branch.name,
        branch.name,
        ", ".join(branch.images),
        branch.count.ready,
        branch.count.wanted,
        tuple(
            PodGroup(
                _POD_MARKS[state.rank],
                state.kind,
                tuple(PodView(pod.name, said.text) for pod, said in group),
            )
            for group in alike(branch.pods)
            for state in (group[0][1],)
        ),
        branch.failure,
    )
