"""What a run says of what runs now, why, and what to do next: each sentence has to be so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified, warned
from tests.bed.scene import Scene, web
from tests.cluster.command import Result

CRASH = "crash=0.1"
KEEP = ("--on-failure", "keep")
PAGES = ("text", "markdown", "html", "junit")


def told(scene: Scene, result_file: str) -> dict[str, str]:
    """Return a result document in every form that people read, by its name."""
    return {form: scene.gate("report", result_file, "--format", form).stdout for form in PAGES}


def advised(result: Result) -> list[list[str]]:
    """Return the commands of the gate that a verdict advises, as words."""
    lines = (line.strip().removeprefix("next").strip() for line in result.stdout.splitlines())
    return [line.split()[1:] for line in lines if line.startswith("rollout-gate ")]


# What a rollback to 0 replicas is


@pytest.mark.contract("B720")
def test_a_rollback_to_nought_does_not_say_that_anything_serves(scene: Scene) -> None:
    """It is returned and scaled to 0, in every form; no pod showed that it works."""
    assert_verified(scene.apply(web(replicas=0)), "Vacuous", running="none")
    result = scene.apply(web(2, behaviour=CRASH), flags=["--report", "json=run.json"])
    assert_rolled_back(result, "CrashLoop", running="none")
    assert_runs(scene.objects, "shop/web:1", replicas=0)
    assert warned(result, "went back to 0 replicas: nothing serves")
    forms = told(scene, "run.json")
    assert not [form for form, text in forms.items() if "serves again" in text]
    for form in ("text", "markdown", "html"):
        assert "scaled to 0; nothing serves" in " ".join(forms[form].split()), forms[form]
    assert "complete without a pod" in forms["text"]
    assert "a failure returns to revision 1 (shop/web:1), scaled to 0" in result.stderr


@pytest.mark.contract("B720")
def test_of_several_that_went_back_it_names_those_at_nought(scene: Scene) -> None:
    """One serves again, the other is scaled to 0."""
    bodies = [web(replicas=0), web(name="worker")]
    assert scene.apply(*bodies).exit_code == 0
    bad = [web(2), web(2, name="worker", behaviour=CRASH)]
    path: Path = scene.manifest(*bad)
    result = scene.gate("apply", "-f", path)
    assert result.exit_code == 4, str(result)
    said = " ".join(result.stdout.split())
    assert "deployment/worker failed; 2 of 2 Deployments went back; scaled to 0, so that" in said
    assert "nothing serves: deployment/web" in said
