"""What ended a command without a verdict: lines for people, a document for pipelines, a code."""

from __future__ import annotations

import contextlib
import re
import shlex
import traceback
from typing import TYPE_CHECKING

import click

from gate import __version__, log
from gate.cli.call import Call
from gate.core.frozen import dataclass
from gate.core.model.outcome import EXIT_CODES, Outcome, Reason
from gate.errors import Bug, GateError, UsageError
from gate.signals import Signalled

if TYPE_CHECKING:
    from gate.report.schema.result import Result

_FILE = ("-f", "--file")
_FORMS = ("-o", "--output")
"""How other commands, and kubectl, are asked for the form of what they print."""
INTERRUPTED_CODE = 130
"""128 and the number of SIGINT, as a shell reports it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An end without a verdict: what is wrong line by line, each with its hint or an empty one."""

    outcome: Outcome
    exit_code: int
    reason: Reason
    problems: tuple[tuple[str, str], ...]


def report_failure(error: BaseException, call: Call) -> int:
    """Say on stderr, and as a document where one is expected, what happened; return the code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        call.stderr.write(f"{error.format_message()}\n")
        return EXIT_CODES[Outcome.USAGE]
    trace = traceback.format_exception(error) if call.wants_traceback else []
    failure = failure_of(error, call)
    if call.wants_json_lines:
        _log(failure, trace, call)
    else:
        _print(failure, trace, call)
    if call.wants_document:
        call.stdout.write(_json(_document(failure, call)))
    _tell_host(failure, call)
    return failure.exit_code


def code_without_output(exit_code: int, call: Call) -> int:
    """Return the exit code of a command whose stdout could not be written.

    What a command may have done to a cluster stands, and its code says it. Where the answer was
    all there was to have, nothing else may end with 0.
    """
    from gate.config.takers import CLUSTER_CHANGING

    if exit_code or CLUSTER_CHANGING.intersection(call.arguments[:1]):
        return exit_code
    return EXIT_CODES[Outcome.USAGE]


def failure_of(error: BaseException, call: Call) -> Failure:
    """Return what any exception means; one that nobody expected is a bug of ours."""
    if isinstance(error, click.UsageError):
        error = _usage_error(error, call)
    elif isinstance(error, click.ClickException):
        error = UsageError(error.format_message())
    if isinstance(error, GateError):
        return Failure(error.outcome, error.exit_code, error.reason, error.list_problems())
    if isinstance(error, Signalled):
        from gate.app.runtime.stopped import Stopped

        return failure_of(Stopped(error, "".join(call.arguments[:1])), call)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        problems = (("interrupted", ""),)
        return Failure(Outcome.INTERRUPTED, INTERRUPTED_CODE, Reason.INTERRUPTED, problems)
    return failure_of(Bug(error), call)


def _usage_error(error: click.UsageError, call: Call) -> UsageError:
    """Return click's complaint in our form: the command first, then one line without full stop."""
    path = error.ctx.command_path if error.ctx else call.command_path
    message = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption):
        guess = _closest_option(error)
        suggestion = f" (did you mean {guess}?)" if guess else ""
        message = f"no such option {error.option_name}{suggestion}"
    text = f"{message[:1].lower()}{message[1:]}".removesuffix(".")
    files = _misplaced_files(error, call)
    mended = _with_flags(files, error, call) if files else "--help"
    return UsageError(f"{path}: {text}", hint=f"{path} {mended}")


def _closest_option(error: click.NoSuchOption) -> str:
    """Return the option that may be meant, "" for none; the dashes make none alike."""
    from gate.config.option import closest

    params = error.ctx.command.params if error.ctx is not None else ()
    flags = [flag for param in params for flag in param.opts if flag.startswith("--")]
    longer = [flag for flag in flags if flag.startswith(f"{error.option_name}-")]
    if len(longer) == 1:
        return longer[0]
    if error.option_name in _FORMS and "--format" in flags:
        return "--format"
    known = {one.removeprefix("--"): one for one in error.possibilities or ()}
    return known.get(closest(error.option_name.removeprefix("--"), known), "")


