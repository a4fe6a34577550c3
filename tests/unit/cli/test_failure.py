"""Every end without a verdict: its lines, its document, its exit code."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from gate.cli.main import run
from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.signals import Signalled
from tests.unit.cli.listener import App

APPLY = ["apply", "-f", "web.yaml"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            ["apply", "--timout", "3"],
            "rollout-gate apply: no such option --timout (did you mean --timeout?)",
        ),
        pytest.param(
            ["pause", "--lock-wait", "x"],
            "rollout-gate pause: no such option --lock-wait",
            marks=pytest.mark.contract("B1828"),
        ),
        pytest.param(
            ["apply", "--out"],
            "rollout-gate apply: no such option --out (did you mean --output?)",
            marks=pytest.mark.contract("B1828"),
        ),
        pytest.param(
            ["undo", "web", "--to", "1"],
            "rollout-gate undo: no such option --to (did you mean --to-revision?)",
            marks=pytest.mark.contract("B2024"),
        ),
        pytest.param(
            ["report", "-o", "markdown"],
            "rollout-gate report: no such option -o (did you mean --format?)",
            marks=pytest.mark.contract("B2024"),
        ),
        (["apply", "-f"], "rollout-gate apply: option '-f' requires an argument"),
        (["apply", "x"], "rollout-gate apply: got unexpected extra argument (x)"),
        (["status"], "rollout-gate status: missing argument 'NAME'"),
        (
            ["schema"],
            (
                "rollout-gate schema: missing argument '{config|result|checks}'. "
                "Choose from: config, result, checks"
            ),
        ),
        (["aply"], "rollout-gate: no such command aply (did you mean apply?)"),
        (["zzz"], "rollout-gate: no such command zzz"),
        (["--zzz"], "rollout-gate: no such option --zzz"),
        (["--\x1b[31m"], "rollout-gate: no such option --\\x1b[31m"),
    ],
)
def test_a_usage_error_is_one_line_and_a_hint(
    line: list[str], problem: str, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2; the command, what is wrong with it, and where to read on."""
    assert run(line) == 2
    assert not app.calls
    captured = capsys.readouterr()
    first, hint = captured.err.splitlines()
    assert first == f"error: {problem}"
    assert hint == f"hint: {problem.partition(':')[0]} --help"
    assert captured.out == ""


