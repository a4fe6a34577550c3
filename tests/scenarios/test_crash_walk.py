"""The crash walk: a gate is killed at any request that it sends, and one command finishes it.

Each step of a walk plays the same run again, killed the moment before the server hears of its n-th
request or the moment after it has answered. Then `recover`, the same once more, and the next
version; or the next version alone. Tests take some of the steps, `--every-request` takes all.
"""

from __future__ import annotations

import base64
import itertools
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bed.expectations import assert_verified
from tests.bed.leases import held_locks
from tests.bed.scene import Scene, secret, settings
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.proxy import kills, nth, proxy_before_a_sandbox
from tests.scenarios.walked import CRASHING, DAEMON_SET, DEPLOYMENT, GOOD, STATEFUL_SET, Walked

pytestmark = pytest.mark.sandbox_only("hundreds of runs")

KILLED = -signal.SIGKILL
STRIDE = 9
"""Tests take each so-many-th request."""
MOST_REQUESTS = 200


@dataclass(frozen=True, slots=True)
class Walk:
    """What is applied over what; `bad` is how the new pods fail, "" where they do not.

    Where it `recovers`, `recover` finishes what is left; else the next apply does.
    """

    names: tuple[str, ...]
    bad: str = ""
    keeps_secrets: bool = False
    recovers: bool = True
    kind: Walked = DEPLOYMENT

    def version(self, number: int) -> list[JSON]:
        """Return everything in a version."""
        behaviour = self.bad if number == 2 and self.bad else GOOD
        config = [settings(f"v{number}")]
        config += [secret(f"sesame-8d1f2c7a90-{number}")] if self.keeps_secrets else []
        return [*config, *(self.kind.make(number, name, behaviour) for name in self.names)]


WALKS = {
    "good": Walk(("web",)),
    "bad": Walk(("web",), CRASHING),
    "several": Walk(("api", "web"), keeps_secrets=True),
    "several bad": Walk(("api", "web"), CRASHING, keeps_secrets=True),
    "good, then an apply": Walk(("web",), recovers=False),
    "bad, then an apply": Walk(("web",), CRASHING, recovers=False),
    "a good StatefulSet": Walk(("db",), kind=STATEFUL_SET),
    "a blocked StatefulSet": Walk(("db",), CRASHING, kind=STATEFUL_SET),
    "a blocked StatefulSet, then an apply": Walk(
        ("db",), CRASHING, recovers=False, kind=STATEFUL_SET
    ),
    "a bad DaemonSet": Walk(("agent",), CRASHING, kind=DAEMON_SET),
}


STEPS = [
    pytest.param(*step, id=f"{step[0]}-{'after' if step[1] else 'before'}")
    for step in itertools.product(WALKS, (False, True))
]


@pytest.fixture
def numbers(request: pytest.FixtureRequest) -> range:
    """Return the requests at which gates are killed."""
    every = request.config.getoption("every_request")
    return range(1, MOST_REQUESTS, 1 if every else STRIDE)


@pytest.mark.long
@pytest.mark.contract("B530", "B531", "B532", "B534")
@pytest.mark.parametrize(("name", "after"), STEPS)
def test_a_kill_at_any_request(
    tmp_path: Path, numbers: Sequence[int], name: str, after: bool
) -> None:
    """All of one version runs and is verified in the end, and the codes say which."""
    killed = 0
    for number in numbers:
        if not survives(tmp_path, WALKS[name], number, after=after):
            break
        killed += 1
    assert killed >= len(range(1, 20, numbers[1] - numbers[0]))


def survives(folder: Path, walk: Walk, number: int, *, after: bool) -> bool:
    """Play one step of a walk; tell whether the gate was killed in it."""
    with proxy_before_a_sandbox(folder) as proxy:
        scene = proxy.scene
        scene.serve(*walk.version(1))
        with scene.applying(*walk.version(2)) as running:
            proxy.on(nth(number), kills(running, after=after))
            result = running.wait()
        proxy.rest()
        if walk.recovers:
            version = assert_whole(scene, walk, result, recover(scene))
            again = recover(scene)
            assert (again.exit_code, again.document["objects"]) == (0, []), str(again)
            assert version_of(scene, walk) == version
            assert not records(scene)
        assert_verified(scene.apply(*walk.version(3)))
        assert version_of(scene, walk) == 3
        assert not records(scene)
        assert not [*held_locks(scene), *kept(scene)]
    for manifest in folder.iterdir():
        manifest.unlink()
    return result.exit_code == KILLED


def assert_whole(scene: Scene, walk: Walk, killed: Result, recovered: Result) -> int:
    """Assert that one version runs, which the exit codes name; return its number."""
    version = version_of(scene, walk)
    codes = (killed.exit_code, recovered.exit_code)
    story = f"v{version} runs after {codes}\n{killed}\n{recovered}"
    assert recovered.exit_code in (0, 4), story
    if recovered.document["objects"]:  # it had something to finish
        assert version == {0: 2, 4: 1}[recovered.exit_code], story
    if killed.exit_code != KILLED:
        assert version == {0: 2, 4: 1}[killed.exit_code], story
    if walk.bad:
        assert version == 1, story
    most = 3 if version == 1 else 2
    for name in walk.names:
        assert walk.kind.revision_of(scene, name) <= most, "one extra revision at most"
    return version


def version_of(scene: Scene, walk: Walk) -> int:
    """Return the one version that all objects are of, its workloads complete."""
    found = {int(scene.objects.get("configmaps", "settings")["data"]["mode"][1:])}
    if walk.keeps_secrets:
        text = base64.b64decode(scene.objects.get("secrets", "keys")["data"]["key"]).decode()
        found.add(int(text.rpartition("-")[2]))
    for name in walk.names:
        found.add(walk.kind.version_of(scene, name))
    assert len(found) == 1, f"a mixture of {found}"
    return found.pop()


def records(scene: Scene) -> list[str]:
    """Return the locks with something left to be finished."""
    leases = [each["metadata"] for each in scene.objects.list_all("leases")]
    return [each["name"] for each in leases if "rollout-gate/attempt" in each["annotations"]]


def kept(scene: Scene) -> list[str]:
    """Return the Secrets in which a gate kept what others were."""
    names = [each["metadata"]["name"] for each in scene.objects.list_all("secrets")]
    return [name for name in names if name.startswith("rollout-gate.")]
