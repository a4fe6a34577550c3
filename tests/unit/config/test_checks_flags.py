"""Checks as flags: one-liners, URLs and commands, and what else the options say of checks."""

from __future__ import annotations

from typing import Any

import pytest

from gate.config import Settings, SettingsError, all_checks, policy
from gate.config.checks.one_line import by_command
from gate.core.checks.bake_window import least_bake_seconds
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import (
    Bounds,
    Check,
    Command,
    During,
    Http,
    Metric,
    OnInconclusive,
    Schedule,
)
from gate.core.rollout.policy import Policy
from gate.errors import UsageError
from tests.unit.config.folder import Folder, listed

ONE = listed("name: one\nquery: up\nmax: 1")
OWN = listed("name: own\nquery: up\nmax: 1\ninterval: 7s\nwindow: 30s")


def of_flag(folder: Folder, text: str) -> tuple[str, str, Bounds]:
    """Return name, query and bounds of a `--check`."""
    (check,) = folder.load(check=(text,)).check
    assert isinstance(check.probe, Metric)
    return check.name, check.probe.query.text, check.probe.bounds


@pytest.mark.contract("B439")
@pytest.mark.parametrize(
    ("text", "query", "bounds"),
    [
        ("e: sum(x) <= 0.5", "sum(x)", Bounds(most=0.5)),
        ("e: sum(x)>=2", "sum(x)", Bounds(least=2.0)),
        ("e: count(x > bool 0) <= 3", "count(x > bool 0)", Bounds(most=3.0)),
        ("e: sum(x) > 5 <= 10", "sum(x) > 5", Bounds(most=10.0)),
        (
            "e: sum(x{a!=\"<= 1\",b=~'>= 2'}) <= 1",
            "sum(x{a!=\"<= 1\",b=~'>= 2'})",
            Bounds(most=1.0),
        ),
        ("e: x{a=`<= 1`}\n# or <= 2\n<= 3", "x{a=`<= 1`}\n# or <= 2", Bounds(most=3.0)),
        ('e: x{a="\\"<="} <= 1', 'x{a="\\"<="}', Bounds(most=1.0)),
        ("e: x[5m:1m] @ end() <= -1e-3", "x[5m:1m] @ end()", Bounds(most=-0.001)),
        ("e: x <= 0x1F", "x", Bounds(most=31.0)),
        ("e: x <= -0x10", "x", Bounds(most=-16.0)),
        ("e: x <= 1_000.5", "x", Bounds(most=1000.5)),
        ("e: x <= .5", "x", Bounds(most=0.5)),
        ("e: x <= +3.", "x", Bounds(most=3.0)),
        (
            'e: job:x:rate5m{pod="${replicaset}"} <= 1',
            'job:x:rate5m{pod="${replicaset}"}',
            Bounds(None, 1),
        ),
    ],
)
def test_the_last_comparison_outside_of_brackets_is_the_bound(
    folder: Folder, text: str, query: str, bounds: Bounds
) -> None:
    """What stands in brackets, strings and comments is the query's own; numbers are PromQL's."""
    assert of_flag(folder, text) == ("e", query, bounds)


@pytest.mark.contract("B439")
@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("e: x < 1", "--check: e: < is no bound (bounds are inclusive: <=)", "name: QUERY <= 0.5"),
        ("e: x > 1", "--check: e: > is no bound (bounds are inclusive: >=)", "name: QUERY"),
        ("e: x == 1", "--check: e: == is no bound (a file can say min and max)", "name: QUERY"),
        ("e: x != 1", "--check: e: != is no bound", "name: QUERY"),
        ("e: x <= y", "--check: e: not a number behind <=: 'y'", "stands in brackets"),
        ("e: x <= bool 1", "--check: e: not a number behind <=: 'bool 1'", "brackets"),
        ("e: x <= 1 or y", "--check: e: not a number behind <=: '1 or y'", "brackets"),
        ("e: x <= Inf", "--check: e: not a number behind <=: 'Inf'", ""),
        ("e: x <= NaN", "--check: e: not a number behind <=", ""),
        ("e: x <= 1e999", "--check: e: too large a number", ""),
        ("e: x <=", "--check: e: not a number behind <=: ''", ""),
        ("e: x", "--check: has no bound: 'x'", "name: QUERY"),
        ("e: (x <= 1)", "--check: has no bound", ""),
        ("e: sum(x[1m]) / sum(y <= 1", "--check: brackets that do not match: 'sum(x", ""),
        ("e: sum(x)) <= 1", "--check: brackets that do not match", ""),
        ("e: <= 1", "--check: e: the query is empty", ""),
        (
            "sum(x) <= 1",
            "--check: not of the form NAME: QUERY <= BOUND: 'sum(x) <= 1'",
            "name: QUERY",
        ),
        ("job:errors:rate5m <= 1", "--check: not of the form NAME: QUERY <= BOUND", ""),
        ("a/b: x <= 1", "--check: not a check's name: 'a/b'", ""),
        (
            'e: x{a="${replicast}"} <= 1',
            (
                "--check: e: unknown variable ${replicast} (at character 6)"
                " (did you mean ${replicaset}?)"
            ),
            "known are",
        ),
    ],
)
def test_what_is_no_check_says_how_one_looks(
    folder: Folder, text: str, problem: str, hint: str
) -> None:
    """One line, exit 2, and the form."""
    from gate.config import SettingsError

    with pytest.raises(SettingsError) as caught:
        folder.load(check=(text,))
    (fault,) = caught.value.problems
    assert fault.startswith(problem)
    assert hint in caught.value.hint


