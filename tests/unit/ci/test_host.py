"""Which host, which run of which pipeline, and which trace."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ci.host import Host, PipelineRun, detect, pipeline_run
from gate.ci.tracing import TraceContext, trace_context
from gate.core.model.origin import MOST_ACTOR_CHARACTERS, Origin

SHA = "0123456789abcdef0123456789abcdef01234567"

GITHUB = {
    "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "shop/web", "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_JOB": "deploy", "RUNNER_NAME": "runner-7",
}  # fmt: skip
GITLAB = {
    "GITLAB_CI": "true", "CI_PROJECT_PATH": "shop/web", "CI_PIPELINE_ID": "9", "CI_JOB_ID": "31",
    "CI_JOB_URL": "https://gitlab.example/shop/web/-/jobs/31",
    "CI_PIPELINE_URL": "https://gitlab.example/shop/web/-/pipelines/9",
}  # fmt: skip
JENKINS = {
    "JENKINS_URL": "https://ci.example/", "BUILD_TAG": "jenkins-web-12",
    "BUILD_URL": "https://ci.example/job/web/12/",
}  # fmt: skip
AZURE = {
    "TF_BUILD": "True", "SYSTEM_COLLECTIONURI": "https://dev.azure.com/shop/",
    "SYSTEM_TEAMPROJECT": "web shop", "BUILD_BUILDID": "77", "SYSTEM_STAGEATTEMPT": "1",
    "SYSTEM_JOBATTEMPT": "3", "SYSTEM_JOBID": "a-b-c",
}  # fmt: skip


@pytest.mark.contract("B570")
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (
            GITHUB,
            PipelineRun(
                Host.GITHUB, "https://github.com/shop/web/actions/runs/42/attempts/2",
                "shop/web/42", "2", "deploy@runner-7",
            ),
        ),
        (
            GITLAB,
            PipelineRun(
                Host.GITLAB, "https://gitlab.example/shop/web/-/jobs/31", "shop/web/9", "", "31",
            ),
        ),
        (JENKINS, PipelineRun(Host.JENKINS, "https://ci.example/job/web/12/", "jenkins-web-12")),
        (
            AZURE,
            PipelineRun(
                Host.AZURE, "https://dev.azure.com/shop/web%20shop/_build/results?buildId=77",
                "web shop/77", "1.3", "a-b-c",
            ),
        ),
        ({}, PipelineRun()),
    ],
    ids=["github", "gitlab", "jenkins", "azure", "plain"],
)  # fmt: skip
def test_each_host_says_which_run_it_is(environ: dict[str, str], expected: PipelineRun) -> None:
    """Page, run, attempt and job, as the host's own variables have them."""
    assert pipeline_run(environ) == expected
    assert detect(environ) is expected.host


@pytest.mark.contract("B570")
@pytest.mark.parametrize("environ", [GITHUB, GITLAB, JENKINS, AZURE])
def test_without_its_variables_a_run_is_not_known(environ: dict[str, str]) -> None:
    """The mark of the host alone: no half of a page, no run that others could have in common."""
    mark, value = next(iter(environ.items()))
    found = pipeline_run({mark: value})
    assert (found.url, found.run) == ("", "")


@pytest.mark.contract("B570")
def test_the_jobs_of_a_matrix_are_told_apart() -> None:
    """They have the name of their job in common."""
    other = pipeline_run({**GITHUB, "RUNNER_NAME": "runner-8"})
    assert other.job != pipeline_run(GITHUB).job


@pytest.mark.contract("B570")
@pytest.mark.parametrize("value", ["", "false", "0"])
def test_a_mark_that_says_no_is_none(value: str) -> None:
    """As some set it for local runs."""
    assert detect({"GITHUB_ACTIONS": value}) is Host.PLAIN


@pytest.mark.contract("B570", "B561")
def test_variables_are_cleaned_and_a_page_is_a_web_address() -> None:
    """Branches and names are anybody's."""
    found = pipeline_run(
        {**JENKINS, "BUILD_URL": "javascript:alert(1)", "BUILD_TAG": "a\n::b::\x1b[0m"}
    )
    assert found.url == ""
    assert found.run == "a : :b::"


