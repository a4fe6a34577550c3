"""A Deployment as the live tree shows it, from a snapshot of what is known now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.core.model.fact import Absent
from gate.core.model.objects import ReplicaSet
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.judge import Rollout, Verdict, VerdictKind
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.snapshot import Snapshot
from gate.report.document.pods import PodRank, alike
from gate.report.live.view import DeploymentView, Mark, PodGroup, PodView, ReplicaSetView

MARKS: Final = {
    VerdictKind.COMPLETE: Mark.GOOD,
    VerdictKind.FAILED: Mark.BAD,
    VerdictKind.SUPERSEDED: Mark.UNSURE,
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
_ROLES: Final = ("back", "new", "failed")
"""In the order in which they are shown; those that are merely old come after them."""


def rollout_view(
    rollout: Rollout, now: float, roles: Mapping[str, str] | None = None
) -> DeploymentView:
    """Return the view of a Deployment that is followed; `roles` are those of ReplicaSets, by uid.

    Without `roles` the followed one is new. `now` is monotonic seconds of the rollout's clock.
    """
    verdict, snapshot = rollout.verdict(now), rollout.snapshot
    causes = verdict.causes or rollout.causes(now)
    given = {snapshot.current_uid: "new"} if roles is None else roles
    return DeploymentView(
        str(rollout.ref),
        rollout.ref.namespace,
        MARKS[verdict.kind],
        words_of(verdict),
        _cause(causes),
        tuple(_replica_sets(snapshot, given)),
    )


def _cause(causes: Sequence[Cause]) -> str:
    """Return the most telling cause; pods that are on their way say so themselves."""
    telling = (cause for cause in causes if cause.reason is not Reason.NOT_READY)
    return next((f"{cause.reason}: {cause.message}" for cause in telling), "")


def words_of(verdict: Verdict) -> str:
    """Return a verdict in one line; one that is progressing or complete says how far it is."""
    if verdict.kind in (VerdictKind.PROGRESSING, VerdictKind.COMPLETE):
        return verdict.message
    return f"{verdict.reason}: {verdict.message}"


def snapshot_view(snapshot: Snapshot, roles: Mapping[str, str]) -> DeploymentView:
    """Return the view of a Deployment that is not followed now: before a write, what runs."""
    live = snapshot.live
    missing = "does not exist" if isinstance(snapshot.workload, Absent) else "not read yet"
    words = f"{live.available_replicas} of {live.replicas} pods available" if live else missing
    parts = tuple(_replica_sets(snapshot, roles))
    return DeploymentView(
        str(snapshot.ref), snapshot.ref.namespace, Mark.QUIET, words, replica_sets=parts
    )


def _replica_sets(snapshot: Snapshot, roles: Mapping[str, str]) -> Iterator[ReplicaSetView]:
    """Yield the ReplicaSets that have a role or pods, or want pods."""
    owned = sorted(snapshot.list_owned(), key=lambda rs: -(rs.revision or 0))
    shown = [rs for rs in owned if rs.uid in roles or rs.replicas or rs.status_replicas]
    shown.sort(key=lambda rs: _place(roles.get(rs.uid, "old")))
    pods: dict[str, list[PodTrack]] = {}
    for track in snapshot.pods.values():
        pods.setdefault(track.pod.owner_uid, []).append(track)
    for replica_set in shown:
        role = roles.get(replica_set.uid, "old")
        found = _replica_set(replica_set, role, pods.get(replica_set.uid, []))
        yield replace(found, short=replica_set.name.removeprefix(f"{snapshot.ref.name}-"))


def _place(role: str) -> int:
    return _ROLES.index(role) if role in _ROLES else len(_ROLES)


def _replica_set(replica_set: ReplicaSet, role: str, pods: list[PodTrack]) -> ReplicaSetView:
    failure = replica_set.failure
    return ReplicaSetView(
        role,
        replica_set.name,
        replica_set.name,
        ", ".join(replica_set.template.images()),
        replica_set.ready_replicas,
        replica_set.replicas,
        tuple(
            PodGroup(
                _POD_MARKS[state.rank],
                state.kind,
                tuple(PodView(pod.name, said.text) for pod, said in group),
            )
            for group in alike(pods)
            for state in (group[0][1],)
        ),
        failure.message if failure is not None else "",
    )