@pytest.mark.contract("B440")
def test_a_url_is_a_check_by_its_host_and_path(folder: Folder) -> None:
    """Asked in both phases; 2xx is good."""
    urls = ("https://web.example:8443/health?deep=1", "http://[::1]/", "http://web.example")
    first, second, third = folder.load(http_check=urls).http_check
    question = HttpQuestion("https://web.example:8443/health?deep=1")
    assert first == Check("web.example-8443-health", Http(question))
    assert (second.name, third.name) == ("1", "web.example")


@pytest.mark.contract("B437", "B440")
def test_a_smoke_test_runs_once_in_the_bake_window(folder: Folder) -> None:
    """Split as a shell does, named by the program, and never read by a shell."""
    lines = ("./bin/smoke.sh --url 'a b' '$HOME'", "./bin/smoke.sh other")
    first, second = folder.load(smoke_test=lines).smoke_test
    words = ("./bin/smoke.sh", "--url", "a b", "$HOME")
    assert first == Check("smoke.sh", Command(words), Schedule(count=1, during=During.BAKE))
    assert second.name == "smoke.sh 2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("curl 'x", "--smoke-test: not a command line"),
        ("''", "--smoke-test: has no command"),
        ("a | b", "--smoke-test: | is for a shell, and commands run without one"),
        ("a > log", "--smoke-test: > is for a shell, and commands run without one"),
        ("a && b", "--smoke-test: && is for a shell, and commands run without one"),
        ("a; b", "--smoke-test: ; is for a shell, and commands run without one"),
        ("curl $URL", "--smoke-test: $ is for a shell, and commands run without one"),
        ('curl "$URL/x"', "--smoke-test: $ is for a shell, and commands run without one"),
        (
            "echo \"it's\" | grep 's'",
            "--smoke-test: | is for a shell, and commands run without one",
        ),
        ("echo `date`", "--smoke-test: ` is for a shell, and commands run without one"),
        ("echo 'a' $(date)", "--smoke-test: $ is for a shell, and commands run without one"),
    ],
)
def test_a_smoke_test_that_cannot_be_split_is_wrong(
    folder: Folder, text: str, problem: str
) -> None:
    """A shell would wait for the quote."""
    assert folder.problems(smoke_test=(text,)) == [problem]


@pytest.mark.contract("B440")
@pytest.mark.parametrize(
    "text",
    [
        *("sh -c 'a | b > $LOG && c'", "grep 'a|b'", 'grep "a|b;c"', "grep a\\|b", "price 5$ $"),
        *("awk '{print $1}' x", "a \\$HOME", "it\\'s"),
    ],
)
def test_what_is_quoted_is_for_no_shell(folder: Folder, text: str) -> None:
    """Whoever wants a shell names one."""
    (check,) = folder.load(smoke_test=(text,)).smoke_test
    assert isinstance(check.probe, Command)


def test_what_is_for_a_shell_is_given_to_one_by_the_hint() -> None:
    """It can be pasted as the value of the option."""
    with pytest.raises(UsageError) as caught:
        by_command("curl -f x | grep 'ok'", 10.0)
    assert caught.value.hint.startswith("sh -c 'curl -f x | grep '\"'\"'ok'\"'\"'' runs it in one")


@pytest.mark.contract("B441")
def test_the_interval_of_all_is_that_of_checks_that_say_none(folder: Folder) -> None:
    """Of files and flags; the layers do not matter."""
    settings = folder.load(
        f"check-interval: 3s\n{OWN}\n  - {{name: two, query: up, max: 1}}",
        environ={"ROLLOUT_GATE_CHECK_INTERVAL": "5s"},
        check=("f: up <= 1",),
        http_check=("http://web",),
        smoke_test=("true",),
    )
    intervals = {check.name: check.schedule.interval_seconds for check in all_checks(settings)}
    assert intervals == {"own": 7, "two": 5, "f": 5, "web": 5, "true": 5}
    assert folder.problems("check-interval: 0.5") == [
        "rollout-gate.yaml:1: check-interval: must be 1s or more: '0.5'"
    ]


