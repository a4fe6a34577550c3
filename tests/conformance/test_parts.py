"""The parts of the comparison: each would notice what it is there to notice."""

from __future__ import annotations

import functools

import pytest

from tests.conformance import kinds
from tests.conformance.bounds import broken
from tests.conformance.differences import differences
from tests.conformance.explore import KINDS, on_sandbox, unequal
from tests.conformance.known import TRACES
from tests.conformance.operations import GOOD, NEVER, Change, Operation, Step, Verb
from tests.conformance.operations import Apply as ApplyVersion
from tests.conformance.recording import read
from tests.conformance.settled import settled


def test_differences_name_the_place() -> None:
    """Each difference is a line with its path and both values."""
    real = {"a": {"b": [1, 2]}, "gone": 1}
    sandbox = {"a": {"b": [1, 3]}, "more": {}}
    assert [*differences(real, sandbox)] == [
        "a.b[1]: 2 | 3",
        "gone: 1 | missing",
        "more: missing | {}",
    ]


@pytest.mark.parametrize("counter", ["replicas", "unavailableReplicas", "readyReplicas"])
def test_a_recording_outside_of_the_bounds_is_noticed(counter: str) -> None:
    """One pod too many, in one version, is told."""
    recording = read(TRACES / "good-rolling.jsonl")
    line = next(line for line in recording.of_kind("Deployment") if line.at > 1)
    line.object["status"][counter] = 6
    assert len(broken(recording)) == 1


def test_replica_sets_that_are_asked_for_too_much_are_noticed() -> None:
    """What all ReplicaSets are asked for together is held against the surge."""
    recording = read(TRACES / "good-rolling.jsonl")
    first = next(recording.of_kind("ReplicaSet"))
    first.object["spec"]["replicas"] = 2
    assert broken(recording)


def test_what_settled_names_no_cluster() -> None:
    """Nothing of uids, versions, times or hashes is left, so that two clusters can be equal."""
    recording = read(TRACES / "good-rolling.jsonl")
    found = settled(recording.at_end())
    assert found["replica_sets"]["2"]["metadata"]["name"] == "web-HASH-2"
    assert [pods["count"] for pods in found["pods"]["2"]] == [4]
    text = str(found)
    for passing in (recording.applied["metadata"]["uid"], "resourceVersion", "Time", "Timestamp"):
        assert passing not in text


FOUR = Step(ApplyVersion(1, replicas=4))
DEPLOYMENTS = KINDS["Deployment"]
after_four = functools.cache(lambda: on_sandbox(DEPLOYMENTS, [FOUR]))


@pytest.mark.parametrize(
    "other",
    [
        Change(Verb.SCALE, 3),
        Change(Verb.PAUSE),
        Change(Verb.EDIT, "a"),
        ApplyVersion(2, replicas=4),
        ApplyVersion(1),
    ],
)
def test_ends_that_differ_are_told(other: Operation) -> None:
    """A step more that changes anything is a difference."""
    assert unequal(after_four(), on_sandbox(DEPLOYMENTS, [FOUR, Step(other)]))


@pytest.mark.parametrize("other", [Change(Verb.UNDO), Change(Verb.DELETE_POD)])
def test_ends_that_are_alike_are_equal(other: Operation) -> None:
    """An undo without history and a pod that is replaced leave what stood before."""
    assert after_four().settled == on_sandbox(DEPLOYMENTS, [FOUR, Step(other)]).settled


@pytest.mark.parametrize("kind", kinds.RESOURCES)
@pytest.mark.parametrize(
    "other",
    [
        kinds.Apply(2, GOOD, "RollingUpdate", replicas=2),
        kinds.Apply(1, NEVER, "RollingUpdate", replicas=2),
        kinds.Apply(1, GOOD, "OnDelete", replicas=2),
    ],
)
def test_pictures_of_each_step_that_differ_are_told(kind: str, other: kinds.Apply) -> None:
    """An image, a pod that is not ready or another strategy is a difference; the same is none."""
    explored, first = KINDS[kind], kinds.Apply(1, GOOD, "RollingUpdate", replicas=2)
    found = on_sandbox(explored, [first])
    assert explored.unequal(found, on_sandbox(explored, [other]))
    assert not explored.unequal(found, on_sandbox(explored, [first]))
