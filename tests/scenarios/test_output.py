"""What comes out: lines, the verdict, logs, reports, and which options decide."""

from __future__ import annotations

import json

import html5lib
import pytest
from junitparser import JUnitXml

from tests.bed.expectations import (
    assert_rolled_back,
)
from tests.bed.invariants import CANARY
from tests.bed.scene import Scene, secret, web
from tests.unit.ci import runner

OWN_COMMANDS = {"stop-commands", "group", "endgroup", "error", "warning", "notice"}


@pytest.mark.contract("B252")
def test_reports_hold_no_secret(scene: Scene) -> None:
    """Reports are written where they are asked for; changes of secrets show in none of them."""
    scene.serve(web(), secret("before"))
    files = ["--report", "json=report.json", "--report", "text=report.txt"]
    bad = web(2, env={"PASSWORD": f"{CANARY}-two"}, behaviour="crash=0.1")
    result = scene.apply(bad, secret(), flags=[*files, "--log-level", "debug"])
    assert_rolled_back(result, "CrashLoop")
    assert json.loads((scene.folder / "report.json").read_text()) == result.document
    assert "CrashLoop" in (scene.folder / "report.txt").read_text()


@pytest.mark.contract("B258")
def test_a_log_that_is_cut_within_a_secret_shows_no_part_of_it(scene: Scene) -> None:
    """An app prints its Secret again and again: only the end of its log is kept."""
    scene.serve(web(), secret("before"))
    value = "".join(f"{number:x}Z" for number in range(0x10, 0x40))
    bad = web(2, behaviour="crash=0.1", log=" ".join([value] * 50))
    ended = assert_rolled_back(scene.apply(bad, secret(value)), "CrashLoop")
    logs = [piece["text"] for piece in ended["evidence"] if piece["kind"] == "log"]
    assert logs
    for text in logs:
        assert "*** ***" in text
        assert "3eZ3fZ" not in text


@pytest.mark.contract("B176")
def test_text_from_pods_is_cleaned(scene: Scene) -> None:
    """Escape sequences, control characters and bidi marks of a log reach no output."""
    scene.serve(web())
    result = scene.apply(web(2, behaviour="crash=0.1", log="hostile"))
    ended = assert_rolled_back(result, "CrashLoop")
    logs = "".join(piece["text"] for piece in ended["evidence"])
    assert "red and cleared" in logs
    assert not set(logs + result.stderr) & set("\x1b\x00\x07\x9b\u202e\r")


@pytest.mark.long
@pytest.mark.contract("B561", "B571", "B572", "B574")
@pytest.mark.parametrize("log", ["hostile", "long"])
def test_what_a_pod_says_is_text_in_every_output(scene: Scene, log: str) -> None:
    """In a step of GitHub it makes no command, no output and no markup, however long it is."""
    scene.serve(web())
    names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")
    files = {name: scene.folder / name.lower() for name in names}
    for path in files.values():
        path.touch()
    pages = {form: scene.folder / f"report.{form}" for form in ("html", "junit")}
    flags = [word for form, path in pages.items() for word in ("--report", f"{form}={path}")]
    step = {"GITHUB_ACTIONS": "true", **{name: str(path) for name, path in files.items()}}
    manifest = scene.manifest(web(2, behaviour="crash=0.1", log=log))
    result = scene.gate("apply", "-f", manifest, *flags, env=step)
    assert result.exit_code == 4, str(result)
    said = runner.read(result.stdout + result.stderr)
    assert {command.name for command in said.commands} <= OWN_COMMANDS, said.commands
    assert not [each for each in said.of("error") if each.data == "injected by a log"]
    outputs = runner.outputs(files["GITHUB_OUTPUT"])
    assert outputs["outcome"] == "rolled-back"
    assert not files["GITHUB_ENV"].read_text() + files["GITHUB_PATH"].read_text()
    page = html5lib.parse(pages["html"].read_text(), namespaceHTMLElements=False)
    assert page.find(".//script") is None
    assert JUnitXml.fromfile(str(pages["junit"])).failures
    written = (files["GITHUB_STEP_SUMMARY"], *pages.values())
    assert all(path.stat().st_size < 300 * 1024 for path in written)
