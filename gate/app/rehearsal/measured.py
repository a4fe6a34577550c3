"""Answers to health checks in a rehearsal: from the scenario, otherwise good ones.

No source is asked and no command is run. Good and bad answers are derived from a check's bounds,
which say how it would judge them. A comparison is answered for versions whose pods serve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gate.app.rehearsal.pod_traffic import PodTraffic
from gate.core.checks.baseline_comparison import Ratio
from gate.core.checks.questions import (
    Answer,
    Answers,
    Counted,
    Errored,
    Exit,
    Form,
    HttpReply,
    MetricQuestion,
    NoReply,
    Question,
    Questions,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.sample_spacing import lookback_seconds
from gate.core.checks.spec import Bounds, Check, Command, Counts, Http, Metric
from gate.core.checks.tick_measurement import TEMPORARY_FAILURE
from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.sources.source import Sources
from sandbox.face import Measurement, NoAnswer

Answering = Callable[[Iterable[Check]], Mapping[str, Measurement]]
"""Returns the answers to checks, by their names; those left out get good answers."""
Scripts = Callable[[str], Measurement | None]
"""Returns the current answer to a check of that name; None means a good one."""

BASELINE: Final = "{}:baseline"
"""The name under which a scenario has a check's measurements of the previous version."""
_SCRAPE_SECONDS: Final = 30.0
"""How often series are taken to be scraped, as `scrape-interval` has it where nothing is said."""
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
            return 0.0
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


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests to both versions together, and which share of those to a good one is bad."""

    per_second: float = 200.0
    rate: float = 0.01


USUAL_REQUESTS: Final = Requests()


class Scripted(Sources):
    """Answers checks as a scenario says; called from several threads."""

    def __init__(
        self,
        checks: Iterable[Check],
        scripts: Scripts,
        traffic: PodTraffic,
        requests: Requests = USUAL_REQUESTS,
    ) -> None:
        super().__init__({})
        self._checks = {check.name: check for check in checks}
        self._scripts = scripts
        self._traffic = traffic
        self._requests = requests
        self._counted: dict[tuple[str, str], tuple[int, float]] = {}

    def ask(self, questions: Questions, check: str = "") -> Answers | Errored:
        """Answer a tick; KeyError for a check that is not configured."""
        asked, said = self._checks[check], self._scripts(check)
        old = self._scripts(BASELINE.format(check))
        value: Answer | Errored
        baseline: Answer | Errored
        if isinstance(asked.probe, Counts):
            value = self._count(asked, questions.value, questions.baseline, said)
            baseline = self._count(asked, questions.baseline, questions.value, old)
        else:
            value = _answer(asked, good(asked) if said is None else said)
            baseline = _metric(good(asked) if old is None else old)
        if isinstance(value, Errored) or not asked.queries:
            return value if isinstance(value, Errored) else Answers(value)
        if questions.baseline is None:
            return self._qualify(asked, questions, value)
        if isinstance(baseline, Errored):
            return baseline
        if isinstance(asked.probe, Metric):
            value = self._drop_unseen(questions.value, value)
            baseline = self._drop_unseen(questions.baseline, baseline)
        return self._qualify(asked, questions, value, baseline)

    def _qualify(
        self, check: Check, questions: Questions, value: Answer, baseline: Answer | None = None
    ) -> Answers:
        """Return the answers to a query with those that say how good they are."""
        metric = check.probe if isinstance(check.probe, Metric) else None
        enough = metric.min_samples.least if metric and metric.min_samples else 0.0
        return Answers(
            value,
            samples=_vector(enough) if questions.samples else None,
            freshness=_vector(0.0) if questions.freshness else None,
            baseline=baseline,
        )

    def _drop_unseen(self, question: Question, answer: Answer) -> Answer:
        """Return the answer to one side of a comparison, no series if no pod of it was scraped."""
        if not isinstance(question, MetricQuestion):
            raise TypeError("only queries are compared")
        # A range needs two scrapes; a pod that is gone has its last one before.
        reach = max(0.0, lookback_seconds(question.query) - _SCRAPE_SECONDS)
        since = question.at - reach
        answered = self._traffic.has_answered(question.query, since, question.at)
        return answer if answered else Samples(Form.VECTOR)

    def _count(
        self, check: Check, asked: Question | None, other: Question | None, said: Measurement | None
    ) -> Samples | Errored:
        """Answer with the counters of the pods that a query names: each has grown by its part."""
        share = self._requests.rate if said is None else said
        if isinstance(share, NoAnswer):
            return _metric(share)
        if not isinstance(asked, MetricQuestion):
            return Samples(Form.VECTOR)
        beside = other.query if isinstance(other, MetricQuestion) else ""
        series: list[Series] = []
        for pod in self._traffic.list_served(asked.query, beside, asked.at):
            total, bad = self._counted.get((check.name, pod.uid), (0, 0.0))
            grown = max(total, int(pod.traffic_seconds * self._requests.per_second))
            bad += (grown - total) * share
            self._counted[check.name, pod.uid] = grown, bad
            for kind, value in ((Counted.BAD, round(bad)), (Counted.TOTAL, grown)):
                series.append(Series(float(value), counted=kind, identity=pod.uid, pod=pod.name))
        return Samples(Form.VECTOR, tuple(series))

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
