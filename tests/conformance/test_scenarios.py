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
from tests.conformance.recording import Played, Recording, read
from tests.conformance.sandbox_bed import SandboxBed
from tests.conformance.scenarios import ALL, Scenario
from tests.conformance.settled import settled
from tests.conformance.summary import counted, said, story
from tests.long import longer
from tests.table import check_each, each

LEAST_RECORDINGS = 5
MICROSECONDS = (0, 350_000, 700_000)
"""When in a second the cluster begins: what counts whole seconds sees a rollout otherwise."""
SAMPLE = 350_000

each_scenario = pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.name)
each_moment = pytest.mark.parametrize(
    "microsecond", [moment if moment == SAMPLE else longer(moment) for moment in MICROSECONDS]
)


@cache
def real_recording(name: str) -> Recording:
    """Return the recording of a scenario that the judge's tests have."""
    return read(TRACES / f"{name}.jsonl")


def tells_a_story_of_the_real_cluster(scenario: Scenario, found: Played) -> None:
    """Generations, observed generations and conditions change as in one real recording."""
    assert story(found.recording) in known.read(scenario.name).stories


def keeps_the_bounds(scenario: Scenario, found: Played) -> None:
    """No version of the Deployment or its ReplicaSets exceeds surge or unavailability."""
    assert broken(found.recording, scenario.deleted_pods) == []


def moves_the_same_counters(scenario: Scenario, found: Played) -> None:
    """What the real controller counts on the way, pods that end too, the sandbox's counts."""
    assert counted(found.recording) == counted(real_recording(scenario.name))


def says_what_the_real_controllers_said(scenario: Scenario, found: Played) -> None:
    """Events have the reasons and messages of the recording that the judge's tests have."""
    assert said(found.recording) == said(real_recording(scenario.name))


def settles_as_the_real_cluster(scenario: Scenario, found: Played) -> None:
    """Objects end alike: specs, statuses, revisions, annotations, and who owns which field."""
    end, real = settled(found.recording.at_end()), known.read(scenario.name).settled
    assert end in real, "\n".join(differences(real[0], end))


def is_judged_as_the_real_cluster(scenario: Scenario, found: Played) -> None:
    """Verdict, reason and first cause are those of every real recording."""
    decision = judged(found, scenario.flags)
    assert known.read(scenario.name).verdicts.keys() == {decision.judged}


LIKE_THE_REAL_ONE = {
    check.__name__: check
    for check in (
        tells_a_story_of_the_real_cluster,
        keeps_the_bounds,
        moves_the_same_counters,
        says_what_the_real_controllers_said,
        settles_as_the_real_cluster,
        is_judged_as_the_real_cluster,
    )
}


@each_scenario
@each_moment
@pytest.mark.contract("B300")
def test_the_sandbox_plays_as_the_real_cluster_did(scenario: Scenario, microsecond: int) -> None:
    """All of what a scenario shows, on the way and in the end; a failure names what is not so."""
    started = datetime(2026, 1, 1, 12, 0, 0, microsecond, UTC)
    found = play(SandboxBed(started), scenario, scenario.name)
    check_each(lambda check: check(scenario, found), LIKE_THE_REAL_ONE.items())


@each("scenario", ALL, ids=lambda scenario: scenario.name)
def test_the_real_recordings_are_judged_as_expected(scenario: Scenario) -> None:
    """There are enough recordings of each scenario, with the verdict that is known to be right."""
    expected = json.loads((TRACES / "expected.json").read_text())[scenario.name]
    found = known.read(scenario.name)
    assert found.recordings >= LEAST_RECORDINGS
    assert [*scenario.flags] == expected["flags"]
    (judged,) = found.verdicts
    cause = expected["cause"] or judged.cause
    assert judged == Judged(expected["verdict"], expected["reason"], cause)


@each("scenario", ALL, ids=lambda scenario: scenario.name)
def test_the_real_cluster_keeps_the_bounds(scenario: Scenario) -> None:
    """The bounds are those that the real controllers keep."""
    assert broken(real_recording(scenario.name), scenario.deleted_pods) == []