@pytest.mark.contract("B442")
@pytest.mark.parametrize(
    ("text", "bake_seconds", "evidence_seconds"),
    [
        pytest.param("", 0, 0, id="no checks, no window"),
        pytest.param(ONE, 0, 80, id="window and two intervals"),
        pytest.param(f"bake: auto\n{OWN}", 0, 44, id="auto"),
        pytest.param(f"bake: 5s\n{OWN}", 5, 0, id="as long as it says"),
        pytest.param(f"bake: 0\n{OWN}", 0, 0, id="none"),
        pytest.param(f"{OWN}\n    required: false", 0, 0, id="none is required"),
    ],
)
def test_the_bake_window_is_as_long_as_it_says_or_as_checks_need(
    folder: Folder, text: str, bake_seconds: float, evidence_seconds: float
) -> None:
    """What is said decides, 0 too."""
    budgets = policy(folder.load(text)).budgets
    assert (budgets.bake_seconds, budgets.evidence_seconds) == (bake_seconds, evidence_seconds)


def test_the_policy_has_every_check_and_what_doubt_means(folder: Folder) -> None:
    """The file's first, then the flags'."""
    settings = folder.load(
        f"on-inconclusive: rollback\n{ONE}",
        check=("two: up <= 1",),
        http_check=("http://web",),
        smoke_test=("true",),
    )
    limits = policy(settings)
    assert [check.name for check in limits.checks] == ["one", "two", "web", "true"]
    assert limits.checks == all_checks(settings)
    assert limits.response.on_inconclusive is OnInconclusive.ROLLBACK
    assert limits.budgets.evidence_seconds == least_bake_seconds(limits.checks)
    assert policy(Settings()) == Policy()


BY_TEST = (
    "name: slow\n"
    'query: errors{pod=~"${replicaset}-.*"}\n'
    "interval: 10s\n"
    "{more}"
    "compare: {test: mann-whitney}"
)


def refused(folder: Folder, more: str = "", **flags: Any) -> str:
    """Return what is wrong with a comparison by test."""
    with pytest.raises(SettingsError) as caught:
        folder.load(listed(BY_TEST.replace("{more}", more)), **flags)
    return str(caught.value)


@pytest.mark.contract("B449")
def test_a_bake_window_too_short_for_a_tests_samples_is_refused_at_its_place(
    folder: Folder,
) -> None:
    """Eight samples a minute apart take over 7 minutes: the message has the numbers that do."""
    refusal = refused(folder, bake="5m")
    assert "rollout-gate.yaml:" in refusal
    assert (
        "checks: slow: 8 samples a side, 1m apart so that no two windows overlap, take over 7m,"
        " and bake is 5m"
    ) in refusal
    line = int(refusal.split(":")[1])
    text = (folder.path / "rollout-gate.yaml").read_text().splitlines()
    assert "compare" in text[line - 1]
    folder.load(listed(BY_TEST.replace("{more}", "window: 30s\n")), bake="5m")
    folder.load(listed(BY_TEST.replace("{more}", "")), bake="8m20s")


@pytest.mark.contract("B449")
def test_a_timeout_too_short_for_a_tests_samples_is_refused(folder: Folder) -> None:
    """What runs in the rollout alone cannot have more time than that."""
    refusal = refused(folder, "during: rollout\n", timeout="6m")
    assert "take over 7m, and timeout is 6m" in refusal
    folder.load(listed(BY_TEST.replace("{more}", "during: rollout\n")), timeout="8m")


@pytest.mark.contract("B449")
def test_fewer_measurements_than_a_test_needs_are_refused(folder: Folder) -> None:
    """A count below the least samples could never conclude."""
    refusal = refused(folder, "count: 7\n")
    assert "slow: a test needs 8 samples a side, and count is 7" in refusal
    folder.load(listed(BY_TEST.replace("{more}", "count: 8\n")))


@pytest.mark.contract("B417", "B449")
def test_without_a_bake_window_there_is_one_for_the_samples(folder: Folder) -> None:
    """Seven spacings, then the window and two intervals."""
    settings = folder.load(listed(BY_TEST.replace("{more}", "")))
    assert policy(settings).budgets.evidence_seconds == 7 * 60 + 60 + 20
