"""How long a Deployment's rollout can legally take."""

from __future__ import annotations

import math

from gate.core.kinds.deployment.objects import Deployment
from gate.core.model.int_or_percent import Share

SHORTEST_TOTAL_SECONDS = 900.0
LONGEST_TOTAL_SECONDS = 7200.0


def _step_size(live: Deployment) -> int:
    """Return how many pods one step of the rollout replaces, at least 1.

    RollingUpdate: surge rounded up and unavailable rounded down, as the controller resolves
    them; Recreate: all of them.
    """
    if live.recreate:
        return max(1, live.replicas)
    surge = Share.parse(live.max_surge).of(live.replicas, round_up=True)
    unavailable = Share.parse(live.max_unavailable).of(live.replicas, round_up=False)
    return max(1, surge + unavailable)


def least_steps(live: Deployment, pods_before: int) -> int:
    """Return how many steps a new template takes at least.

    Old pods go as new ones are available, a step at a time; the others come with the first step.
    """
    return max(min(1, live.replicas), math.ceil(min(pods_before, live.replicas) / _step_size(live)))


def longest_legal_seconds(live: Deployment) -> float:
    """Return how long the rollout can legally take: the total budget `auto`.

    Steps x (progress deadline + minReadySeconds), between 15 minutes and 2 hours.
    """
    steps = math.ceil(max(1, live.replicas) / _step_size(live))
    a_step = live.progress_deadline_seconds + live.min_ready_seconds
    return min(LONGEST_TOTAL_SECONDS, max(SHORTEST_TOTAL_SECONDS, float(steps * a_step)))
