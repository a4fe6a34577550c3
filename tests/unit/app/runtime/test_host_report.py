"""A run on a CI host: what it is told, and that nothing of it changes a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.ci.github import GitHub
from gate.cli import main
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import ApiServer
from tests.unit.ci import runner


@pytest.fixture
def step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of a step of GitHub's, which this process is."""
    folder = tmp_path / "step"
    folder.mkdir()
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (folder / name).touch()
        monkeypatch.setenv(name, str(folder / name))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "shop/web")
    monkeypatch.setenv("GITHUB_RUN_ID", "42")
    return folder


@pytest.mark.contract("B571", "B572", "B579")
def test_a_run_tells_its_host(gate: Gate, manifest: Manifest, step: Path, tmp_path: Path) -> None:
    """Outputs, the summary, and the page of the run in the document."""
    report = tmp_path / "r.html"
    ended = gate("apply", file=[manifest(web())], report=[f"html={report}"])
    assert ended.document["run_url"] == "https://github.com/shop/web/actions/runs/42"
    found = runner.outputs(step / "GITHUB_OUTPUT")
    assert (found["outcome"], found["exit-code"], found["running"]) == ("verified", "0", "new")
    assert found["report-path"] == str(report)
    assert json.loads(found["result"])["attempt"] == ended.document["attempt"]
    assert "VERIFIED (exit 0)" in (step / "GITHUB_STEP_SUMMARY").read_text()
    assert report.read_text().startswith("<!doctype html>")


@pytest.mark.contract("B574")
def test_the_verdict_is_not_read_for_commands(
    gate: Gate, server: ApiServer, manifest: Manifest, step: Path
) -> None:
    """On stdout, where people read it; a refusal stands on stderr just so."""
    assert step.is_dir()
    log = runner.read(gate("apply", file=[manifest(web())], output="text").out)
    assert {command.name for command in log.commands} <= {"stop-commands", "warning"}
    assert log.commands[0].name == "stop-commands"
    assert any("VERIFIED (exit 0)" in line for line in log.lines)
    server.put(web(paused=True))
    ended = gate("apply", file=[manifest(web("2"))], output="text")
    assert [c.name for c in runner.read(ended.err).commands] == ["stop-commands"]
    assert runner.read(ended.out).of("error")[0].data.startswith("Paused: ")


@pytest.mark.contract("B568", "B573")
def test_an_annotation_stands_in_the_manifest(gate: Gate, manifest: Manifest, step: Path) -> None:
    """The file and the line of each object are in the document."""
    path = manifest(web())
    ended = gate("apply", file=[path])
    assert [(item["file"], item["line"]) for item in ended.document["objects"]] == [(path, 1)]
    assert step.is_dir()


@pytest.mark.contract("B571")
def test_a_dry_run_and_a_refusal_have_outputs_too(
    gate: Gate, server: ApiServer, manifest: Manifest, step: Path
) -> None:
    """A later step can branch on them."""
    gate("preflight", file=[manifest(web())])
    assert runner.outputs(step / "GITHUB_OUTPUT")["outcome"] == "observed"
    server.put(web(paused=True))
    gate("apply", file=[manifest(web("2"))])
    assert runner.outputs(step / "GITHUB_OUTPUT")["outcome"] == "refused"


@pytest.mark.contract("B571", "B573")
def test_a_mistake_in_a_flag_is_told(step: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The most usual end of a pipeline's first run."""
    assert main.run(["apply", "--nope"]) == 2
    assert runner.outputs(step / "GITHUB_OUTPUT")["exit-code"] == "2"
    (error,) = runner.read(capsys.readouterr().err).of("error")
    assert "no such option --nope" in error.data


@pytest.mark.contract("B578")
def test_files_that_cannot_be_written_are_warnings(
    gate: Gate, manifest: Manifest, step: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict stands."""
    monkeypatch.setenv("GITHUB_OUTPUT", str(step / "missing" / "file"))
    ended = gate("apply", file=[manifest(web())])
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert "the CI host's file" in ended.err


@pytest.mark.contract("B578")
def test_a_bug_of_a_sink_is_a_warning(
    gate: Gate, manifest: Manifest, step: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the verdict is printed all the same."""

    def fail(*_: object) -> str:
        raise KeyError("sesame")

    assert step.is_dir()
    monkeypatch.setattr(GitHub, "remarks", fail)
    ended = gate("apply", file=[manifest(web())], output="text")
    assert ended.code == 0
    assert "VERIFIED (exit 0)" in ended.out
    assert "could not report to the CI host: KeyError in test_host_report.py" in ended.err
    assert "sesame" not in ended.err


@pytest.mark.contract("B577")
def test_elsewhere_nothing_is_added(gate: Gate, manifest: Manifest) -> None:
    """A shell of one's own."""
    ended = gate("apply", file=[manifest(web())], output="text")
    assert "::" not in ended.out
    assert "section_start" not in ended.out