@pytest.mark.contract("B1135")
@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (["apply", "v1.yaml"], "rollout-gate apply -f v1.yaml"),
        (["preflight", "a.yml", "b c.json"], "rollout-gate preflight -f a.yml -f 'b c.json'"),
        (["checks", "./v1.yaml"], "rollout-gate checks -f ./v1.yaml"),
        *(
            pytest.param(line, hint, marks=pytest.mark.contract("B2017"))
            for line, hint in (
                (["rehearse", "v1.yaml", "--all"], "rollout-gate rehearse -f v1.yaml --all"),
                (["apply", "-f", "a.yaml", "b.yaml"], "rollout-gate apply -f a.yaml -f b.yaml"),
                (
                    ["apply", "v1.yaml", "--http-check", "http://x?k=1"],
                    "rollout-gate apply -f v1.yaml",
                ),
                (
                    ["apply", "v1.yaml", "--smoke-test", "curl -H 'token: s3cr3t' shop"],
                    "rollout-gate apply -f v1.yaml",
                ),
                (["apply", "--config", "b.yaml", "ab.yaml"], "rollout-gate apply -f ab.yaml"),
                (["apply", "--config", "a.yaml", "a.yaml"], "rollout-gate apply -f a.yaml"),
            )
        ),
        (["apply", "--config", "own.yaml", "v1"], "rollout-gate apply --help"),
        (["status", "./v1.yaml"], "rollout-gate status --help"),
    ],
)
def test_a_manifest_without_its_flag_leads_to_the_flag(
    line: list[str], hint: str, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only where the command takes one, and only of what stands in the wrong place."""
    assert run(line) == 2
    assert not app.calls
    assert capsys.readouterr().err.splitlines()[-1] == f"hint: {hint}"


@pytest.mark.contract("B189")
def test_no_command_at_all_shows_the_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipeline whose arguments are empty did not deploy: exit 2, and stdout stays clean."""
    assert run([]) == 2
    captured = capsys.readouterr()
    assert "Commands:" in captured.err
    assert captured.out == ""


@pytest.mark.contract("B256")
def test_a_refusal_is_a_line_a_hint_and_its_code(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the app raises ends as what it says."""
    app.error = RefusedError("web is paused", reason=Reason.PAUSED, hint="--resume resumes it")
    assert run(APPLY) == 3
    assert capsys.readouterr().err == "error: web is paused\nhint: --resume resumes it\n"


@pytest.mark.contract("B186")
def test_each_problem_of_the_settings_is_a_line(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """All at once, and nothing runs."""
    Path("rollout-gate.yaml").write_text("bake: 1s\ntimeuot: 10m\n", encoding="utf-8")
    assert run([*APPLY, "--timeout", "abc", "--tolerate", "x"]) == 2
    assert not app.calls
    assert capsys.readouterr().err.splitlines() == [
        'error: rollout-gate.yaml:2: unknown key "timeuot" (did you mean "timeout"?)',
        "error: --timeout: not a duration: 'abc'",
        "hint: durations are seconds (600, 1.5) or like 90s, 10m, 1h30m",
        "error: --tolerate: 'x' is neither a count (3) nor a share (25%)",
    ]


@pytest.mark.contract("B652")
def test_each_line_of_a_log_has_the_hint_of_its_problem(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline reads them as it reads all else."""
    flags = ["--http-check", "web", "--timeout", "abc", "--log-format", "json"]
    assert run([*APPLY, *flags]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    hints = {line["text"].partition(":")[0]: line["hint"] for line in lines}
    assert hints["--http-check"].startswith("as in ")
    assert hints["--timeout"].startswith("durations are ")


@pytest.mark.contract("B173")
@pytest.mark.parametrize("asked", [["--output", "json"], ["--output=json"], ["-o", "json"]])
def test_with_output_json_an_error_is_a_document_too(
    asked: list[str], app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether the options could be read or not; stderr says it to people all the same."""
    app.error = UsageError("no such file", hint="look")
    for line, message in ((APPLY, "no such file"), (["apply", "--zzz"], "--zzz")):
        assert run([*line, *asked]) == 2
        captured = capsys.readouterr()
        document = json.loads(captured.out)
        assert (document["outcome"], document["exit_code"]) == ("usage", 2)
        assert document["reason"] == "Usage"
        assert message in document["message"]
        assert message in captured.err


def test_the_environment_asks_for_a_document_too(
    app: App, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the options are wrong."""
    monkeypatch.setenv("ROLLOUT_GATE_OUTPUT", "json")
    assert run([*APPLY, "--timeout", "abc"]) == 2
    assert json.loads(capsys.readouterr().out)["exit_code"] == 2


def test_the_configuration_asks_for_a_document_too(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a file says of output holds for errors as well."""
    Path("rollout-gate.yaml").write_text("output: json", encoding="utf-8")
    app.error = RefusedError("web is paused", reason=Reason.PAUSED)
    assert run(APPLY) == 3
    assert json.loads(capsys.readouterr().out)["reason"] == "Paused"


@pytest.mark.contract("B174")
@pytest.mark.parametrize("line", [APPLY, ["apply", "--zzz"], [*APPLY, "--timeout", "abc"]])
def test_with_log_format_json_an_error_is_a_record(
    line: list[str], app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line of stderr is one JSON object, the developers' lines too."""
    app.error = UsageError("no such file", hint="look")
    assert run([*line, "--log-format", "json", "--log-level", "debug"]) == 2
    *_, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert (last["level"], last["reason"]) == ("error", "Usage")
    assert last["hint"]


@pytest.mark.contract("B21")
def test_a_bug_says_where_and_not_what(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    """The text of an unexpected exception can hold anything, a Secret's bytes too."""
    app.error = KeyError("hunter2")
    assert run([*APPLY, "-o", "json"]) == 1
    captured = capsys.readouterr()
    first, hint = captured.err.splitlines()
    assert first.startswith("error: internal error: KeyError in listener.py:")
    assert "--log-level debug" in hint
    assert "hunter2" not in captured.err + captured.out
    document = json.loads(captured.out)
    assert (document["outcome"], document["reason"]) == ("internal-error", "InternalError")


def test_developers_get_the_traceback(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    """With --log-level debug, and with nothing less."""
    app.error = KeyError("x")
    assert run([*APPLY, "--log-level", "debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_broken_pipe_of_the_app_is_not_taken_for_one_of_stdout(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """A socket's error is a bug where nobody caught it, never a silent end."""
    app.error = BrokenPipeError(32, "Broken pipe")
    assert run(APPLY) == 1
    assert "BrokenPipeError" in capsys.readouterr().err


def test_an_interrupt_outside_of_an_attempt_is_130(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a traceback."""
    app.error = KeyboardInterrupt()
    assert run(APPLY) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


@pytest.mark.contract("B1894", "B150")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (APPLY, "SIGTERM ended it before anything was written"),
        (["pause", "web"], "SIGTERM ended it before anything was written"),
        (["status", "web"], "SIGTERM ended it"),
        (["preflight", "-f", "web.yaml"], "SIGTERM ended it"),
        (["history", "web"], "SIGTERM ended it"),
    ],
)
def test_a_signal_while_a_command_still_loads_says_what_it_says_later(
    line: list[str], said: str, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of writing nothing where the command only looks."""
    app.error = Signalled(signal.SIGTERM)
    assert run(line) == 128 + signal.SIGTERM
    assert capsys.readouterr().err == f"error: {said}\n"


@pytest.mark.contract("B185")
def test_a_misspelt_variable_is_a_warning(
    app: App, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command goes on: somebody else may have set it."""
    monkeypatch.setenv("ROLLOUT_GATE_TIMEUOT", "1m")
    assert run(APPLY) == 0
    assert capsys.readouterr().err == (
        "warning: ROLLOUT_GATE_TIMEUOT is no option (did you mean ROLLOUT_GATE_TIMEOUT?)\n"
    )
