"""What speaks against a new version before any rule decides: an interrupt asks."""

from __future__ import annotations

from gate.core.model.objects import Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import has_crashed
from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import VerdictKind


def has_evidence(rollout: Rollout, now: float) -> bool:
    """Tell whether anything speaks against the new version already.

    Injected containers do not, nor does a quota, which denies pods as long as old ones count.
    """
    ruled = rollout.ruling(now)
    if ruled is not None and ruled.kind is VerdictKind.FAILED:
        return ruled.reason is not Reason.PAUSED
    live = rollout.snapshot.live
    is_suspicious = rollout.new.are_suspicious(rollout.snapshot)
    if live is None or is_suspicious:
        return is_suspicious
    faults = rollout.kind.faults(rollout.snapshot, live, rollout.fail_fast)
    return any(fault.is_evidence for fault in faults) or _has_crashed(rollout, live)


def _has_crashed(rollout: Rollout, live: Workload) -> bool:
    """Look through all new pods: too much work for anything but a signal."""
    return any(
        has_crashed(track, live.template) and rollout.kind.is_evidence(rollout.snapshot, track.pod)
        for track in rollout.snapshot.pods.values()
        if rollout.new.is_of(rollout.kind, track)
    )
