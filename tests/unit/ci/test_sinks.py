"""What each CI host is told, as its runner reads it; any other shell is told nothing."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.ci.annotations import MOST_OF_A_LEVEL
from gate.ci.azure import Azure
from gate.ci.github import GitHub
from gate.ci.gitlab import GitLab
from gate.ci.publishing import publish, sink_of
from gate.ci.sink import Addition, Plain, Sink, Written
from gate.report.formats.markdown import BUDGET_BYTES
from gate.report.formats.outputs import dotenv
from gate.report.schema.result import Result
from gate.wire.untrusted import clean
from tests.unit.ci import runner
from tests.unit.report.results import HOSTILE, NAMES, example, spoilt, with_checks

TOKEN = "0123456789abcdef" * 2
REPORTS = (Written("json", "r.json"), Written("html", "out/r.html"))

texts = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map("".join) | st.text()


def host(folder: Path, summary_bytes: int = 0) -> GitHub:
    """Return a step with its files."""
    names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")
    return GitHub({name: str(folder / name) for name in names}, TOKEN, summary_bytes)


def published(folder: Path, result: Result) -> dict[str, str]:
    """Tell the host, and return the outputs that the runner reads."""
    assert publish(host(folder).additions(result, REPORTS)) == []
    return runner.outputs(folder / "GITHUB_OUTPUT")


def log_of(result: Result) -> runner.Log:
    """Return what the runner reads of the log below the verdict."""
    return runner.read(GitHub({}, TOKEN).remarks(result, REPORTS))


# -- outputs ---------------------------------------------------------------------------------------


@pytest.mark.contract("B571")
def test_the_outputs_are_those_of_the_action(tmp_path: Path) -> None:
    """Names, values, and the document."""
    found = published(tmp_path, example("rolled-back"))
    document = json.loads(found.pop("result"))
    assert found == {
        "outcome": "rolled-back", "exit-code": "4", "reason": "CrashLoop", "rolled-back": "true",
        "changed": "true", "running": "baseline", "not-judged": "0",
        "report-path": "out/r.html",
    }  # fmt: skip
    assert document["message"] == example("rolled-back")["message"]


@pytest.mark.contract("B571")
def test_no_other_file_is_written(tmp_path: Path) -> None:
    """Neither the environment nor the path of later steps."""
    published(tmp_path, example("rolled-back"))
    assert {path.name for path in tmp_path.iterdir()} == {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}


@pytest.mark.contract("B571", "B561")
@given(name=st.sampled_from(sorted(NAMES)), words=texts)
def test_no_words_make_an_output(
    name: str, words: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Not even those that guess what the delimiter begins with."""
    folder = tmp_path_factory.mktemp("step")
    result = spoilt(example(name), f"{words}\nrollout-gate-\noutcome=verified\nx<<EOF\nEOF")
    found = published(folder, result)
    assert list(found) == [
        "outcome", "exit-code", "reason", "rolled-back", "changed", "running", "not-judged",
        "report-path", "result",
    ]  # fmt: skip
    assert found["outcome"] == result["outcome"]
    assert json.loads(found["result"])["outcome"] == result["outcome"]


@pytest.mark.contract("B571")
def test_a_path_is_one_line(tmp_path: Path) -> None:
    """Whatever a flag names."""
    additions = host(tmp_path).additions(example("verified"), [Written("html", "a\nb=c")])
    publish(additions)
    assert runner.outputs(tmp_path / "GITHUB_OUTPUT")["report-path"] == "a b=c"


@pytest.mark.contract("B571")
def test_the_document_is_bounded(tmp_path: Path) -> None:
    """It fits into a variable, however much there is to tell, and is still whole JSON."""
    result = spoilt(example("rolled-back"), "w" * 4000)
    result["workloads"] = [dict(result["workloads"][0]) for _ in range(10)]  # type: ignore[misc]
    text = published(tmp_path, result)["result"]
    assert len(text) <= 100 * 1024
    assert json.loads(text)["reason"] == "CrashLoop"


# -- summary ---------------------------------------------------------------------------------------


@pytest.mark.contract("B572")
def test_what_the_step_has_used_of_its_budget_counts(tmp_path: Path) -> None:
    """GitHub would drop all of it."""
    used = BUDGET_BYTES - 1_000
    _, page = host(tmp_path, used).additions(example("rolled-back"), ())
    assert len(page.text.encode()) <= 1_000
    full = host(tmp_path, BUDGET_BYTES).additions(example("rolled-back"), ())
    assert [addition.path.name for addition in full] == ["GITHUB_OUTPUT"]


# -- annotations -----------------------------------------------------------------------------------


