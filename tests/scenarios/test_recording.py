"""What comes out: logs, reports and recordings, and that no secret is in any of them."""

from __future__ import annotations

import json

import html5lib
import pytest
from junitparser import JUnitXml

from tests.bed.expectations import (
    assert_rolled_back,
    assert_verified,
)
from tests.bed.invariants import CANARY
from tests.bed.jobs import PHASE, job
from tests.bed.scene import Scene, secret, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.long import longer
from tests.unit.ci import runner

on_any_cluster = pytest.mark.sandbox_only("the same code reads and writes it on any cluster")

RECORD = ("--record", "run.jsonl")


@pytest.mark.contract("B270", "B276", "B277")
@pytest.mark.parametrize(
    ("behaviour", "deadline_seconds", "flags", "verdict", "reason"),
    [
        longer("ready=0.5", 60, (), "complete", "Complete"),
        ("crash=0.1", 60, (), "failed", "CrashLoop"),
        longer("image-pull", 60, ("--fail-fast", "image-pull=1s"), "failed", "ImagePull"),
        longer("never-ready", 2, (), "failed", "ProgressDeadlineExceeded"),
    ],
)
def test_a_recording_is_judged_as_the_run_was(
    scene: Scene,
    behaviour: str,
    deadline_seconds: int,
    flags: tuple[str, ...],
    verdict: str,
    reason: str,
) -> None:
    """`replay` of a recorded run comes to its verdict, with the same causes and way back."""
    scene.serve(web(), secret("before"))
    env = {"PASSWORD": f"{CANARY}-2"}
    bad = web(2, progress_deadline_seconds=deadline_seconds, behaviour=behaviour, env=env)
    run = scene.apply(bad, secret(), flags=[*flags, *RECORD])
    result = scene.gate("replay", "run.jsonl", *flags, "--output", "json")
    assert result.exit_code == 0, str(result)
    replayed = result.document
    assert (replayed["verdict"], replayed["reason"]) == (verdict, reason), f"{result}\n{run}"
    assert replayed["new_revision"] is True
    assert replayed["would_roll_back_to"] == 1
    causes = [each["reason"] for each in run.document["deployments"][0]["causes"]]
    assert [each["reason"] for each in replayed["causes"]] == causes


@pytest.mark.contract("B276", "B1460")
@pytest.mark.parametrize("flags", [(), ("--on-failure", "keep")])
def test_a_recording_has_no_workload_that_was_never_written(
    scene: Scene, flags: tuple[str, ...]
) -> None:
    """A Job waits for the rest, of which one crashes: its way back is no apply of the way out."""
    scene.serve(stateful_set(), web())
    smoke = job("smoke", annotations={PHASE: "after"})
    bodies = (job(), stateful_set(image="shop/db:2", behaviour="crash=0.1"), web(2), smoke)
    run = scene.apply(*bodies, flags=[*flags, *RECORD])
    assert run.exit_code == (6 if flags else 4), str(run)
    replayed = scene.gate("replay", "run.jsonl", "--output", "json").document
    assert (replayed["verdict"], replayed["reason"]) == ("failed", "CrashLoop")
    assert replayed["new_revision"] is True


REPORTS = ("json", "text", "junit", "markdown", "html", "dotenv")


@on_any_cluster
@pytest.mark.contract("B276")
def test_a_recording_of_several_workloads_loses_none_of_their_parts(scene: Scene) -> None:
    """Each is read for itself in the bake window: what its list lacks is not gone."""
    scene.serve(web(), web(name="api"))
    flags = ("--bake", "25s", *RECORD)
    run = scene.apply(web(2), web(2, name="api"), flags=flags)
    assert_verified(run)
    replayed = scene.gate("replay", "run.jsonl")
    assert replayed.exit_code == 0, str(replayed)
    assert "following no" not in replayed.stdout, replayed.stdout
    assert replayed.stdout.count("following replicaset/") == 2


@pytest.mark.contract("B258", "B259")
def test_a_token_that_stands_in_a_label_is_in_no_output(scene: Scene) -> None:
    """Nor in a recording, a report or the metrics; what goes back to the cluster has it still."""
    (token, *_) = scene.gate.secrets
    serving, failing = web(), web(2, behaviour="crash=0.1")
    for body in (serving, failing):
        labels = body["metadata"].setdefault("labels", {})
        labels["echo"] = f"v{token}v"
    scene.serve(serving)
    flags = [*RECORD, "--metrics-textfile", "run.prom"]
    for form in REPORTS:
        flags += ["--report", f"{form}=run.{form}"]
    result = scene.apply(failing, flags=flags)
    assert result.exit_code == 4, str(result)
    header = json.loads((scene.folder / "run.jsonl").read_text().splitlines()[0])
    label = header["applied"]["metadata"]["labels"]["echo"]
    assert label.startswith("vmasked:")
    replayed = scene.gate("replay", "run.jsonl", "--output", "json")
    assert replayed.document["reason"] == "CrashLoop", str(replayed)
    live = scene.objects.get("deployments", "web")
    assert live["metadata"]["labels"]["echo"] == f"v{token}v"


