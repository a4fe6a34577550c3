"""The parts of the comparison: each would notice what it is there to notice."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.cluster.kubelet.api import JSON
from tests.conformance import field_sets, known
from tests.conformance.bounds import Bounds, bounds, broken
from tests.conformance.differences import differences
from tests.conformance.explore import on_sandbox, unequal
from tests.conformance.known import TRACES
from tests.conformance.operations import Apply as ApplyVersion
from tests.conformance.operations import (
    DeletePod,
    EditEnvironment,
    Operation,
    Pause,
    Scale,
    Step,
    Undo,
    sequence,
)
from tests.conformance.recording import read
from tests.conformance.scenarios import ALL
from tests.conformance.settled import settled
from tests.conformance.summary import story


def test_differences_name_the_place() -> None:
    """Each difference is a line with its path and both values."""
    real = {"a": {"b": [1, 2]}, "gone": 1}
    sandbox = {"a": {"b": [1, 3]}, "more": {}}
    assert [*differences(real, sandbox)] == [
        "a.b[1]: 2 | 3",
        "gone: 1 | missing",
        "more: missing | {}",
    ]


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "expected"),
    [
        ("25%", "25%", 4, Bounds(5, 3)),
        ("25%", "25%", 10, Bounds(13, 8)),
        (1, 0, 4, Bounds(5, 4)),
        (0, "10%", 4, Bounds(4, 3)),
    ],
)
def test_bounds_are_rounded_as_the_controller_rounds(
    surge: int | str, unavailable: int | str, replicas: int, expected: Bounds
) -> None:
    """Surge is rounded up, unavailable down, and one of both is at least 1."""
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    status = {"replicas": replicas, "availableReplicas": replicas}
    applied = {"spec": {"replicas": replicas, "strategy": strategy}, "status": status}
    assert bounds(applied) == expected


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


def test_a_story_tells_each_change_once() -> None:
    """Generations without repetitions, and every condition as it turns."""
    told = story(read(TRACES / "stale-deadline.jsonl"))
    assert told.pairs == ((3, 2), (3, 3))
    assert told.conditions == (
        "Available=True/MinimumReplicasAvailable",
        "Progressing=False/ProgressDeadlineExceeded",
        "Progressing=True/NewReplicaSetCreated",
        "Progressing=True/ReplicaSetUpdated",
        "Progressing=True/NewReplicaSetAvailable",
    )


def test_what_settled_names_no_cluster() -> None:
    """Nothing of uids, versions, times or hashes is left, so that two clusters can be equal."""
    recording = read(TRACES / "good-rolling.jsonl")
    found = settled(recording.at_end())
    assert found["replica_sets"]["2"]["metadata"]["name"] == "web-HASH-2"
    assert [pods["count"] for pods in found["pods"]["2"]] == [4]
    text = str(found)
    for passing in (recording.applied["metadata"]["uid"], "resourceVersion", "Time", "Timestamp"):
        assert passing not in text


@pytest.mark.parametrize("name", [scenario.name for scenario in ALL])
def test_what_is_known_is_written_as_it_was_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing what is known of a scenario again changes no byte."""
    before = (known.FOLDER / f"{name}.json").read_text(encoding="utf-8")
    found = known.read(name)
    monkeypatch.setattr(known, "FOLDER", tmp_path)
    monkeypatch.setattr(field_sets, "FILE", tmp_path / "fields" / "sets.json")
    field_sets.FILE.parent.mkdir()
    known.write(name, found)
    assert (tmp_path / f"{name}.json").read_text(encoding="utf-8") == before
    assert known.read.__wrapped__(name) == found


def test_a_seed_gives_one_sequence() -> None:
    """5 to 12 steps, the same for the same seed, every operation among those of a few seeds."""
    sequences = [sequence(seed) for seed in range(60)]
    assert sequences == [sequence(seed) for seed in range(60)]
    assert {len(steps) for steps in sequences} == {*range(5, 13)}
    kinds = {type(step.do) for steps in sequences for step in steps}
    assert kinds == {*Operation.__args__}


@pytest.mark.long
def test_the_sandbox_is_the_same_twice() -> None:
    """A sequence ends the same, to the last field."""
    assert not unequal(on_sandbox(sequence(7)), on_sandbox(sequence(7)))


FOUR = Step(ApplyVersion(1, replicas=4))
after_four = functools.cache(lambda: on_sandbox([FOUR]))


@pytest.mark.parametrize(
    "other",
    [Scale(3), Pause(), EditEnvironment("a"), ApplyVersion(2, replicas=4), ApplyVersion(1)],
)
def test_ends_that_differ_are_told(other: Operation) -> None:
    """A step more that changes anything is a difference."""
    assert unequal(after_four(), on_sandbox([FOUR, Step(other)]))


@pytest.mark.parametrize("other", [Undo(), DeletePod()])
def test_ends_that_are_alike_are_equal(other: Operation) -> None:
    """An undo without history and a pod that is replaced leave what stood before."""
    assert after_four().settled == on_sandbox([FOUR, Step(other)]).settled


def owners_of(body: JSON) -> set[str]:
    """Return who owns fields of an object."""
    return {entry["manager"] for entry in body["owners"]}


def test_who_owns_what_is_compared() -> None:
    """A change by another manager shows in what settled."""
    found = on_sandbox([FOUR, Step(Scale(3))]).settled["deployment"]
    assert owners_of(found) >= {"rollout-gate", "kubectl", "kube-controller-manager"}
