"""Which version of a Deployment serves: a rollback's target.

Its conditions do not always tell. Without a progress deadline there is no `Progressing`, a pause
replaces what that had said of the last rollout, and with 0 replicas it says at once that a version
was rolled out (`syncRolloutStatus`, `checkPausedConditions`).
"""

from __future__ import annotations

from typing import Final

from gate.core.kinds.deployment.earlier_pods import was_whole_before
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.moments import parse_moment
from gate.core.model.objects import Revision
from gate.core.rollout.workload_kind import View

_AT_ONCE_SECONDS: Final = 2.0
"""So soon after it was created a ReplicaSet may have been called rolled out without any pod.

Both times are whole seconds. A version whose pods were as fast is not told from one without any,
unless its pods tell (`was_whole_before`)."""
_WHY_UNCLEAR: Final = (
    "its controller may have called it rolled out when it had 0 replicas, and too few of its pods "
    "are available"
)


def find_serving(view: View[ReplicaSet], live: Deployment) -> Fact[Revision]:
    """Return the current ReplicaSet if it serves, and no other does; Unknown if nobody can tell.

    It serves if the ReplicaSet of the live template owns all available pods, at least one, and
    either the Deployment is `Available` or that template has been rolled out: one that has just
    been scaled up is not `Available` until more of its pods are (`falls_short`). Its conditions say
    that, or its pods do (`was_whole_before`). `Available` alone is not enough: with maxUnavailable
    100 % it is true without any pod.
    """
    current = view.current()
    if current is None or current.available_replicas < 1:
        return Absent()
    others = (one for one in view.list_owned() if one.uid != current.uid)
    if any(one.available_replicas for one in others):
        return Absent()
    if live.available or was_whole_before(view, current):
        return Known(current)
    if not live.was_rolled_out(current):
        return Absent()
    if _may_be_without_pods(live, current):
        return Unknown(_WHY_UNCLEAR)
    return Known(current)


def _may_be_without_pods(live: Deployment, current: ReplicaSet) -> bool:
    """Tell whether a ReplicaSet was called rolled out too soon for a pod to have been ready."""
    made_at, done_at = parse_moment(current.created_at), parse_moment(live.rolled_out_at)
    if made_at is None or done_at is None:
        return False
    return (done_at - made_at).total_seconds() <= _AT_ONCE_SECONDS