@on_any_cluster
@pytest.mark.contract("B258")
def test_what_a_pod_says_of_a_secret_is_masked(scene: Scene) -> None:
    """A container that prints a Secret's value gives it to no report."""
    value = f"{CANARY}-spoken-by-a-pod"
    scene.serve(web())
    log = f"cannot log in as shop with {value}"
    result = scene.apply(web(2, behaviour="crash=0.1", log=log), secret(value), flags=RECORD)
    assert result.exit_code == 4, str(result)
    assert "cannot log in as shop with ***" in result.stdout


def _ended_alike(scene: Scene, flags: tuple[str, ...] = ()) -> tuple[JSON, JSON]:
    """Return the results of a recorded run of a bad version, and of the report of its recording."""
    scene.serve(web())
    run = scene.apply(web(2, behaviour="crash=0.1"), flags=[*flags, *RECORD])
    return run.document, _reported(scene)


def _reported(scene: Scene) -> JSON:
    """Return the report of the recording, written to a file: its exit code is the run's."""
    report = scene.gate("report", "run.jsonl", "--report", "json=report.json")
    assert report.exit_code == 0, str(report)
    found: JSON = json.loads((scene.folder / "report.json").read_text())
    return found


@on_any_cluster
@pytest.mark.contract("B750")
@pytest.mark.parametrize("flags", [(), longer(("--on-failure", "keep")), longer(("--observe",))])
def test_a_recording_tells_how_its_run_ended(scene: Scene, flags: tuple[str, ...]) -> None:
    """The report of a recording has the run's verdict, exit code, way back and what runs."""
    run, report = _ended_alike(scene, flags)
    names = ("outcome", "exit_code", "reason", "message", "rollback", "attempt", "context")
    assert {name: report[name] for name in names} == {name: run[name] for name in names}
    for then, now in zip(run["deployments"], report["deployments"], strict=True):
        same = ("outcome", "reason", "running", "baseline", "new", "causes")
        assert {name: now[name] for name in same} == {name: then[name] for name in same}
    done = [(one["name"], one["action"], one["at_end"]) for one in run["objects"]]
    assert [(one["name"], one["action"], one["at_end"]) for one in report["objects"]] == done
    (warning,) = report["warnings"]
    assert "the logs and warnings of its run are not in it" in warning


@on_any_cluster
@pytest.mark.contract("B750")
def test_a_recording_of_a_rollback_advises_no_bad_revision(scene: Scene) -> None:
    """What serves again needs no undo, and the revision that it had is now the bad one's."""
    _ended_alike(scene)
    text = scene.gate("report", "run.jsonl").stdout
    assert "ROLLED BACK (exit 4): " in text.splitlines()[0]
    assert "serves again" in " ".join(text.split())
    assert "rollout-gate undo" not in text


@on_any_cluster
@pytest.mark.contract("B1555")
def test_a_recording_of_a_failed_check_says_what_was_done(scene: Scene) -> None:
    """What a check said is not recorded of the end; what judging again says is no wish."""
    scene.serve(web())
    assert scene.apply(web(2), flags=[*RECORD, "--smoke-test", "false"]).exit_code == 4
    text = scene.gate("report", "run.jsonl").stdout
    assert "ROLLED BACK (exit 4): " in text.splitlines()[0]
    assert "why CheckFailed: false: exit 1" in " ".join(text.split()), text


@on_any_cluster
@pytest.mark.contract("B750")
def test_a_recording_without_an_end_advises_nothing(scene: Scene) -> None:
    """A gate that was killed left no end: what it did then, and what runs, nobody can tell."""
    _ended_alike(scene)
    recording = scene.folder / "run.jsonl"
    lines = recording.read_text().splitlines(keepends=True)
    assert json.loads(lines[-1])["type"] == "ENDED"
    recording.write_text("".join(lines[:-1]))
    document = _reported(scene)
    assert (document["outcome"], document["exit_code"]) == ("observed", None)
    assert document["message"].startswith("would have rolled back deployment/web to revision 1")
    assert [one["running"] for one in document["deployments"]] == ["unknown"]
    assert document["deployments"][0]["evidence"]
    text = scene.gate("report", "run.jsonl").stdout
    assert "(its end is not recorded)" in text
    assert "exit 0" not in text
    assert "next" not in text
    assert "nor how its run ended and what runs" in " ".join(text.split())


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


@on_any_cluster
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
