"""Two gates on one Deployment at the same time: never two writers at once, one way back each.

`ROLLOUT_GATE_RACES` says how many races are run; each has its own moment and its own versions.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.bed.scene import web
from tests.cluster.audit import Request, Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import yaml_text
from tests.cluster.objects import is_complete
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through

pytestmark = pytest.mark.sandbox_only("hundreds of runs")

RACES = int(os.environ.get("ROLLOUT_GATE_RACES", "10"))
LATEST_SECONDS = 4.0
BEHAVIOURS = ("ready=0.5", "ready=2", "crash=0.1")
ENDS = {True: 0, False: 4}
JOBS = [
    {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": run, "GITHUB_JOB": "deploy"} for run in ("7", "8")
]


def image_of(request: Request) -> str:
    """Return the image that a write asks for, "" where it sends no template."""
    body = request.body
    if not request.sends_template or not isinstance(body, dict):
        return ""
    return str(body["spec"]["template"]["spec"]["containers"][0]["image"])


@pytest.mark.contract("B520")
@pytest.mark.parametrize("race", range(RACES))
def test_a_race(tmp_path: Path, race: int) -> None:
    """Both come to the right end, one after the other, whoever was first."""
    chance = random.Random(race)
    behaviours = [chance.choice(BEHAVIOURS) for _ in range(2)]
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed)
        scene.serve(web())
        assert bed.audit is not None
        assert isinstance(bed.users, PlayedUsers)
        trail = Trail(bed.audit, bed.audit.mark())
        program, _ = bed.users.everything()
        first, second = (
            _manifest(tmp_path, number, behaviour)
            for number, behaviour in enumerate(behaviours, start=2)
        )
        one = program.start("apply", "-f", first, "--output", "json", env=JOBS[0])
        bed.users.played.clock.wait(chance.uniform(0.0, LATEST_SECONDS))
        other = program.start("apply", "-f", second, "--output", "json", env=JOBS[1])
        codes = [running.wait().exit_code for running in (one, other)]
        sent = trail.requests().writes().of(resource="deployments")
        live = scene.objects.get("deployments", "web")
    assert codes == [ENDS[behaviour != "crash=0.1"] for behaviour in behaviours]
    assert_in_turn([image_of(request) for request in sent if request.succeeded], behaviours)
    assert is_complete(live)


def _manifest(folder: Path, number: int, behaviour: str) -> Path:
    path = folder / f"version-{number}.yaml"
    body: JSON = web(number, behaviour=behaviour)
    path.write_text(yaml_text(body))
    return path


def assert_in_turn(sent: list[str], behaviours: list[str]) -> None:
    """Assert that what one gate sent stands together: its version, and its way back if it failed.

    What the second one returns to is what the first one left.
    """
    templates = [image for image in sent if image]
    order = [2, 3] if templates[0] == "shop/web:2" else [3, 2]
    expected, serving = [], "shop/web:1"
    for number in order:
        image = f"shop/web:{number}"
        expected.append(image)
        if behaviours[number - 2] == "crash=0.1":
            expected.append(serving)
        else:
            serving = image
    assert templates == expected
