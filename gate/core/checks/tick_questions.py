"""The questions of one tick, made from a check and what is known at that time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.checks import query_variables
from gate.core.checks.query_template import Query
from gate.core.checks.query_variables import Subject, WorkloadVariables
from gate.core.checks.questions import (
    COUNTED_LABEL,
    CommandQuestion,
    Counted,
    MetricQuestion,
    Questions,
)
from gate.core.checks.spec import Check, Command, Counts, During, Http, Metric
from gate.core.frozen import dataclass

STEP_SECONDS: Final = 30.0
_LABELLED: Final = "label_replace(("
HOUR: Final = f"1h:{STEP_SECONDS:.0f}s"
"""Where counting starts: a target that is not scraped just then has not begun at 0."""


@dataclass(frozen=True, slots=True)
class Unaskable:
    """Nothing can be asked yet: `missing` is the variable whose value is not known.

    `is_alone` is whether it never will be, as no version served before.
    """

    missing: str
    is_alone: bool = False


def ask(
    check: Check, at: float, subject: Subject, phase: During, *, begins: bool = False
) -> Questions | Unaskable:
    """Return the questions of a tick at `at`; ValueError if a value does not fit its place.

    The baseline's side of a comparison is the same query, asked for the same time and window.
    `begins` if it is where counting starts.
    """
    match check.probe:
        case Http(question=question):
            return Questions(question)
        case Command(arguments=arguments, timeout_seconds=seconds):
            environment = _environment(subject, phase)
            return Questions(CommandQuestion(arguments, environment, seconds))
        case Metric() as metric:
            return _metric_questions(metric, at, subject, check.user_variables)
        case Counts() as counts:
            user = check.user_variables
            return _count_questions(counts, at, subject, user, begins=begins)


def _metric_questions(
    metric: Metric, at: float, subject: Subject, user: Mapping[str, str]
) -> Questions | Unaskable:
    if metric.compare is not None and subject.baseline is None:
        return Unaskable(subject.variables.of_baseline[0], is_alone=True)
    known = query_variables.values(subject, at, metric.window_seconds, user)
    missing = next(filter(None, (query.missing(known) for query in metric.queries())), None)
    if missing is not None:
        return Unaskable(missing)

    def question(query: Query, values: Mapping[str, str] = known) -> MetricQuestion:
        return MetricQuestion(query.resolve(values), at)

    baseline = None
    if metric.compare is not None:
        theirs = query_variables.values(subject.as_baseline(), at, metric.window_seconds, user)
        if metric.query.missing(theirs) is not None:
            return Unaskable(subject.variables.of_baseline[0])
        baseline = question(metric.query, theirs)
    return Questions(
        question(metric.query),
        question(metric.min_samples.query) if metric.min_samples else None,
        question(_age(metric.freshness)) if metric.freshness else None,
        baseline,
    )


def _count_questions(
    counts: Counts, at: float, subject: Subject, user: Mapping[str, str], *, begins: bool
) -> Questions | Unaskable:
    """Return one question a side: both kinds of counters, told from each other by a label.

    Where no version served before there is none of it: a negligible rate passes without one.
    """
    read_at = at - counts.scrape_seconds
    query = _counters(counts)
    if begins:
        earlier = query.within("last_over_time((", f"\n)[{HOUR}])")
        query = query.within("(", "\n)").combine(" or ", earlier)
    new = query_variables.values(subject, read_at, 0.0, user)
    missing = query.missing(new)
    if missing is not None:
        return Unaskable(missing)
    value = MetricQuestion(query.resolve(new), read_at)
    if not counts.compares:
        return Questions(value)
    old = query_variables.values(subject.as_baseline(), read_at, 0.0, user)
    if query.missing(old) is None:
        return Questions(value, baseline=MetricQuestion(query.resolve(old), read_at))
    if subject.baseline is None:
        return Questions(value)
    return Unaskable(subject.variables.of_baseline[0])


def _counters(counts: Counts) -> Query:
    return label_counted(counts.bad, Counted.BAD).combine(
        " or ", label_counted(counts.total, Counted.TOTAL)
    )


def label_counted(query: Query, counted: Counted) -> Query:
    """Return a query whose series say what they count."""
    return query.within(_LABELLED, _end_label(counted))


def split_counted(query: str) -> tuple[tuple[Counted, str], ...]:
    """Return the queries that a question by counts is made of, () for any other question."""
    bad, between, total = query.removeprefix(_LABELLED).partition(
        f"{_end_label(Counted.BAD)} or {_LABELLED}"
    )
    if not between:
        return ()
    return (Counted.BAD, bad), (Counted.TOTAL, total.removesuffix(_end_label(Counted.TOTAL)))


def _end_label(counted: Counted) -> str:
    return f'\n), "{COUNTED_LABEL}", "{counted}", "", "")'


def _age(selector: Query) -> Query:
    """Return the query for the age of the newest sample, in seconds.

    An instant query stamps every answer with the time asked for: the age cannot be read from it.
    """
    return selector.within("time() - max(timestamp(", "\n))")


def environment_names(names: WorkloadVariables) -> tuple[str, ...]:
    """Return the variables that tell the program of a command check what it judges."""
    of_version = ("namespace", names.workload, *names.of_one_version, "revision", "phase")
    return tuple(f"ROLLOUT_GATE_{name.upper()}" for name in of_version)


def _environment(subject: Subject, phase: During) -> tuple[tuple[str, str], ...]:
    values = (
        subject.namespace,
        subject.workload,
        subject.new.name,
        subject.new.label_value,
        "" if subject.revision is None else str(subject.revision),
        phase.value,
    )
    return tuple(zip(environment_names(subject.variables), values, strict=True))
