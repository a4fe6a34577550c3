"""A way back on which only people can go on: what ends it, and what holds that up."""

from __future__ import annotations

import pytest

from gate.core.model.objects import Watched
from gate.core.rollout.dead_end import DEAD_END_SECONDS, find_dead_end
from gate.core.rollout.policy import OnDelete, Policy, Requirement
from tests.table import each
from tests.unit.core.kinds.daemon_set.test_daemon_set import agent, node, pod, revision, seen

READY = node("c")
DEAD = node("c", "Unknown")
STUCK = pod("c", 1, ready=False)


@pytest.mark.contract("B1401")
@each(
    ("c", "on_c", "named"),
    [
        (READY, pod("c", 1), "pod/b-2"),
        (READY, STUCK, None),  # it starts: something moves
        (DEAD, STUCK, "pod/b-2"),
        (READY, pod("c", ready=False), "pod/c-2"),
        (DEAD, pod("c", ready=False), "pod/b-2"),
    ],
)
def test_a_pod_on_a_node_that_is_not_ready_neither_holds_up_the_end_nor_is_named(
    c: Watched, on_c: Watched, named: str | None
) -> None:
    """Nothing moves there until it is back. On `b` a pod of the version taken back is left."""
    live = agent(1, strategy={"type": "OnDelete"})
    there = (node("a"), node("b"), c, pod("a", 1), pod("b"), on_c)
    snapshot = seen(live, revision(1, 3), revision(2, 2), *there)
    policy = Policy(requirement=Requirement(on_delete=OnDelete.WAIT))
    found = find_dead_end(snapshot, live, policy, (), 0.0, DEAD_END_SECONDS)
    assert (found.causes[0].subject if found is not None else None) == named
