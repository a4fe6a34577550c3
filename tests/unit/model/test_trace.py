"""A counterexample is told move by move, and as a recording that `replay` shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.cli.main import run
from tests.model.scenes import scene
from tests.model.search import Bounds, search
from tests.model.trace import recording, story
from tests.unit.model import mutants

WHOLE = (0,) * 23


@pytest.mark.contract("B555")
def test_a_story_has_a_line_for_each_move() -> None:
    """A line says what happened, where the attempt is by then, and what runs."""
    lines = list(story(scene("crashing"), WHOLE))
    assert len(lines) == len(WHOLE)
    assert "a pod of v2 crashes" in lines[9]
    assert "back/ended: rolled-back" in lines[-1]
    assert lines[-1].endswith("v1: 2 of v1")


@pytest.mark.contract("B555")
def test_a_recording_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The judge sees in the recording what the attempt saw in the model: pods that crash."""
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(recording(scene("crashing"), WHOLE[:12])), encoding="utf-8")
    assert run(["replay", str(file), "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["reason"]) == ("failed", "CrashLoop")
    assert document["would_roll_back_to"] == 1


@pytest.mark.long
@pytest.mark.contract("B555")
def test_a_counterexample_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What breaks an invariant of a bad core is shown by a good one as it was."""
    where = scene("good")
    with monkeypatch.context() as patch:
        mutants.live_template_unchecked(patch)
        visited = search(where, Bounds(deviations=1), to_the_first=True)
        (violation,) = visited.violations.values()
        lines = recording(where, violation.course)
    file = tmp_path / "counterexample.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert run(["replay", str(file), "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["reason"]) == ("superseded", "Superseded")