WHO: Mapping[Host, dict[str, str]] = {
    Host.GITHUB: {**GITHUB, "GITHUB_ACTOR": "alice", "GITHUB_SHA": SHA},
    Host.GITLAB: {**GITLAB, "GITLAB_USER_LOGIN": "alice", "CI_COMMIT_SHA": SHA},
    Host.JENKINS: {**JENKINS, "BUILD_USER_ID": "alice", "GIT_COMMIT": SHA},
    Host.AZURE: {**AZURE, "BUILD_REQUESTEDFOR": "alice", "BUILD_SOURCEVERSION": SHA},
}


@pytest.mark.contract("B780")
@pytest.mark.parametrize("host", WHO)
def test_a_host_says_who_started_the_run_and_its_commit(host: Host) -> None:
    """Beside the page of the run."""
    found = pipeline_run(WHO[host])
    assert found.origin == Origin(found.url, "alice", SHA)


@pytest.mark.contract("B780")
@pytest.mark.parametrize("environ", [GITHUB, GITLAB, JENKINS, AZURE, {"GIT_COMMIT": SHA}])
def test_who_and_commit_are_never_made_up(environ: dict[str, str]) -> None:
    """Neither where the host does not say it, nor without a host: a shell's variable is no run."""
    found = pipeline_run(environ).origin
    assert (found.actor, found.commit) == ("", "")


@pytest.mark.contract("B780")
def test_who_runs_a_run_again_is_who_started_it() -> None:
    """GitHub's actor is still whoever pushed."""
    again = {**WHO[Host.GITHUB], "GITHUB_TRIGGERING_ACTOR": "bob"}
    assert pipeline_run(again).actor == "bob"


@pytest.mark.contract("B780", "B561")
@pytest.mark.parametrize("commit", ["HEAD", "0123", "g" * 40, "a" * 65, f"{SHA}\n::error::x"])
def test_who_is_one_short_clean_line_and_a_commit_is_a_hash(commit: str) -> None:
    """Whoever may push may write into both."""
    hostile = {"GITHUB_ACTOR": "a\n::error::\x1b[0m" + "b" * 9_999, "GITHUB_SHA": commit}
    found = pipeline_run({**GITHUB, **hostile})
    assert found.commit == ""
    assert found.actor.startswith("a : :error::bbb")
    assert len(found.actor) == MOST_ACTOR_CHARACTERS


# -- W3C's trace context ---------------------------------------------------------------------------


TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{SPAN}-01"
NONE = TraceContext()


@pytest.mark.contract("B622")
@pytest.mark.parametrize(
    ("text", "known"),
    [
        (GOOD, GOOD),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"  {GOOD}\n", GOOD),
        (f"01-{TRACE}-{SPAN}-01", f"01-{TRACE}-{SPAN}-01"),
        (f"cc-{TRACE}-{SPAN}-01-what the future will be like", f"cc-{TRACE}-{SPAN}-01"),
    ],
)
def test_a_trace_is_known_by_its_ids(text: str, known: str) -> None:
    """Of a later version the fields that the first one has."""
    assert trace_context({"TRACEPARENT": text}) == TraceContext(known, TRACE, SPAN)


@pytest.mark.contract("B622")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        GOOD.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}a-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"{GOOD}-",
        f"{GOOD}-more",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"{GOOD}\n::error::",
        f"00-{TRACE}-{SPAN}-\u0660\u0661",
        "00-" + "g" * 32 + f"-{SPAN}-01",
    ],
)
def test_what_breaks_the_grammar_counts_for_nothing(text: str) -> None:
    """As the recommendation has it: the trace is not continued."""
    assert trace_context({"TRACEPARENT": text}) == NONE


@given(st.text(alphabet="0123456789abcdefABCDEF-.\n ", max_size=70) | st.text(max_size=70))
def test_whatever_stands_there_only_hex_comes_out(text: str) -> None:
    """It goes into logs and pages."""
    found = trace_context({"TRACEPARENT": text})
    assert set(found.traceparent) <= set("0123456789abcdef-")