@pytest.mark.contract("B573")
def test_a_failure_stands_beside_its_manifest() -> None:
    """With the file and the line of the Deployment that decided."""
    result = with_checks("rolled-back")
    result["objects"][1]["file"], result["objects"][1]["line"] = "deploy/a,b:c.yaml", 12
    first, *rest = log_of(result).of("error")
    assert first.properties == {
        "title": "rollout-gate: ROLLED BACK (exit 4)", "file": "deploy/a,b:c.yaml", "line": "12",
    }  # fmt: skip
    assert first.data == f"CrashLoop: {result['message']}"
    assert [one.properties["title"] for one in rest] == [
        "check errors: fail",
        "check against before: fail",
    ]


@pytest.mark.contract("B573")
def test_a_fault_of_a_manifest_stands_in_it() -> None:
    """The message of a refusal begins with the place."""
    result = example("verified")
    refused: Result = {**result, "outcome": "usage", "exit_code": 2, "workloads": [],  # type: ignore[typeddict-item]
                       "message": "web.yaml:7:3: unknown field"}  # fmt: skip
    (error,) = log_of(refused).of("error")
    assert (error.properties["file"], error.properties["line"]) == ("web.yaml", "7")


@pytest.mark.contract("B573")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_only_what_fails_the_job_is_an_error(name: str) -> None:
    """A run that was merely observed warns."""
    result = example(name)
    log = log_of(result)
    assert bool(log.of("error")) is (result["exit_code"] not in (0, 7))
    assert bool(log.of("warning")) or name != "observed"


@pytest.mark.contract("B573")
def test_there_are_at_most_ten_of_a_level() -> None:
    """GitHub keeps no more; the first is that of the run."""
    result = example("rolled-back")
    result["workloads"] = [{**result["workloads"][0], "name": f"web-{n}"} for n in range(30)]
    result["warnings"] = [f"warning {n}" for n in range(30)]
    log = log_of(result)
    assert len(log.of("error")) == len(log.of("warning")) == MOST_OF_A_LEVEL
    assert "ROLLED BACK" in log.of("error")[0].properties["title"]


@pytest.mark.contract("B573", "B574", "B561")
@given(name=st.sampled_from([*sorted(NAMES)]), words=texts)
def test_no_words_make_a_command(name: str, words: str) -> None:
    """Neither in an annotation nor in the evidence nor in the verdict."""
    sink = GitHub({}, TOKEN)
    good, bad = (
        runner.read(sink.frame_text(f"{text}\n") + sink.remarks(spoilt(example(name), text), ()))
        for text in ("word", f"{words}.")
    )
    assert [(c.name, list(c.properties)) for c in bad.commands] == [
        (c.name, list(c.properties)) for c in good.commands
    ]


@pytest.mark.contract("B573")
def test_a_message_is_cut_and_on_one_line() -> None:
    """As the runner would cut it, which would spoil its escapes."""
    result = example("rolled-back")
    result["message"] = "a%b\n" * 5000
    lines = GitHub({}, TOKEN).remarks(result, ()).splitlines()
    (line,) = [line for line in lines if line.startswith("::error") and "CrashLoop: a" in line]
    assert len(runner.read(line).commands[0].data) <= 4096


# -- groups ----------------------------------------------------------------------------------------


@pytest.mark.contract("B574")
def test_the_evidence_is_folded_and_no_line_of_it_is_read() -> None:
    """One group a Deployment; in it commands are stopped."""
    result = example("rolled-back")
    result["workloads"][0]["evidence"][0]["text"] = "::error::no\n##[group]no\n::endgroup::"
    log = log_of(result)
    assert [c.data for c in log.of("group")] == ["Evidence: deployment/web"]
    assert len(log.of("endgroup")) == 1
    assert "::error::no" in log.lines


# -- GitLab, Azure, Jenkins and any shell ----------------------------------------------------------


NOW = datetime(2026, 11, 21, tzinfo=UTC)
SECTION = re.compile(
    r"\x1b\[0Ksection_(start|end):(\d+):([a-z0-9_]+)(?:\[collapsed=true\])?\r\x1b\[0K"
)
COMMAND = re.compile(r"##vso\[(?P<name>[a-z.]+) ?(?P<properties>[^\]]*)\](?P<data>.*)")


@pytest.mark.contract("B575")
def test_gitlab_folds_the_evidence() -> None:
    """One section, which ends."""
    log = GitLab(1_700_000_000).remarks(example("rolled-back"), ())
    assert SECTION.findall(log) == [
        ("start", "1700000000", "rollout_gate_evidence_0"),
        ("end", "1700000000", "rollout_gate_evidence_0"),
    ]
    assert "panic: no database" in log


