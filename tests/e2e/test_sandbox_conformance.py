"""The real control plane against the sandbox: the scenarios once more, and random sequences.

`ROLLOUT_GATE_SEQUENCES` says how many sequences are played; more of them, and the fewest steps of
one that differs, with `python -m tests.conformance.explore`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.cluster.cluster import Cluster
from tests.conformance import known
from tests.conformance.differences import differences
from tests.conformance.explore import against_real, told
from tests.conformance.judging import judged
from tests.conformance.operations import sequence
from tests.conformance.player import play
from tests.conformance.real_bed import RealBed
from tests.conformance.recording import Played
from tests.conformance.scenarios import ALL, Scenario
from tests.conformance.settled import settled
from tests.conformance.summary import story

AT_ONCE = 8
SEEDS = range(int(os.environ.get("ROLLOUT_GATE_SEQUENCES", "30")))


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    """Play some at once; what has not begun when the module ends does not begin."""
    pool = ThreadPoolExecutor(AT_ONCE)
    yield pool
    pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def recordings(cluster: Cluster, pool: ThreadPoolExecutor) -> dict[str, Future[Played]]:
    """Return every scenario as it is being played."""

    def record(scenario: Scenario) -> Played:
        return play(RealBed(cluster.api), scenario, f"{scenario.name}-{os.getpid()}")

    return {scenario.name: pool.submit(record, scenario) for scenario in ALL}


@pytest.fixture(scope="module")
def differing(cluster: Cluster, pool: ThreadPoolExecutor) -> dict[int, Future[list[str]]]:
    """Return the differences of every sequence, which is being played."""

    def differences_of(seed: int) -> list[str]:
        return against_real(cluster.api, sequence(seed), f"sequence-{seed}")

    return {seed: pool.submit(differences_of, seed) for seed in SEEDS}


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.name)
def test_the_real_cluster_does_as_is_known_of_it(
    scenario: Scenario,
    recordings: dict[str, Future[Played]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A recording settles and is judged as those that are kept.

    A story that none of them tells is printed: `python -m tests.conformance.record --add` keeps
    it.
    """
    played = recordings[scenario.name].result()
    real = known.read(scenario.name)
    told_now = story(played.recording)
    if told_now not in real.stories:
        with capsys.disabled():
            print(f"\n{scenario.name}: a story that is not known: {told_now.document()}")  # noqa: T201
    state = settled(played.recording.at_end())
    assert state in real.settled, "\n".join(differences(real.settled[0], state))
    assert judged(played, scenario.flags).judged in real.verdicts


@pytest.mark.contract("B301")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_sequence_of_operations_ends_alike(
    seed: int, differing: dict[int, Future[list[str]]]
) -> None:
    """The sandbox answers each step as the real cluster, and ends with the same objects.

    That is: specs, statuses, revisions, replicas, conditions, and who owns which field.
    """
    found = differing[seed].result()
    assert not found, told(seed, sequence(seed), found)
