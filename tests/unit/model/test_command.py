"""`python -m tests.model`: what it prints, and how it ends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.model.__main__ import main
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
