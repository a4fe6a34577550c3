"""What speaks against a new version before any rule decides: an interrupt asks."""

from __future__ import annotations

from gate.core.model.objects import Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause, Trouble, crash_of, order_causes, sum_up_troubles
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
    faults = rollout.hindrances.faults
    return any(fault.is_evidence for fault in faults) or bool(_find_crashes(rollout, live))


def early_causes(rollout: Rollout, now: float) -> tuple[Cause, ...]:
    """Return what is wrong with a new version that a signal finds under way, most telling first.

    A crash counts until the pod is ready again, as it does for `has_evidence`: that its container
    runs at the moment says nothing.
    """
    live, troubles = rollout.snapshot.live, rollout.troubles
    crashes = _find_crashes(rollout, live) if live is not None else {}
    if not crashes:
        return rollout.causes(now)
    of_pods = sum_up_troubles({**troubles, **crashes}.values(), rollout.new.count)
    momentary = sum_up_troubles(troubles.values(), rollout.new.count)
    beside = (one for one in rollout.causes(now) if one not in momentary)
    return order_causes((*of_pods, *beside))


def _find_crashes(rollout: Rollout, live: Workload) -> dict[str, Trouble]:
    """Return the crash of each new pod that is not ready since, by uid.

    Looks through all pods: too much work for anything but a signal.
    """
    found = {
        track.pod.uid: crash_of(track, live.template)
        for track in rollout.snapshot.pods.values()
        if rollout.new.is_of(rollout.kind, track)
        and rollout.kind.is_evidence(rollout.snapshot, track.pod)
    }
    return {uid: crash for uid, crash in found.items() if crash is not None}
