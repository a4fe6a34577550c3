"""`backtest`: the past under another policy, recording by recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.app.replay.backtest import backtest
from gate.app.runtime.world import outside
from gate.config import load

TRACES = Path(__file__).parents[3] / "traces"
BEARS_CRASHES = {"fail_fast": ["crash=off"]}
SECONDS = 5.0
"""How much of a recording is enough for a crash loop, and too little for its deadline."""


@pytest.fixture
def crashes(tmp_path: Path) -> Path:
    """Return a recording of a crash loop that ends before the deadline does."""
    path = tmp_path / "crashes.jsonl"
    lines = (TRACES / "crashloop.jsonl").read_text().splitlines(keepends=True)
    path.write_text("".join(each for each in lines if json.loads(each).get("t", 0.0) < SECONDS))
    return path


class Backtest:
    """Runs the command; its output is kept."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capsys = capsys
        self._folder = folder

    def __call__(self, *paths: Path, **options: Any) -> tuple[int, str]:
        """Return exit code and output; stderr is to stay empty."""
        settings = load("backtest", options, environ={}, folder=self._folder)
        code = backtest(outside(), settings, [str(path) for path in paths])
        out, self.err = self._capsys.readouterr()
        return code, out

    def document(self, *paths: Path, **options: Any) -> tuple[int, dict[str, Any]]:
        """Return exit code and document."""
        code, out = self(*paths, output="json", **options)
        return code, json.loads(out)


@pytest.fixture
def judged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Backtest:
    """Return a runner of the command."""
    return Backtest(capsys, tmp_path)


@pytest.mark.contract("B470")
def test_what_a_changed_policy_turns_is_told(judged: Backtest, crashes: Path) -> None:
    """Both verdicts with reason and time; of the rest that they stay."""
    code, found = judged.document(crashes, TRACES / "noop.jsonl", **BEARS_CRASHES)
    tolerated, noop = found["recordings"]
    assert (code, found["turned"], found["unreadable"]) == (0, 1, [])
    assert (tolerated["turned"], noop["turned"]) == (True, False)
    assert (tolerated["then"]["verdict"], tolerated["then"]["reason"]) == ("failed", "CrashLoop")
    assert 2.9 < tolerated["then"]["decided_at"] < 3.1
    assert (tolerated["now"]["verdict"], tolerated["now"]["decided_at"]) == ("progressing", None)
    assert noop["then"] == noop["now"]


@pytest.mark.contract("B470")
def test_people_read_a_table_and_what_it_comes_to(judged: Backtest, crashes: Path) -> None:
    """Turned ones are marked and counted."""
    good = TRACES / "good-rolling.jsonl"
    code, out = judged(crashes, good, crashes, **BEARS_CRASHES)
    head, first, second, third, empty, summary = out.splitlines()
    assert (code, empty) == (0, "")
    assert head.split() == ["recording", "then", "at", "now", "at", "why"]
    then, now = ["failed", "CrashLoop", "3.1s"], ["progressing", "undecided"]
    assert first.split()[:7] == ["turned", str(crashes), *then, *now]
    assert second.split()[:5] == [str(good), "complete", "2.1s", "complete", "2.1s"]
    assert third == first
    assert summary == "2 of 3 verdicts changed: 2 from failed to progressing"


@pytest.mark.contract("B471")
def test_a_folder_stands_for_its_recordings(judged: Backtest, tmp_path: Path) -> None:
    """In the order of their names, those in its folders too; other files are none."""
    (tmp_path / "march").mkdir()
    for name in ("b.jsonl", "a.jsonl", "march/c.jsonl"):
        (tmp_path / name).write_bytes((TRACES / "noop.jsonl").read_bytes())
    (tmp_path / "notes.txt").write_text("dear diary")
    code, found = judged.document(tmp_path)
    names = [Path(each["file"]).relative_to(tmp_path) for each in found["recordings"]]
    assert code == 0
    assert [*map(str, names)] == ["a.jsonl", "b.jsonl", "march/c.jsonl"]


@pytest.mark.contract("B471")
def test_what_cannot_be_judged_is_named(judged: Backtest, tmp_path: Path) -> None:
    """With file and line; the others are judged all the same, and the exit code is 2."""
    lines = (TRACES / "noop.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_text("".join(lines)[:-40])
    (tmp_path / "good.jsonl").write_text("".join(lines))
    (tmp_path / "none.jsonl").write_text("")
    code, found = judged.document(tmp_path, tmp_path / "gone")
    problems = {Path(each["file"]).name: each["problem"] for each in found["unreadable"]}
    assert (code, [*problems]) == (2, ["cut.jsonl", "none.jsonl", "gone"])
    assert problems["cut.jsonl"].startswith(f"{tmp_path}/cut.jsonl:{len(lines)}: ")
    assert [Path(each["file"]).name for each in found["recordings"]] == ["good.jsonl"]
    code, out = judged(tmp_path / "cut.jsonl")
    assert code == 2
    assert out.splitlines()[0] == "0 of 0 verdicts changed"
    assert out.splitlines()[1].startswith(f"not judged: {tmp_path}/cut.jsonl:{len(lines)}: ")


@pytest.mark.contract("B471")
def test_a_folder_without_recordings_is_a_usage_error(judged: Backtest, tmp_path: Path) -> None:
    """A slip in a path is not taken for a history without turns."""
    code, _ = judged(TRACES, tmp_path)
    assert code == 2
    assert f"{tmp_path}: no recordings" in judged.err


@pytest.mark.contract("B470")
def test_the_policy_of_each_recording_is_its_own(
    judged: Backtest, crashes: Path, tmp_path: Path
) -> None:
    """What is told is put over it; a file's `rollout-gate.yaml` tells, too."""
    header, *lines = crashes.read_text().splitlines(keepends=True)
    path = tmp_path / "tolerated.jsonl"
    recorded = {**json.loads(header), "policy": {"fail-fast": ["crash=off"]}}
    path.write_text("".join([json.dumps(recorded) + "\n", *lines]))
    _, found = judged.document(path)
    assert found["recordings"][0]["then"]["verdict"] == "progressing"
    assert found["turned"] == 0
    (tmp_path / "rollout-gate.yaml").write_text("fail-fast: [crash=3]\n")
    _, found = judged.document(path)
    (row,) = found["recordings"]
    assert (row["turned"], row["now"]["verdict"]) == (True, "failed")
