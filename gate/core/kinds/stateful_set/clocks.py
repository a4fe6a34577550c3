"""How long a StatefulSet's rollout can legally take, and when it is under way without progress."""

from __future__ import annotations

import math

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.int_or_percent import Share
from gate.core.rollout.policy import Policy
from gate.core.rollout.workload_kind import View

SHORTEST_TOTAL_SECONDS = 900.0
LONGEST_TOTAL_SECONDS = 7200.0


def _step_size(live: StatefulSet) -> int:
    """Return how many pods one step of the rollout replaces, at least 1.

    `maxUnavailable` rounds up for StatefulSets (`getStatefulSetMaxUnavailable`). A server whose
    gate for it is off does not store the field.
    """
    return max(1, Share.parse(live.max_unavailable).of(live.replicas, round_up=True))


def least_steps(live: StatefulSet, pods_before: int) -> int:
    """Return how many steps a new template takes at least.

    Pods that are lacking come first, and at its template. With `OrderedReady` each of them waits
    until those below it are available; otherwise all come at once, while others are replaced.
    """
    kept = min(pods_before, live.replicas)
    added = live.replicas - kept
    replaced = 0 if live.on_delete else max(0, kept - live.partition)
    steps = math.ceil(replaced / _step_size(live))
    return max(steps, min(1, added)) if live.is_parallel else steps + added


def longest_legal_seconds(live: StatefulSet, policy: Policy) -> float:
    """Return how long the rollout can legally take: the total budget `auto`.

    Steps x (progress deadline + minReadySeconds + grace of termination), between 15 minutes and 2
    hours.
    """
    steps = math.ceil(max(1, live.replicas) / _step_size(live))
    deadline_seconds = policy.budgets.progress_deadline_seconds
    a_step = deadline_seconds + live.min_ready_seconds + live.grace_seconds
    return min(LONGEST_TOTAL_SECONDS, max(SHORTEST_TOTAL_SECONDS, steps * a_step))


def busy_until(view: View[ControllerRevision], live: StatefulSet) -> float:
    """Return until when a pod may still terminate: a database may take a quarter of an hour."""
    own = live.own_pods(view.pods.values())
    return max((track.terminates_by for track in own), default=-math.inf)
