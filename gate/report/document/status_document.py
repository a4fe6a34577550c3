"""The JSON object that `status --output json` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.core.model.objects import Workload
from gate.core.model.outcome import Outcome, outcome_of
from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.report.document.branches import branches_of
from gate.report.document.pods import pod_state
from gate.report.kinds.registry import of_ref


def status_document(rollout: Rollout, now: float) -> dict[str, Any]:
    """Return verdict and causes, counters, conditions and pods, the new version's pods first.

    `now` is monotonic seconds of the clock by which the rollout is followed. Without a workload
    `revision` and `replicas` are None and the lists are empty. `verdict` is `applied` where nothing
    rolls the live template out. `started_at` and `ended_at` are of what runs once, None for not
    yet. A pod's `version` is the name of the object that keeps its version; `replicaset` is the key
    for it of before there were other kinds.
    """
    verdict, live = rollout.verdict(now), rollout.snapshot.live
    causes = verdict.causes or rollout.causes(now)
    return {
        "kind": rollout.ref.kind,
        "namespace": rollout.ref.namespace,
        "name": rollout.ref.name,
        "verdict": call_verdict(verdict),
        "reason": verdict.reason.value,
        "message": verdict.message,
        "causes": [
            {"reason": cause.reason.value, "message": cause.message, "pods": cause.pods}
            for cause in causes
        ],
        "revision": live.revision if live is not None else None,
        "images": list(live.template.images()) if live is not None else [],
        "replicas": _replicas(rollout, live) if live is not None else None,
        "started_at": live.run_times[0] or None if live is not None else None,
        "ended_at": live.run_times[1] or None if live is not None else None,
        "conditions": [
            {"type": one.type, "status": one.status, "reason": one.reason, "message": one.message}
            for one in (live.conditions if live is not None else ())
        ],
        "pods": list(_pods(rollout)),
    }


def call_verdict(verdict: Verdict) -> str:
    """Return the word for a verdict: what no pod takes by itself is applied, and not complete."""
    is_complete = verdict.kind is VerdictKind.COMPLETE
    if is_complete and outcome_of(verdict.reason) is Outcome.APPLIED:
        return Outcome.APPLIED.value
    return verdict.kind.value


def _replicas(rollout: Rollout, live: Workload) -> dict[str, int]:
    """Return `spec.replicas` as `wanted`, and the counters of the status (apps/v1)."""
    count = rollout.kind.status_counts(live)
    return {
        "wanted": live.replicas,
        "total": count.total,
        "updated": count.updated,
        "ready": count.ready,
        "available": count.available,
    }


def _pods(rollout: Rollout) -> Iterator[dict[str, Any]]:
    current = rollout.snapshot.current()
    uid, words = current.uid if current is not None else "", of_ref(rollout.ref)
    mine = [(one, track) for one in branches_of(rollout.snapshot) for track in one.pods]
    for branch, track in sorted(mine, key=lambda each: (each[0].uid != uid, each[1].pod.name)):
        yield {
            "name": track.pod.name,
            "version": branch.name,
            "replicaset": words.replica_set(branch.name),
            "role": "new" if branch.uid == uid else "old",
            "phase": track.pod.phase,
            "ready": track.pod.ready and not track.pod.deleting,
            "restarts": sum(status.restarts for status in track.pod.containers),
            "state": pod_state(track).text,
        }
