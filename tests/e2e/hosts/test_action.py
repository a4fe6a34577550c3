"""The Action in a runner, against the sandbox and against a real control plane."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.command import Result
from tests.hosts.github import ENTRY_SECONDS, Repository, cancel
from tests.hosts.place import EXAMPLES, Place, figure

COURSE = Path(__file__).with_name("course.yml")
LIVE = ("evident", "quiet")


@dataclass(frozen=True, slots=True)
class Course:
    """What became of the job: its log, what its last step read."""

    place: Place
    folder: Path
    result: Result
    steps: Mapping[str, Any]

    def outputs(self, step: str) -> Mapping[str, str]:
        """Return the outputs of a step, as a later one read them, the document aside."""
        return {k: v for k, v in self.steps[step]["outputs"].items() if k != "result"}

    def document(self, step: str) -> Any:
        """Return the result document that a step gave."""
        return json.loads(self.steps[step]["outputs"]["result"])


@pytest.fixture(scope="module")
def course(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Run the job once; cancel two of its steps in the middle."""
    repository = Repository(tmp_path_factory.mktemp("course"))
    place.serve("bad", *LIVE)
    asked = {"good": "", "bad": "crash=0.1", "quiet": "ready=60", "evident": "crash=0.1"}
    for name, behaviour in asked.items():
        place.write(repository.checkout / "deploy" / f"{name}.yaml", name, 2, behaviour)
    repository.add(COURSE)
    took = {}
    with repository.push(place.kubeconfig.read_text()) as runner:
        runner.wait_for_line("applied +deployment/quiet changed", ENTRY_SECONDS)
        took["quiet"] = cancel(runner)
        runner.wait_for_line("pod/evident.*CrashLoop", ENTRY_SECONDS)
        took["evident"] = cancel(runner)
        result = runner.wait(ENTRY_SECONDS)
    said = repository.left / "steps.json"
    assert said.exists(), str(result)
    for name, seconds in took.items():
        figure(f"{name}: {seconds:.2f} s from SIGINT to the end of the gate")
    figure(f"the job took {result.duration_seconds:.0f} s")
    return Course(place, repository.left, result, json.loads(said.read_text()))


@pytest.mark.contract("B590", "B591")
def test_a_later_step_reads_that_it_was_good(course: Course) -> None:
    """The outputs of a good rollout name the report that was written."""
    assert course.steps["good"]["outcome"] == "success", str(course.result)
    assert course.outputs("good") == {
        "outcome": "verified",
        "exit-code": "0",
        "reason": "Complete",
        "rolled-back": "false",
        "changed": "true",
        "running": "new",
        "not-judged": "0",
        "report-path": "good.html",
    }
    assert course.document("good")["exit_code"] == 0
    assert "<svg" in (course.folder / "good.html").read_text(encoding="utf-8")


@pytest.mark.contract("B590", "B591")
def test_a_later_step_reads_that_it_was_rolled_back(course: Course) -> None:
    """A step that fails has its outputs, too."""
    assert course.steps["bad"]["outcome"] == "failure"
    found = course.outputs("bad")
    assert (found["outcome"], found["exit-code"], found["reason"]) == (
        "rolled-back",
        "4",
        "CrashLoop",
    )
    assert (found["rolled-back"], found["running"]) == ("true", "baseline")
    assert course.place.images("bad")[0] == "shop/bad:1"


@pytest.mark.contract("B590", "B592")
def test_what_is_refused_writes_nothing_and_no_shell_reads_an_input(course: Course) -> None:
    """An argument is what its line says, whatever a shell would make of it."""
    found = course.outputs("refused")
    assert (found["outcome"], found["exit-code"], found["changed"]) == ("refused", "3", "false")
    assert "$(touch injected)" in course.document("refused")["message"]
    assert not list(course.folder.rglob("injected"))


@pytest.mark.contract("B593", "B594")
def test_a_cancelled_step_without_evidence_leaves_the_rollout(course: Course) -> None:
    """SIGINT to the runner's own child is the gate's, and its outputs are complete."""
    found = course.outputs("quiet")
    assert (found["outcome"], found["exit-code"], found["rolled-back"]) == (
        "interrupted",
        "130",
        "false",
    )
    assert course.document("quiet")["rollback"] is None
    assert course.place.images("quiet")[0] == "shop/quiet:2"


@pytest.mark.contract("B593", "B594")
def test_a_cancelled_step_with_evidence_takes_the_version_back(course: Course) -> None:
    """What crashed before the signal is taken back, without waiting for it."""
    found = course.outputs("evident")
    assert (found["outcome"], found["exit-code"]) == ("interrupted", "130")
    assert course.document("evident")["rollback"]["written_at"]
    assert course.place.images("evident")[0] == "shop/evident:1"


@pytest.mark.contract("B593")
def test_the_summary_of_every_step_is_whole(course: Course) -> None:
    """Each of the five steps has its summary, the cancelled ones among them."""
    log = course.result.stdout
    for heading in ("VERIFIED (exit 0)", "ROLLED BACK (exit 4)", "REFUSED (exit 3)"):
        assert f"{heading}" in log
    assert log.count("INTERRUPTED (exit 130)") >= 2


@pytest.mark.contract("B595")
def test_the_example_for_production_runs_as_it_stands(
    sandbox: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Deploy, read the outputs, keep the reports; nothing is left to be recovered."""
    repository = Repository(tmp_path_factory.mktemp("example"))
    sandbox.write(repository.checkout / "deploy" / "web.yaml", "web", 1)
    repository.add(EXAMPLES / "github" / "production.yml")
    with repository.push(sandbox.kubeconfig.read_text()) as runner:
        result = runner.wait(ENTRY_SECONDS)
    assert result.exit_code == 0, str(result)
    assert "outcome=verified reason=Complete running=new rolled-back=false" in result.stdout
    assert "uploaded gate-report.html" in result.stdout
    assert "uploaded gate-junit.xml" in result.stdout
    assert "Finish what was left" not in result.stdout.split("Run Main", 1)[1]
