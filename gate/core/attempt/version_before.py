"""Whether an attempt that goes back tells anything new of the version that serves again."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.versions.judged_version import template_digest


def stays_as_remembered(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what is remembered of the version that a way back returned to stays as it was.

    To serve again verifies nothing that was left unverified before the attempt. One that is resumed
    may have been left as interrupted, though no pod had changed: that is over then.
    """
    baseline = attempt.plan.target(ref).baseline
    is_unverified = isinstance(baseline, Known) and baseline.value.unverified is not None
    return is_unverified or (attempt.plan.resumed is None and is_same_throughout(attempt, ref))


def is_same_throughout(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the pods were of one version all along, as where replicas alone changed.

    What failed then is the change and no version. A canary that is promoted is none of it: places
    that ran another version before took this one. Pods without a place are of what served alone.
    """
    if _changes_template(attempt, ref):
        return False
    baseline = attempt.plan.target(ref).baseline
    tried = attempt.workloads.followed_before.get(ref)
    current = tried.snapshot.current() if tried is not None else None
    if tried is None or current is None or not isinstance(baseline, Known):
        return False
    if current.name != baseline.value.revision_name:
        return False
    key, snapshot, kind = tried.snapshot.current_key, tried.snapshot, tried.kind
    placed = (track.pod for track in snapshot.pods_of(current) if kind.place_of_pod(track.pod))
    return not any(snapshot.has_moved(pod, key) for pod in placed)


def _changes_template(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the attempt set out to change the pod template; one that is resumed may have.

    A gate that died on its way back may have restored the template before it is resumed: what is
    live then tells nothing of what was tried.
    """
    before, wanted = attempt.plan.before(ref), attempt.plan.trial(ref)
    was = before.workload if before is not None else None
    will_be = wanted.workload if wanted is not None else None
    if was is None or will_be is None:
        return attempt.plan.resumed is not None
    return template_digest(was.template) != template_digest(will_be.template)
