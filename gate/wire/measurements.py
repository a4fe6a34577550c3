"""Measurements in a recording: a source's answers at one tick of a check, as JSON and back.

JSON has no infinities and no NaN: such numbers are text, spelled as Prometheus spells them. What a
command printed and where a redirect leads may hold secrets, and is masked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, to_builtins
from msgspec.json import Decoder

from gate.core.checks import questions as core
from gate.core.checks.questions import Answer, Answers, Errored
from gate.core.checks.tick_grid import Tick
from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.wire.untrusted import clean, clean_line

MOST_SERIES: Final = 65_536
"""The most series of one answer: more than fit into the 1 MiB that a source reads."""
_MOST_REMARKS: Final = 1024

_NUMBERS: Final = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}

Number = float | str
"""A finite number, or one of `_NUMBERS` by its name."""
Mask = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a source answered at a tick; `at` and `tick.at` are seconds since the apply returned."""

    at: float
    check: str
    tick: Tick
    said: Answers | Errored


class _Series(Struct, omit_defaults=True):
    value: Number
    labels: str = ""
    counted: core.Counted | None = None
    identity: str = ""
    pod: str = ""


class _Samples(Struct, tag_field="kind", tag="samples", omit_defaults=True):
    form: core.Form
    series: Annotated[list[_Series], Meta(max_length=MOST_SERIES)] = []
    remarks: Annotated[list[str], Meta(max_length=_MOST_REMARKS)] = []


class _Reply(Struct, tag_field="kind", tag="reply", omit_defaults=True):
    status: int
    latency_seconds: Number
    found: bool | None = None
    number: Number | None = None
    location: str = ""


class _NoReply(Struct, tag_field="kind", tag="no-reply"):
    why: str


class _Exit(Struct, tag_field="kind", tag="exit", omit_defaults=True):
    code: int | None
    output: str = ""


_Answer = _Samples | _Reply | _NoReply | _Exit


class _Answers(Struct, tag_field="kind", tag="answers", omit_defaults=True):
    value: _Answer
    samples: _Answer | None = None
    freshness: _Answer | None = None
    baseline: _Answer | None = None


class _Errored(Struct, tag_field="kind", tag="error", omit_defaults=True):
    why: str
    trouble: core.Trouble
    hint: str = ""
    position: tuple[int, int] | None = None
    retry_after_seconds: Number | None = None


class _Tick(Struct):
    number: int
    at: float


class _Measurement(Struct):
    """One line's object: a check by its name, the tick that was asked, and what came back."""

    check: str
    tick: _Tick
    said: _Answers | _Errored


_MEASUREMENT: Final = Decoder(_Measurement)


# -- to JSON ---------------------------------------------------------------------------------------


def encode(check: str, tick: Tick, said: Answers | Errored, mask: Mask) -> dict[str, Any]:
    """Return the object of a line; `tick.at` is seconds since the apply returned."""
    body = _from_answers(said, mask) if isinstance(said, Answers) else _from_error(said)
    found: dict[str, Any] = to_builtins(_Measurement(check, _Tick(tick.number, tick.at), body))
    return found


def _from_error(said: Errored) -> _Errored:
    wait = _from_optional(said.retry_after_seconds)
    return _Errored(said.why, said.trouble, said.hint, said.position, wait)


def _from_answers(said: Answers, mask: Mask) -> _Answers:
    value = _from_answer(said.value, mask)
    others = (said.samples, said.freshness, said.baseline)
    return _Answers(value, *(None if it is None else _from_answer(it, mask) for it in others))


def _from_answer(answer: Answer, mask: Mask) -> _Answer:
    match answer:
        case core.Samples(form, series, remarks):
            return _Samples(form, [_from_series(each) for each in series], [*remarks])
        case core.HttpReply(status, latency, found, number, location):
            to = mask(location)
            return _Reply(status, _from_number(latency), found, _from_optional(number), to)
        case core.NoReply(why):
            return _NoReply(why)
        case core.Exit(code, output):
            return _Exit(code, mask(output))


def _from_series(series: core.Series) -> _Series:
    value = _from_number(series.value)
    return _Series(value, series.labels, series.counted, series.identity, series.pod)


def _from_number(value: float) -> Number:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else f"{value:+}".capitalize().replace("inf", "Inf")


def _from_optional(value: float | None) -> Number | None:
    return None if value is None else _from_number(value)


# -- and back --------------------------------------------------------------------------------------


def decode(at: float, body: bytes) -> Measured:
    """Read the object of a line, which anybody may have written; ValueError if it is not one."""
    found = _MEASUREMENT.decode(body)
    said = found.said
    return Measured(
        at,
        clean_line(found.check),
        Tick(found.tick.number, found.tick.at),
        _to_answers(said) if isinstance(said, _Answers) else _to_error(said),
    )


def _to_error(found: _Errored) -> Errored:
    return Errored(
        clean_line(found.why),
        found.trouble,
        clean_line(found.hint),
        found.position,
        _to_optional(found.retry_after_seconds),
    )


def _to_answers(found: _Answers) -> Answers:
    others = (found.samples, found.freshness, found.baseline)
    return Answers(
        _to_answer(found.value), *(None if it is None else _to_answer(it) for it in others)
    )


def _to_answer(found: _Answer) -> Answer:
    match found:
        case _Samples():
            return core.Samples(found.form, _to_series(found.series), _lines(found.remarks))
        case _Reply():
            number, to = _to_optional(found.number), clean_line(found.location)
            latency = _to_number(found.latency_seconds)
            return core.HttpReply(found.status, latency, found.found, number, to)
        case _NoReply():
            return core.NoReply(clean_line(found.why))
        case _Exit():
            return core.Exit(found.code, clean(found.output))


def _to_series(found: Sequence[_Series]) -> tuple[core.Series, ...]:
    return tuple(
        core.Series(
            _to_number(it.value),
            clean_line(it.labels),
            it.counted,
            clean_line(it.identity),
            clean_line(it.pod),
        )
        for it in found
    )


def _lines(found: Sequence[str]) -> tuple[CleanText, ...]:
    return tuple(map(clean_line, found))


def _to_number(found: Number) -> float:
    if isinstance(found, float):
        return found
    if found not in _NUMBERS:
        raise ValueError(f"not a number: {found[:20]!a}")
    return _NUMBERS[found]


def _to_optional(found: Number | None) -> float | None:
    return None if found is None else _to_number(found)
