"""GitLab, Azure, Jenkins and any shell."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.ci.azure import Azure
from gate.ci.github import GitHub
from gate.ci.gitlab import GitLab
from gate.ci.publishing import publish, sink_of
from gate.ci.sink import Addition, Plain, Sink, Written
from gate.report.formats.outputs import dotenv
from gate.wire.untrusted import clean
from tests.unit.report.results import HOSTILE, example, spoilt, with_checks

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SECTION = re.compile(
    r"\x1b\[0Ksection_(start|end):(\d+):([a-z0-9_]+)(?:\[collapsed=true\])?\r\x1b\[0K"
)
COMMAND = re.compile(r"##vso\[(?P<name>[a-z.]+) ?(?P<properties>[^\]]*)\](?P<data>.*)")

texts = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map("".join) | st.text()


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
