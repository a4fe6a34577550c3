"""Health checks of a manifest whose only workloads are Jobs: they are about the run."""

from __future__ import annotations

import json

import pytest

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.bed.jobs import entry, job, mode
from tests.bed.scene import Scene, settings

FALSE, DOUBT, KEEP = ["false"], ["sh", "-c", "exit 75"], ("--on-failure", "keep")
WENT_BACK = "what else was written went back; what job/migrate"
STANDS = "what else was written stands"


@pytest.mark.contract("B1057", "B1061", "B1317")
@pytest.mark.parametrize(
    ("command", "behaviour", "flags", "left", "said"),
    [
        (
            FALSE,
            "complete=1",
            (),
            (4, "rolled-back", "Complete", "one"),
            f"job/migrate has completed, but smoke: exit 1; {WENT_BACK} did stays",
        ),
        (
            FALSE,
            "complete=60",
            (),
            (4, "rolled-back", "CheckFailed", "one"),
            f"job/migrate was left running, but smoke: exit 1; {WENT_BACK} does stays",
        ),
        (
            FALSE,
            "complete=60",
            KEEP,
            (6, "failed", "CheckFailed", "two"),
            f"job/migrate was left running, but smoke: exit 1; {STANDS}",
        ),
        (
            DOUBT,
            "complete=1",
            (),
            (7, "inconclusive", "Complete", "two"),
            f"job/migrate has completed, but smoke: 9 errors in a row; last: exit 75; {STANDS}",
        ),
    ],
    ids=["ended", "running", "kept", "in-doubt"],
)
def test_a_check_beside_jobs_alone_is_about_the_run(
    scene: Scene,
    command: list[str],
    behaviour: str,
    flags: tuple[str, ...],
    left: tuple[int, str, str, str],
    said: str,
) -> None:
    """It can be about no Job: what it does stays, and what else was applied goes back."""
    checks = scene.folder / "gate.yaml"
    asked = json.dumps(command)
    checks.write_text(f"checks: [{{name: smoke, command: {asked}, initial-delay: 10s}}]\n")
    scene.serve(settings("one"))
    bodies = settings("two"), job(behaviour=behaviour)
    result = scene.apply(*bodies, flags=("--config", str(checks), *flags))
    found = result.document
    reason = entry(result, "migrate")["reason"]
    assert (result.exit_code, found["outcome"], reason, mode(scene)) == left
    text = verdict_text(found, Style(width=200))
    assert said in text
    assert f"why       {found['reason']}: smoke: " in text
    assert "rollout-gate checks" in text
    assert "--explain" in text
