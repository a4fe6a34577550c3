"""A run on a CI host: what it is told, and that nothing of it changes a verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.ci.github import GitHub
from gate.cli import main
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
from tests.unit.ci import runner


@dataclass(frozen=True)
class Step:
    """A step of GitHub's: its environment, and the files that it is read from."""

    environ: dict[str, str]
    outputs: Path
    summary: Path


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """Return a step of the run 42."""
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    for file in (outputs, summary):
        file.touch()
    environ = {
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTIONS": "true",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "shop/web",
        "GITHUB_RUN_ID": "42",
    }
    return Step(environ, outputs, summary)


@pytest.mark.contract("B568", "B571", "B572", "B573", "B579")
def test_a_run_tells_its_host(gate: Gate, step: Step, tmp_path: Path) -> None:
    """Outputs, the summary, the page of the run and the lines of the manifest."""
    report, path = tmp_path / "r.html", gate.manifest(web())
    ended = gate("apply", file=[path], report=[f"html={report}"], environ=step.environ)
    document = ended.document
    assert document["run_url"] == "https://github.com/shop/web/actions/runs/42"
    assert [(item["file"], item["line"]) for item in document["objects"]] == [(path, 1)]
    found = runner.outputs(step.outputs)
    assert (found["outcome"], found["exit-code"], found["running"]) == ("verified", "0", "new")
    assert found["report-path"] == str(report)
    assert json.loads(found["result"])["attempt"] == document["attempt"]
    assert "VERIFIED (exit 0)" in step.summary.read_text()
    assert report.read_text().startswith("<!doctype html>")


@pytest.mark.contract("B571", "B574")
def test_the_verdict_is_not_read_for_commands(gate: Gate, step: Step) -> None:
    """On stdout, where people read it; a refusal stands on stderr just so, and has outputs too."""
    given = {"output": "text", "environ": step.environ}
    log = runner.read(gate.apply(web(), **given).out)
    assert {command.name for command in log.commands} <= {"stop-commands", "warning"}
    assert log.commands[0].name == "stop-commands"
    assert any("VERIFIED (exit 0)" in line for line in log.lines)
    ended = gate.apply(web("2", paused=True), **given)
    assert [c.name for c in runner.read(ended.err).commands] == ["stop-commands"]
    assert runner.read(ended.out).of("error")[0].data.startswith("Paused: ")
    assert runner.outputs(step.outputs)["outcome"] == "refused"


@pytest.mark.contract("B571", "B573")
def test_a_mistake_in_a_flag_is_told(
    step: Step, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The most usual end of a pipeline's first run."""
    for name, value in step.environ.items():
        monkeypatch.setenv(name, value)
    assert main.run(["apply", "--nope"]) == 2
    assert runner.outputs(step.outputs)["exit-code"] == "2"
    (error,) = runner.read(capsys.readouterr().err).of("error")
    assert "no such option --nope" in error.data


@pytest.mark.contract("B578")
def test_files_that_cannot_be_written_are_warnings(gate: Gate, step: Step, tmp_path: Path) -> None:
    """The verdict stands."""
    environ = step.environ | {"GITHUB_OUTPUT": str(tmp_path / "missing" / "file")}
    ended = gate.preflight(web(), environ=environ)
    assert (ended.code, ended.document["outcome"]) == (0, "observed")
    assert "the CI host's file" in ended.err


@pytest.mark.contract("B578")
def test_a_bug_of_a_sink_is_a_warning(
    gate: Gate, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the verdict is printed all the same."""

    def fail(*_: object) -> str:
        raise KeyError("sesame")

    monkeypatch.setattr(GitHub, "remarks", fail)
    ended = gate.apply(web(), output="text", environ=step.environ)
    assert ended.code == 0
    assert "VERIFIED (exit 0)" in ended.out
    assert "could not report to the CI host: KeyError in test_host_report.py" in ended.err
    assert "sesame" not in ended.err
