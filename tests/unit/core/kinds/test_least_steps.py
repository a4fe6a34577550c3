"""How many steps a rollout takes at least, for each kind of workload."""

from __future__ import annotations

import pytest

from gate.core.kinds.registry import kind_of
from gate.core.model.objects import Workload
from tests.table import each
from tests.unit.core.kinds.daemon_set.test_daemon_set import agent
from tests.unit.core.kinds.job.test_judge import at_work
from tests.unit.core.kinds.stateful_set.test_blocking import stateful_set
from tests.unit.core.world import deployment

SURGES = {"replicas": 10, "max_surge": "2", "max_unavailable": "0"}


@pytest.mark.contract("B1642")
@each(
    ("live", "pods_before", "steps"),
    [
        (deployment(**SURGES), 10, 5),
        (deployment(**SURGES), 3, 2),
        (deployment(**SURGES), 40, 5),
        (deployment(**SURGES), 0, 1),
        (deployment(**{**SURGES, "replicas": 0}), 10, 0),
        (stateful_set(replicas=10), 10, 10),
        (stateful_set(replicas=10, partition=9), 10, 1),
        (stateful_set(replicas=10, partition=12), 10, 0),
        (stateful_set(replicas=10, on_delete=True), 10, 0),
        (stateful_set(replicas=10), 0, 10),
        (stateful_set(replicas=10, partition=9), 0, 10),
        (stateful_set(replicas=10, on_delete=True), 7, 3),
        (stateful_set(replicas=10, partition=6), 8, 4),
        (stateful_set(replicas=10, is_parallel=True), 0, 1),
        (stateful_set(replicas=10, is_parallel=True), 10, 10),
        (stateful_set(replicas=10, is_parallel=True, max_unavailable="50%"), 10, 2),
        (agent(), 3, 3),
        (agent(), 2, 2),
        (agent(), 0, 1),
        (agent(strategy={"type": "OnDelete"}), 3, 0),
        (at_work(), 0, 1),
    ],
)
def test_a_rollout_takes_at_least_the_steps_that_its_controller_makes(
    live: Workload, pods_before: int, steps: int
) -> None:
    """None for pods that it leaves as they are, and one for all that come at once."""
    assert kind_of(live.ref).least_steps(live, pods_before) == steps
