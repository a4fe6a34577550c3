"""Answers to health checks in a rehearsal: from the scenario, otherwise good ones.

No source is asked and no command is run. Good and bad answers are derived from a check's bounds,
which say how it would judge them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gate.core.checks.baseline_comparison import Ratio
from gate.core.checks.questions import (
    Answer,
    Answers,
    Counted,
    Errored,
    Exit,
    Form,
    HttpReply,
    NoReply,
    Questions,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.spec import Bounds, Check, Command, Counts, Http, Metric
from gate.core.checks.tick_measurement import TEMPORARY_FAILURE
from gate.core.model.objects import CleanText
from gate.sources.source import Sources
from sandbox.face import Measurement, NoAnswer

Answering = Callable[[Iterable[Check]], Mapping[str, Measurement]]
"""Returns the answers to checks, by their names; those left out get good answers."""
Scripts = Callable[[str], Measurement | None]
"""Returns the current answer to a check of that name; None means a good one."""

BASELINE: Final = "{}:baseline"
"""The name under which a scenario has a check's measurements of the previous version."""
_USUAL_SHARE: Final = 0.01
_REQUESTS_A_LOOK: Final = 1000
"""What each version serves from one look of a comparison by counts to the next."""
_UNUSUAL_STATUS: Final = (500, 503, 404, 200)
_SILENT: Final = CleanText("the scenario says that it is unreachable")


def out_of_bounds(checks: Iterable[Check]) -> dict[str, Measurement]:
    """Return a bad answer for every check that decides."""
    return {check.name: bad(check) for check in checks if check.decides}


def unreachable(checks: Iterable[Check]) -> dict[str, Measurement]:
    """Return `UNREACHABLE` for each check that asks Prometheus."""
    return {check.name: NoAnswer.UNREACHABLE for check in checks if check.queries}


def good(check: Check) -> float:
    """Return a measurement that passes: a value, a status or an exit code."""
    match check.probe:
        case Metric(bounds=bounds):
            return _within(bounds)
        case Counts():
            return _USUAL_SHARE
        case Http(question=question, bounds=bounds, status=(least, _)):
            return _within(bounds) if question.json_path else float(least)
        case Command():
            return 0.0


def bad(check: Check) -> float:
    """Return a measurement that fails."""
    match check.probe:
        case Metric(bounds=bounds) as metric:
            return _beyond(bounds) if bounds else _exceeding(metric, good(check))
        case Counts():
            return 1.0
        case Http(question=question, bounds=bounds, status=(least, most)):
            wrong = (status for status in _UNUSUAL_STATUS if not least <= status <= most)
            return _beyond(bounds) if question.json_path else float(next(wrong, most + 1))
        case Command():
            return 1.0


def _within(bounds: Bounds) -> float:
    if bounds.hold(0.0):
        return 0.0
    return bounds.least if bounds.least is not None else bounds.most or 0.0


def _beyond(bounds: Bounds) -> float:
    if bounds.most is not None:
        return bounds.most + max(1.0, abs(bounds.most))
    least = bounds.least or 0.0
    return least - max(1.0, abs(least))


def _exceeding(metric: Metric, old: float) -> float:
    """Return a value that is too high compared with `old`, whatever the comparison."""
    ratio, delta = 2.0, 0.0
    if isinstance(metric.compare, Ratio):
        ratio, delta = metric.compare.max_ratio, metric.compare.min_delta
    return old + abs(old) * ratio + delta + 1.0


class Scripted(Sources):
    """Answers checks as a scenario says; called from several threads."""

    def __init__(self, checks: Iterable[Check], scripts: Scripts) -> None:
        super().__init__({})
        self._checks = {check.name: check for check in checks}
        self._scripts = scripts
        self._counted: dict[tuple[str, str], tuple[int, int]] = {}

    def ask(self, questions: Questions, check: str = "") -> Answers | Errored:
        """Answer a tick; KeyError for a check that is not configured."""
        asked, said = self._checks[check], self._scripts(check)
        if isinstance(asked.probe, Counts):
            return self._count(questions, asked, said)
        value = _answer(asked, good(asked) if said is None else said)
        if isinstance(value, Errored) or not isinstance(asked.probe, Metric):
            return value if isinstance(value, Errored) else Answers(value)
        enough = asked.probe.min_samples.least if asked.probe.min_samples else 0.0
        old = self._scripts(BASELINE.format(check))
        baseline = _metric(good(asked) if old is None else old)
        if isinstance(baseline, Errored):
            return baseline
        return Answers(
            value,
            samples=_vector(enough) if questions.samples else None,
            freshness=_vector(0.0) if questions.freshness else None,
            baseline=baseline if questions.baseline else None,
        )

    def _count(
        self, questions: Questions, check: Check, said: Measurement | None
    ) -> Answers | Errored:
        """Answer with counters that have grown by a tick's requests, a share of them bad ones."""
        old = self._scripts(BASELINE.format(check.name))
        shares = {
            "new": good(check) if said is None else said,
            "old": good(check) if old is None else old,
        }
        answers = {side: self._grow(check.name, side, share) for side, share in shares.items()}
        new, before = answers["new"], answers["old"]
        if isinstance(new, Errored):
            return new
        if not questions.baseline:
            return Answers(new)
        return before if isinstance(before, Errored) else Answers(new, baseline=before)

    def _grow(self, check: str, side: str, share: Measurement) -> Samples | Errored:
        if isinstance(share, NoAnswer):
            return _metric(share)
        bad, total = self._counted.get((check, side), (0, 0))
        bad, total = bad + round(share * _REQUESTS_A_LOOK), total + _REQUESTS_A_LOOK
        self._counted[check, side] = bad, total
        counted = ((Counted.BAD, bad), (Counted.TOTAL, total))
        return Samples(
            Form.VECTOR,
            tuple(
                # The pods of a rehearsal are known to nobody's metrics: none of these is fresh.
                Series(float(value), counted=kind, identity=side, pod=f"{side}-rehearsed")
                for kind, value in counted
            ),
        )

    def cancel(self) -> None:
        """Nothing is under way."""


def _answer(check: Check, said: Measurement) -> Answer | Errored:
    match check.probe:
        case Metric() | Counts():
            return _metric(said)
        case Http() as http:
            return _reply(http, said)
        case Command():
            return Exit(TEMPORARY_FAILURE if isinstance(said, NoAnswer) else int(said))


def _metric(said: Measurement) -> Samples | Errored:
    if said is NoAnswer.UNREACHABLE:
        return Errored(_SILENT, Trouble.UNREACHABLE)
    return Samples(Form.VECTOR) if isinstance(said, NoAnswer) else _vector(said)


def _vector(value: float) -> Samples:
    return Samples(Form.VECTOR, (Series(value),))


def _reply(http: Http, said: Measurement) -> HttpReply | NoReply | Errored:
    """Answer a request: a number is the value at the JSON path, or else the status."""
    if said is NoAnswer.UNREACHABLE:
        return NoReply(_SILENT)
    number = None if isinstance(said, NoAnswer) else said
    found = True if http.question.contains else None
    if http.question.json_path:
        return HttpReply(http.status[0], 0.0, found, number)
    if number is None:
        return Errored(_SILENT, Trouble.NAME)
    return HttpReply(int(number), 0.0, found)
