"""What comes out: lines, the verdict, logs, reports, and which options decide."""

from __future__ import annotations

import json
import re

import html5lib
import pytest
from junitparser import JUnitXml

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_usage,
    assert_verified,
)
from tests.bed.invariants import CANARY
from tests.bed.scene import Scene, secret, web
from tests.cluster.audit import Trail
from tests.unit.ci import runner

JSON_OUTPUT = ("--output", "json")
OWN_COMMANDS = {"stop-commands", "group", "endgroup", "error", "warning", "notice"}


@pytest.mark.contract("B174", "B252")
def test_logs_are_one_object_a_line(scene: Scene) -> None:
    """With --log-format json every line of stderr is one JSON object; secrets are in none."""
    scene.serve(web())
    result = scene.apply(web(2, behaviour="crash=0.1"), secret(), flags=["--log-format", "json"])
    assert result.exit_code == 4, str(result)
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert len(lines) > 3
    assert result.document["outcome"] == "rolled-back"


@pytest.mark.contract("B170", "B172")
def test_the_verdict_stands_last_for_people(scene: Scene) -> None:
    """In text, each change is a line with its time; causes and evidence follow in the verdict."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="crash=0.1;code=9"))
    result = scene.gate("apply", "-f", path)
    assert result.exit_code == 4, str(result)
    timed = re.compile(r"^ *\d+\.\d+s  \S+ +\S")
    assert all(timed.match(line) for line in result.stderr.splitlines()), str(result)
    verdict = result.stdout
    assert "ROLLED BACK" in verdict.splitlines()[0]
    order = [verdict.index(word) for word in ("CrashLoop", "exit code 9", "cannot start")]
    assert order == sorted(order)


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


@pytest.mark.fault(44)
@pytest.mark.contract("B177")
def test_a_report_that_cannot_be_written_changes_no_verdict(scene: Scene) -> None:
    """A disk that is full at the end is a warning."""
    result = scene.apply(web(), flags=["--report", "json=/dev/full"])
    assert_verified(result)
    assert "json=/dev/full could not be written" in result.stderr


@pytest.mark.contract("B204")
@pytest.mark.parametrize(
    "flags",
    [
        ("--report", "json=nowhere/report.json"),
        ("--record", "nowhere/run.jsonl"),
        ("--metrics-textfile", "nowhere/gate.prom"),
    ],
    ids=lambda flags: flags[0],
)
def test_a_file_that_cannot_be_written_is_refused_first(
    scene: Scene, audit: Trail, flags: tuple[str, str]
) -> None:
    """Nobody learns after a rollout that its report was to stand in a folder that is not there."""
    result = scene.gate("apply", "-f", scene.manifest(web()), *flags)
    assert_usage(result, f"{flags[0]}: nowhere/", "there is no folder nowhere")
    assert "hint: mkdir -p nowhere" in result.stderr
    assert not audit.requests()


@pytest.mark.contract("B183", "B184")
def test_options_come_from_everywhere(scene: Scene) -> None:
    """A flag wins over the environment, and that over the configuration file."""
    config = "timeout: 1s\nbake: 1s\nrequire-pods: true\n"
    (scene.folder / "rollout-gate.yaml").write_text(config)
    path = scene.manifest(web(behaviour="ready=1.5"))
    environment = {"ROLLOUT_GATE_TIMEOUT": "2m", "ROLLOUT_GATE_BAKE": "2s"}
    result = scene.gate("apply", "-f", path, "--bake", "0s", *JSON_OUTPUT, env=environment)
    assert_verified(result)
    assert "baking" not in {each["event"] for each in result.document["timeline"]}
    assert_refused(scene.apply(web(name="api", replicas=0)), "Vacuous", "api")
