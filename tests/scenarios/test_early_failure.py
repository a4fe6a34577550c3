"""One of many Deployments fails for good while others are still to be written."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_verified, images
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate, PlayedRun
from tests.scenarios.versions import one_line, report

pytestmark = pytest.mark.sandbox_only("a gate is suspended at an exact line")

NAMES = tuple(f"web-{number}" for number in range(10))
BAD = "web-1"
WRITTEN = "applied +deployment/web-3 changed"
"""The line at which the gate stands still, until the bad one has crashed often enough."""
CRASHED_SECONDS = 40.0


def version(number: int, names: tuple[str, ...] = NAMES) -> list[JSON]:
    """Return a configuration, and the Deployments; the second version of one crashes."""
    bad = {"behaviour": "crash=0.1"} if number == 2 else {}
    deployments = [web(number, name=name, **(bad if name == BAD else {})) for name in names]
    return [settings(f"v{number}"), *deployments]


def crashing(
    scene: Scene, program: PlayedGate, *flags: str, before: tuple[str, ...] = NAMES
) -> PlayedRun:
    """Return an apply in whose middle the bad Deployment has failed; document on stdout."""
    assert_verified(scene.apply(*version(1, before)))
    path = scene.manifest(*version(2))
    running = program.start("apply", "-f", path, "--output", "json", *flags)
    running.wait_for_line(WRITTEN)
    running.suspend(CRASHED_SECONDS)
    return running


def tags(scene: Scene, names: tuple[str, ...] = NAMES) -> set[str]:
    """Return the tags of the images of Deployments."""
    return {images(scene.objects.get("deployments", name))[0].rpartition(":")[2] for name in names}


def applied(result: Result) -> set[str]:
    """Return the Deployments that were written forward, by the timeline."""
    lines = [line for line in result.stderr.splitlines() if " applied " in line]
    return {name for name in NAMES if any(f"deployment/{name} " in line for line in lines)}


@pytest.mark.contract("B904", "B914")
def test_what_is_left_is_not_sent_and_said_not_to_be(scene: Scene, program: PlayedGate) -> None:
    """What was written goes back, configuration first, then the bad one, then the others: 4.

    What was not written is not remembered as a version that failed: the next apply writes it.
    """
    with crashing(scene, program) as running:
        result = running.wait()
    assert result.exit_code == 4, str(result)
    document = result.document
    assert (document["outcome"], document["reason"]) == ("rolled-back", "CrashLoop")
    ends = {one["name"]: one for one in document["deployments"]}
    sent = applied(result)
    assert {*NAMES[:4]} <= sent < {*NAMES}
    for name in NAMES:
        assert ends[name]["outcome"] == ("rolled-back" if name in sent else "refused")
    assert ends[NAMES[-1]]["message"].startswith(
        f"it was not written, since deployment/{BAD} failed: CrashLoop"
    )
    actions = {one["name"]: one["action"] for one in document["objects"]}
    assert {name for name in NAMES if actions[name] == "restored"} == sent
    assert {actions[name] for name in NAMES if name not in sent} == {"unchanged"}
    left = f"{len(NAMES) - len(sent)} of {len(NAMES) + 1} objects are not written: "
    assert left in result.stderr
    words = one_line(report(scene, result))
    back = f"{len(sent)} of {len(NAMES)} Deployments went back, verified"
    assert f"{back}; {len(NAMES) - len(sent)} were never written" in words
    restored = [line.split()[-2] for line in result.stderr.splitlines() if " restored  " in line]
    assert restored[:3] == ["configmap/settings", f"deployment/{BAD}", "deployment/web-0"]
    assert tags(scene) == {"1"}
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "v1"}
    assert f"shop/{NAMES[-1]}:2" not in scene.gate("history", NAMES[-1]).stdout
    assert_verified(scene.apply(*version(3)))
    assert tags(scene) == {"3"}


@pytest.mark.contract("B904")
@pytest.mark.parametrize("at", ["unwritten", "restored +deployment/web-1 "])
def test_a_gate_that_dies_on_that_way_back_is_finished(
    scene: Scene, program: PlayedGate, at: str
) -> None:
    """From whichever record is there: what was never written is left alone, and called so.

    Also what did not exist before, and has nothing to go back to.
    """
    there, new = NAMES[:-1], NAMES[-1]
    with crashing(scene, program, before=there) as running:
        running.wait_for_line(at, CRASHED_SECONDS + 5.0)
        running.kill()
    result = program("recover", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert tags(scene, there) == {"1"}
    assert not scene.objects.find("deployments", new)
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "v1"}
    actions = {one["name"]: one["action"] for one in result.document["objects"]}
    ends = {one["name"]: one for one in result.document["deployments"]}
    for name in (there[-1], new):
        assert (actions[name], ends[name]["outcome"]) == ("unchanged", "refused")
        assert ends[name]["message"].startswith(f"it was not written, since deployment/{BAD}")
