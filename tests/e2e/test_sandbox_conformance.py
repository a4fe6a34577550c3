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
from tests.conformance.explore import KINDS, against_real, difference_text
from tests.conformance.judging import judged
from tests.conformance.player import play
from tests.conformance.real_bed import RealBed
from tests.conformance.recording import Played
from tests.conformance.scenarios import ALL, Scenario
from tests.conformance.settled import settled
from tests.conformance.summary import story
from tests.table import check_each

pytestmark = pytest.mark.newest_only("the sandbox does as the newest Kubernetes")

AT_ONCE = 8
"""In one test, so that no second worker plays them all again."""
SEEDS = range(int(os.environ.get("ROLLOUT_GATE_SEQUENCES", "30")))
FEWER = 8
"""So many are enough for kinds of which each step is compared."""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Play some at once; what has not begun when the test ends does not begin."""
    pool = ThreadPoolExecutor(AT_ONCE)
    yield pool
    pool.shutdown(cancel_futures=True)


def test_the_real_cluster_does_as_is_known_of_it(
    cluster: Cluster, pool: ThreadPoolExecutor, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording of each scenario settles and is judged as those that are kept.

    A story that none of them tells is printed: `python -m tests.conformance.record --add` keeps
    it.
    """

    def record(scenario: Scenario) -> Played:
        return play(RealBed(cluster.api), scenario, f"{scenario.name}-{os.getpid()}")

    def check(case: tuple[Scenario, Future[Played]]) -> None:
        scenario, played = case[0], case[1].result()
        real = known.read(scenario.name)
        told_now = story(played.recording)
        if told_now not in real.stories:
            with capsys.disabled():
                print(f"\n{scenario.name}: an unknown story: {told_now.document()}")  # noqa: T201
        state = settled(played.recording.at_end())
        assert state in real.settled, "\n".join(differences(real.settled[0], state))
        assert judged(played, scenario.flags).judged in real.verdicts

    check_each(check, [(each.name, (each, pool.submit(record, each))) for each in ALL])


@pytest.mark.contract("B301")
@pytest.mark.parametrize("name", KINDS)
def test_a_sequence_of_operations_ends_alike(
    cluster: Cluster, pool: ThreadPoolExecutor, name: str
) -> None:
    """The sandbox answers each step as the real cluster, and ends with the same objects.

    That is: specs, statuses, revisions, replicas, conditions, and who owns which field.
    """
    kind = KINDS[name]

    def differences_of(seed: int) -> list[str]:
        namespace = f"{name.lower()}-{seed}"
        return against_real(cluster.api, kind, kind.sequence(seed), namespace)

    def check(case: tuple[int, Future[list[str]]]) -> None:
        seed, found = case[0], case[1].result()
        assert not found, difference_text(seed, kind.sequence(seed), found)

    seeds = SEEDS if name == "Deployment" else SEEDS[:FEWER]
    check_each(check, [(str(seed), (seed, pool.submit(differences_of, seed))) for seed in seeds])
