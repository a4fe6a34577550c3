"""`python -m tests.model`: what it prints, how it ends, and how a counterexample is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gate.cli.main import run
from tests.model.__main__ import main
from tests.model.scenes import scene
from tests.model.search import Bounds, search
from tests.model.trace import recording, story
from tests.unit.model import mutants


def test_it_says_what_it_has_seen(capsys: pytest.CaptureFixture[str]) -> None:
    """States, steps, depth, seconds and memory are printed for each scene, and in all."""
    assert main(["--deviations", "0", "--scenes", "good", "first", "--jobs", "1"]) == 0
    *scenes, last = capsys.readouterr().out.splitlines()
    form = r"[\d,]+ states, +[\d,]+ steps, +\d+ moves deep, +\d+ s, \d+ MiB$"
    assert [line.split()[0] for line in scenes] == ["good", "first"]
    assert all(re.search(form, line) for line in scenes)
    assert re.match(r"[\d,]+ states, 0 violations, \d+ s, at most \d+ MiB", last)


@pytest.mark.long
def test_it_goes_deeper_until_it_has_seen_enough(capsys: pytest.CaptureFixture[str]) -> None:
    """Bound after bound is searched whole, interleavings first."""
    arguments = ["--moves", "2", "--states", "60", "--scenes", "first", "--jobs", "1"]
    assert main(arguments) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert "every interleaving of 2 moves" in first
    assert "all runs with at most 1 deviations" in second
    assert int(last.split()[0].replace(",", "")) >= 60


@pytest.mark.contract("B555")
def test_a_violation_is_told_with_its_course_and_its_recording(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It ends with 1, and says how it comes about and how to replay it."""
    mutants.no_confirming_read(monkeypatch)
    arguments = ["--deviations", "0", "--scenes", "good", "--jobs", "1"]
    assert main([*arguments, "--traces", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "good: S1: it ended verified" in out
    assert "the server does the write" in out
    file = tmp_path / "good-1.jsonl"
    assert f"rollout-gate replay {file}" in out
    assert file.exists()


WHOLE = (0,) * 24


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
