"""The model cluster does what the real one does, where the gate can tell the difference."""

from __future__ import annotations

from collections.abc import Iterable

from tests.model import cluster as rules
from tests.model.cluster import GATE, OTHER, READY, STARTING, Apply, Cluster, Template


def next_serial(_template: Template, taken: Iterable[int]) -> int:
    """Name pods by counting."""
    return max(taken, default=-1) + 1


def acted(cluster: Cluster, times: int = 1, phase: int = READY) -> Cluster:
    """Let the controller act and pods become something, in turn."""
    for _ in range(times):
        cluster = rules.deployment_controlled(cluster, next_serial)
        for one in cluster.sets:
            for index, pod in enumerate(one.pods):
                if pod.phase == STARTING:
                    cluster = rules.pod_became(cluster, one.template, index, phase)
    return cluster


SERVING = acted(rules.created(Cluster(), GATE, "v1", 2), 4)
WRITTEN = rules.applied(SERVING, Apply("v2", 2))


def test_counters_are_of_the_moment_before_the_controller_scaled() -> None:
    """A generation is observed with the counters of the template before."""
    looked = rules.deployment_controlled(WRITTEN, next_serial)
    assert looked.observed == looked.generation
    assert looked.status.updated == 0
    assert sum(len(one.pods) for one in looked.sets) == 3
    assert looked.status.replicas == 2


def test_what_an_apply_leaves_out_is_owned_no_more() -> None:
    """A field without another owner goes back to its default, as the server does it."""
    assert rules.applied(SERVING, Apply("v2", None)).replicas == 1
    shared = SERVING._replace(replicas_by=GATE | OTHER)
    kept = rules.applied(shared, Apply("v2", None))
    assert (kept.replicas, kept.replicas_by) == (2, OTHER)


def test_a_deletion_takes_everything_with_it() -> None:
    """What is created under the name afterwards is another object."""
    gone = rules.deleted(SERVING)
    again = rules.created(gone, OTHER, "v3", 2)
    assert not gone.uid
    assert not gone.sets
    assert again.uid != SERVING.uid
    assert again.version > SERVING.version