@pytest.mark.contract("B575", "B561")
@settings(max_examples=25)
@given(words=texts)
def test_no_words_make_a_section(words: str) -> None:
    """The text is clean, as all that enters is."""
    log = GitLab(1).remarks(spoilt(example("rolled-back"), clean(words)), ())
    assert len(SECTION.findall(log)) <= 2
    assert log.count("\x1b") in (0, 4)


@pytest.mark.contract("B575")
def test_gitlab_gets_variables_for_later_jobs() -> None:
    """As its dotenv reports take them: 20 at most, a line each, no quotes."""
    lines = dotenv(example("rolled-back")).splitlines()
    assert lines == [
        "GATE_OUTCOME=rolled-back", "GATE_EXIT_CODE=4", "GATE_REASON=CrashLoop",
        "GATE_ROLLED_BACK=true", "GATE_CHANGED=true", "GATE_RUNNING=baseline",
        "GATE_NOT_JUDGED=0",
    ]  # fmt: skip


def azure(log: str) -> list[tuple[str, str]]:
    """Return the commands that the agent reads, each with its data."""
    return [(found["name"], found["data"]) for found in COMMAND.finditer(log)]


@pytest.mark.contract("B576")
def test_azure_gets_issues_variables_and_reports() -> None:
    """Each report that was written goes where the host shows it."""
    reports = (Written("junit", "r.xml"), Written("markdown", "r.md"), Written("html", "r.html"))
    log = Azure().remarks(with_checks("rolled-back"), reports)
    found = azure(log)
    assert ("task.setvariable", "rolled-back") in found
    assert [name for name, _ in found if name == "task.logissue"] == ["task.logissue"] * 4
    assert ("task.uploadsummary", str(Path("r.md").absolute())) in found
    assert f"resultFiles={Path('r.xml').absolute()}" in log
    assert "##[group]Evidence: deployment/web\n" in log


@pytest.mark.contract("B576", "B561")
@settings(max_examples=50)
@given(words=texts)
def test_no_words_make_a_command_of_azure(words: str) -> None:
    """Which may begin anywhere in a line."""
    sink = Azure()
    logs = [
        sink.frame_text(text) + sink.remarks(spoilt(example("rolled-back"), text), ())
        for text in ("word", f"{words}.")
    ]
    good, bad = ([name for name, _ in azure(log)] for log in logs)
    assert bad == good
    assert logs[0].count("##[") == logs[1].count("##[")


@pytest.mark.contract("B577")
def test_elsewhere_the_log_is_left_as_it_is() -> None:
    """Jenkins reads no commands, and colours and dates the log itself."""
    sink = sink_of({"JENKINS_URL": "https://ci.example/"}, NOW)
    assert sink.frame_text("::error::x\n") == "::error::x\n"
    assert sink.remarks(example("rolled-back"), ()) == ""
    assert list(sink.additions(example("rolled-back"), ())) == []


@pytest.mark.contract("B570")
@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({"GITHUB_ACTIONS": "true"}, GitHub),
        ({"GITLAB_CI": "true"}, GitLab),
        ({"TF_BUILD": "True"}, Azure),
        ({"JENKINS_URL": "https://ci.example/"}, Plain),
        ({}, Plain),
    ],
)
def test_each_host_has_its_sink(environ: dict[str, str], kind: type[Sink]) -> None:
    """By the variable that it sets."""
    assert isinstance(sink_of(environ, NOW), kind)


@pytest.mark.contract("B571")
def test_no_two_runs_have_a_delimiter_in_common() -> None:
    """It is random, and longer than anybody can guess."""
    sinks = [sink_of({"GITHUB_ACTIONS": "true"}, NOW) for _ in range(2)]
    one, other = (sink.frame_text("").splitlines()[0] for sink in sinks)
    assert one != other
    assert len(one.removeprefix("::stop-commands::")) == 32


@pytest.mark.contract("B578")
@pytest.mark.parametrize("path", ["missing/file", "", "a\x00b"])
def test_a_file_that_cannot_be_written_is_a_warning(path: str, tmp_path: Path) -> None:
    """And the others are written all the same."""
    target = Path(path) if "\x00" in path else tmp_path / path
    good = Addition(tmp_path / "good", "said\n")
    (warning,) = publish([Addition(target, "x"), good])
    assert warning.startswith("the CI host's file ")
    assert (tmp_path / "good").read_text() == "said\n"


@pytest.mark.contract("B578")
def test_a_summary_that_is_not_there_has_no_size() -> None:
    """The runner makes it before the step; a shell of one's own does not."""
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "/nowhere/summary"}
    assert isinstance(sink_of(environ, NOW), GitHub)