def _misplaced_files(error: click.UsageError, call: Call) -> list[str]:
    """Return the manifests that stand where no file is expected, of a command that takes `-f`."""
    params = error.ctx.command.params if error.ctx is not None else ()
    if all(param.name != "file" for param in params):
        return []
    said = error.format_message()
    manifests = (one for one in call.arguments if one.endswith((".yaml", ".yml", ".json")))
    named = (one for one in manifests if re.search(rf"(^|[\s(]){re.escape(one)}([\s):]|$)", said))
    return [*dict.fromkeys(named)]


def _with_flags(files: list[str], error: click.UsageError, call: Call) -> str:
    """Return the arguments with `-f` before each of these files.

    Where another option has a value, which may be a secret, the files alone.
    """
    params = error.ctx.command.params if error.ctx is not None else ()
    switches = {flag for one in params if getattr(one, "is_flag", False) for flag in one.opts}
    words = [*zip(("", *call.arguments[1:]), call.arguments[1:], strict=False)]
    if any(last not in _FILE and one not in (*_FILE, *files, *switches) for last, one in words):
        words = [("", one) for one in files]
    return " ".join(
        f"{'-f ' if one in files and last not in _FILE else ''}{shlex.quote(one)}"
        for last, one in words
    )


def _print(failure: Failure, trace: list[str], call: Call) -> None:
    lines = []
    for problem, hint in failure.problems:
        lines += [f"error: {_one_line(problem)}", *([f"hint: {hint}"] if hint else [])]
    call.stderr.write("".join([*trace, *(f"{line}\n" for line in lines)]))


def _log(failure: Failure, trace: list[str], call: Call) -> None:
    from gate.ci.host import pipeline_run
    from gate.ci.tracing import trace_context

    call.configure_log("json", "debug")
    known = trace_context(call.environ)
    run = pipeline_run(call.environ).run
    with log.bind_facts(run=run, trace_id=known.trace_id, span_id=known.span_id):
        for line in "".join(trace).splitlines():
            log.debug("traceback", text=line)
        for problem, hint in failure.problems:
            facts = {"reason": failure.reason.value, "exit_code": failure.exit_code, "hint": hint}
            log.error(failure.outcome.value, text=problem, **facts)


def _document(failure: Failure, call: Call) -> Result:
    """Return the result document of a run that came to no attempt."""
    from gate.ci.tracing import trace_context
    from gate.report.document.document import minimal
    from gate.report.document.run import Run, RunIdentity, RunTimes

    started_at = call.wall().isoformat(timespec="milliseconds")
    traceparent = trace_context(call.environ).traceparent
    run = Run(RunIdentity(__version__, traceparent=traceparent), RunTimes(started_at))
    message = "; ".join(problem for problem, _ in failure.problems)
    hint = "\n".join(dict.fromkeys(hint for _, hint in failure.problems if hint))
    return minimal(failure.outcome, failure.exit_code, failure.reason, message, run, hint=hint)


def _json(result: Result) -> str:
    from gate.report.formats.files import json_text

    return json_text(result)


def _tell_host(failure: Failure, call: Call) -> None:
    """Give the CI host its outputs and marks; what fails there fails nothing else."""
    from gate.ci.host import Host, detect

    if detect(call.environ) is Host.PLAIN:
        return
    from gate.ci.publishing import publish, sink_of

    with contextlib.suppress(Exception):  # stderr has the error already
        result = _document(failure, call)
        sink = sink_of(call.environ, call.wall())
        publish(sink.additions(result, ()))
        call.stderr.write(sink.remarks(result, ()))


def _one_line(text: str) -> str:
    """Return `text` with what does not print escaped: arguments come from anywhere."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
