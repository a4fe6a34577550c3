"""The sandbox plays each scenario as the real cluster did, and the gate judges it alike."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache

import pytest

from tests.conformance import known
from tests.conformance.bounds import broken
from tests.conformance.differences import differences
from tests.conformance.judging import Judged, judged
from tests.conformance.known import TRACES
from tests.conformance.player import play
from tests.conformance.recording import Played, read
from tests.conformance.sandbox_bed import SandboxBed
from tests.conformance.scenarios import ALL, BY_NAME, Scenario
from tests.conformance.settled import settled
from tests.conformance.summary import counted, said, story
from tests.long import longer

LEAST_RECORDINGS = 5
MICROSECONDS = (0, 350_000, 700_000)
"""When in a second the cluster begins: what counts whole seconds sees a rollout otherwise."""
SAMPLE = 350_000

each_scenario = pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.name)
each_moment = pytest.mark.parametrize(
    "microsecond",
    [moment if moment == SAMPLE else longer(moment) for moment in MICROSECONDS],
)


@cache
def played(name: str, microsecond: int) -> Played:
    """Return a scenario that the sandbox has played."""
    started = datetime(2026, 1, 1, 12, 0, 0, microsecond, UTC)
    return play(SandboxBed(started), BY_NAME[name], name)


@each_scenario
@each_moment
@pytest.mark.contract("B300")
def test_the_sandbox_tells_a_story_of_the_real_cluster(
    scenario: Scenario, microsecond: int
) -> None:
    """Generations, observed generations and conditions change as in one real recording."""
    told = story(played(scenario.name, microsecond).recording)
    assert told in known.read(scenario.name).stories


@each_scenario
@each_moment
@pytest.mark.contract("B300")
def test_the_sandbox_keeps_the_bounds(scenario: Scenario, microsecond: int) -> None:
    """No version of the Deployment or its ReplicaSets exceeds surge or unavailability."""
    recording = played(scenario.name, microsecond).recording
    assert broken(recording, scenario.deleted_pods) == []


@each_scenario
@each_moment
def test_the_same_counters_move(scenario: Scenario, microsecond: int) -> None:
    """What the real controller counts on the way, pods that end too, the sandbox's counts."""
    real = counted(read(TRACES / f"{scenario.name}.jsonl"))
    assert counted(played(scenario.name, microsecond).recording) == real


@each_scenario
@each_moment
def test_the_controllers_say_what_the_real_ones_said(scenario: Scenario, microsecond: int) -> None:
    """Events have the reasons and messages of the recording that the judge's tests have."""
    real = said(read(TRACES / f"{scenario.name}.jsonl"))
    assert said(played(scenario.name, microsecond).recording) == real


@each_scenario
@each_moment
@pytest.mark.contract("B300")
def test_the_sandbox_settles_as_the_real_cluster(scenario: Scenario, microsecond: int) -> None:
    """Objects end alike: specs, statuses, revisions, annotations, and who owns which field."""
    found = settled(played(scenario.name, microsecond).recording.at_end())
    real = known.read(scenario.name).settled
    assert found in real, "\n".join(differences(real[0], found))


@each_scenario
@each_moment
@pytest.mark.contract("B300")
def test_the_gate_judges_both_clusters_alike(scenario: Scenario, microsecond: int) -> None:
    """Verdict, reason and first cause are those of every real recording."""
    decision = judged(played(scenario.name, microsecond), scenario.flags)
    assert known.read(scenario.name).verdicts.keys() == {decision.judged}


@each_scenario
def test_the_real_recordings_are_judged_as_expected(scenario: Scenario) -> None:
    """There are enough recordings of each scenario, with the verdict that is known to be right."""
    expected = json.loads((TRACES / "expected.json").read_text())[scenario.name]
    found = known.read(scenario.name)
    assert found.recordings >= LEAST_RECORDINGS
    assert [*scenario.flags] == expected["flags"]
    (judged,) = found.verdicts
    cause = expected["cause"] or judged.cause
    assert judged == Judged(expected["verdict"], expected["reason"], cause)


@each_scenario
def test_the_real_cluster_keeps_the_bounds(scenario: Scenario) -> None:
    """The bounds are those that the real controllers keep."""
    assert broken(read(TRACES / f"{scenario.name}.jsonl"), scenario.deleted_pods) == []
