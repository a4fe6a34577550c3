"""The walks over faults and over others: one thing goes wrong at any request of a run.

Each step plays the same run again. At its n-th request the request fails, or somebody else does one
thing right after it. Every run is held against the invariants, its end to what the API says, and
each eviction to the pods that it was decided on. Tests take some of the steps, `--every-request`
takes all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bed.pods import image_of
from tests.bed.scene import OURS, Scene, settings
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.bed import sandbox_bed, scene_through
from tests.scenarios.disturbing import FAULTS, NAME, OPERATIONS, Disturbed
from tests.scenarios.proxy import nth, proxy_before_a_sandbox
from tests.scenarios.walked import CRASHING, DAEMON_SET, GOOD, STATEFUL_SET, Walked
from tests.table import each

pytestmark = pytest.mark.sandbox_only("hundreds of runs")

STRIDE = 9
"""Tests take each so-many-th request."""
SAMPLE = (31,)
"""What the fast tests take: a request of the way back."""
MOST_REQUESTS = 300
ROLLED_BACK = 4
BUDGETS = ("--progress-deadline", "10s", "--timeout", "60s", "--rollback-timeout", "60s")


@dataclass(frozen=True, slots=True)
class Walk:
    """What is applied over version 1: version 2, whose pods are `behaviour`; the exit code of that.

    `left` is how the pods of version 9 are, which was left over version 1 before it.
    """

    kind: Walked
    behaviour: str = GOOD
    left: str = ""

    @property
    def code(self) -> int:
        """The exit code where nothing goes wrong."""
        return 0 if self.behaviour == GOOD else 4

    @property
    def manifest(self) -> list[JSON]:
        """What is applied."""
        return [settings("v2"), self.kind.make(2, NAME, self.behaviour)]

    def serve(self, scene: Scene) -> None:
        """Let run what is there before."""
        scene.serve(settings("v1"), self.kind.make(1, NAME, GOOD))
        if self.left:
            scene.apply_as(OURS, self.kind.make(9, NAME, self.left))
            scene.objects.wait(
                "pods", lambda pods: any(image_of(pod).endswith(":9") for pod in pods)
            )


WALKS = {
    "a good StatefulSet": Walk(STATEFUL_SET),
    "a blocked StatefulSet": Walk(STATEFUL_SET, CRASHING),
    "a fix of a blocked StatefulSet": Walk(STATEFUL_SET, left=CRASHING),
    "a bad DaemonSet": Walk(DAEMON_SET, CRASHING),
}
OF_STATEFUL_SETS = [name for name, walk in WALKS.items() if walk.kind is STATEFUL_SET]


def is_left(pod: JSON) -> bool:
    """Whether a pod is of the version that was left."""
    return image_of(pod).endswith(":9")


@pytest.fixture
def numbers(request: pytest.FixtureRequest) -> range:
    """Return the requests at which something happens."""
    every = request.config.getoption("every_request")
    return range(1, MOST_REQUESTS, 1 if every else STRIDE)


@pytest.mark.contract("B1111")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_some_requests(tmp_path: Path, fault: str) -> None:
    """A request of the way back that fails is one of the walk over all of them."""
    assert walk_over_faults(tmp_path, WALKS["a blocked StatefulSet"], fault, SAMPLE) == len(SAMPLE)


@pytest.mark.long
@pytest.mark.contract("B1111")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", WALKS)
def test_a_fault_of_any_request(
    tmp_path: Path, numbers: Sequence[int], name: str, fault: str
) -> None:
    """One request that fails changes no verdict, and what the verdict says runs."""
    assert walk_over_faults(tmp_path, WALKS[name], fault, numbers) >= len(numbers[:3])


@pytest.mark.contract("B1112")
@each("name", OPERATIONS)
def test_somebody_else_at_some_requests(tmp_path: Path, name: str) -> None:
    """What somebody does on the way back is one step of the walk over all of them."""
    assert walk_over_others(tmp_path, WALKS["a blocked StatefulSet"], name, SAMPLE) == len(SAMPLE)


@pytest.mark.long
@pytest.mark.contract("B1112")
@pytest.mark.parametrize("name", OF_STATEFUL_SETS)
@pytest.mark.parametrize("other", OPERATIONS)
def test_somebody_else_at_any_request(
    tmp_path: Path, numbers: Sequence[int], other: str, name: str
) -> None:
    """Whatever somebody does, what the gate says at the end is true, and only a blocker goes."""
    assert walk_over_others(tmp_path, WALKS[name], other, numbers) > 0


def walk_over_faults(folder: Path, walk: Walk, fault: str, numbers: Iterable[int]) -> int:
    """Let one request fail after another, each in a run of its own; return how many did."""
    failed = 0
    for number in numbers:
        with proxy_before_a_sandbox(folder) as proxy:
            walk.serve(proxy.scene)
            proxy.on(nth(number), FAULTS[fault])
            result = proxy.scene.apply(*walk.manifest, flags=BUDGETS)
            if not proxy.met:
                break
            failed += 1
            runs = walk.kind.version_of(proxy.scene, NAME)
            ended = (result.exit_code, runs)
            what = f"{number}: {proxy.met[0].method} {proxy.met[0].path}"
            assert ended == (walk.code, 1 if walk.code else 2), f"{what}\n{result}"
    return failed


def walk_over_others(folder: Path, walk: Walk, name: str, numbers: Iterable[int]) -> int:
    """Let somebody do a thing at one request after another; return how often it mattered."""
    mattered = 0
    for number in numbers:
        disturbed = Disturbed(number, OPERATIONS[name])
        with sandbox_bed(folder) as bed:
            scene = scene_through(bed, disturbed)
            walk.serve(scene)
            disturbed.begin(scene)
            where = f"{number}: {disturbed.what}"
            try:
                result = scene.apply(*walk.manifest, flags=BUDGETS)
            except AssertionError:
                if disturbed.has_looked:
                    raise
                continue
            if not disturbed.what:
                break
            if disturbed.has_looked:
                mattered += 1
                where = f"{number}: {disturbed.what}"
                assert not disturbed.evicted, f"{where}\n{disturbed.evicted}\n{result}"
                assert_true(scene, walk, result, has_written=disturbed.has_written)
    return mattered


def assert_true(scene: Scene, walk: Walk, result: Result, *, has_written: bool) -> None:
    """Assert that after a way back the version before runs, whole where it had been written.

    One that was never written is as it was, well or not.
    """
    if result.exit_code != ROLLED_BACK:
        return
    before = 9 if walk.left and not has_written else 1
    live = scene.objects.get(walk.kind.resource, NAME)
    assert image_of(live["spec"]["template"]).endswith(f":{before}"), str(result)
    if has_written:
        assert walk.kind.version_of(scene, NAME) == before, str(result)
