"""One measurement: from the answers of one tick to pass, fail, no data or error.

A check that says nothing is never a yes and never a no.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from gate.core.checks.baseline_comparison import NO_PAIRS, Pairs
from gate.core.checks.counter_answers import look_once
from gate.core.checks.measurement import Kind, Measurement, make_fail, make_pass, no_data
from gate.core.checks.metric_measurement import measure_metric
from gate.core.checks.questions import Answers, Exit, HttpReply, NoReply, Samples
from gate.core.checks.spec import Check, Command, Counts, Http, Metric
from gate.core.model.objects import CleanText
from gate.core.model.signal_names import signal_name

TEMPORARY_FAILURE: Final = 75
"""EX_TEMPFAIL of sysexits.h: the command could not tell, and asks to be tried again."""


def measure(check: Check, answers: Answers, earlier: Pairs = NO_PAIRS) -> Measurement:
    """Judge the answers of one tick; `earlier` are the pairs of the phase for a Mann-Whitney test.

    ValueError if an answer is not of the kind that the check asks for.
    """
    match check.probe, answers.value:
        case Metric() as metric, Samples():
            return measure_metric(check, metric, answers, earlier)
        case Counts() as counts, Samples():
            return look_once(counts, answers)
        case Http() as http, HttpReply() | NoReply() as reply:
            return _reply(http, reply)
        case Command(), Exit() as ended:
            return _exit(ended)
        case _, answer:
            raise ValueError(f"{type(answer).__name__} answers no question of {check.name}")


def hangs_on_time(check: Check, answers: Answers) -> bool:
    """Tell whether all that an answer has against a version is how long it took.

    A wait that breaks off, as by a refused connection, is one of these: a machine that stands still
    loses its connections. A latency within its bound was no longer than that, whoever stood still.
    """
    match answers.value:
        case Exit(code=None) | NoReply():
            return True
        case HttpReply() as reply:
            at_once = replace(answers, value=replace(reply, latency_seconds=0.0))
            is_slow = measure(check, answers).kind is Kind.FAIL
            return is_slow and measure(check, at_once).kind is not Kind.FAIL
        case _:
            return False


def _reply(http: Http, reply: HttpReply | NoReply) -> Measurement:
    if isinstance(reply, NoReply):
        return Measurement(Kind.FAIL, reply.why)
    wrong = _why_unwanted(http, reply)
    if wrong is not None:
        return make_fail(wrong, reply.number)
    said = f"{reply.status} after {reply.latency_seconds:.3g}s"
    if not http.question.json_path:
        return make_pass(said)
    if reply.number is None or math.isnan(reply.number):
        return no_data(f"{said}, and no number at the JSON path")
    if not http.bounds.hold(reply.number):
        message = CleanText(f"{reply.number:g} is not {http.bounds}")
        return Measurement(Kind.FAIL, message, reply.number)
    if math.isinf(reply.number):
        return no_data(f"{reply.number:g} is no measurement", reply.number)
    message = CleanText(f"{said}, {reply.number:g} is {http.bounds}")
    return Measurement(Kind.PASS, message, reply.number)


def _why_unwanted(http: Http, reply: HttpReply) -> str | None:
    low, high = http.status
    if not low <= reply.status <= high:
        to = f" to {reply.location}" if reply.location else ""
        wanted = f"{low}" if low == high else f"{low} to {high}"
        return f"the status is {reply.status}{to}, not {wanted}"
    slow = http.max_latency_seconds
    if slow is not None and reply.latency_seconds > slow:
        return f"it took {reply.latency_seconds:.3g}s, over {slow:g}s"
    if reply.found is False:
        return "the text that is asked for is not in the body"
    return None


def _exit(ended: Exit) -> Measurement:
    last = ended.output.strip().rpartition("\n")[2]
    said = f": {last}" if last else ""
    if ended.code is None:
        return replace(make_fail(f"did not end in time{said}"), output=ended.output)
    if ended.code == 0:
        return make_pass(f"exit 0{said}", 0.0)
    kind = Kind.ERROR if ended.code == TEMPORARY_FAILURE else Kind.FAIL
    how = f"exit {ended.code}" if ended.code > 0 else f"ended by {signal_name(-ended.code)}"
    return Measurement(kind, CleanText(f"{how}{said}"), float(ended.code), output=ended.output)
