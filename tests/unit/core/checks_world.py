"""Checks and answers as the tests of checks need them, in one line each."""

from __future__ import annotations

from typing import Any

from gate.core.checks.query_template import Query
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.questions import Answers, Errored, Form, Questions, Samples, Series, Trouble
from gate.core.checks.run import CheckRun
from gate.core.checks.spec import Bounds, Check, During, Metric, MinSamples, Schedule, Tolerances
from gate.core.checks.tick_grid import Tick
from gate.core.checks.tick_questions import Unaskable, ask
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.kinds.deployment.kind import VARIABLES
from gate.core.model.objects import CleanText

SUBJECT = Subject(
    "shop",
    "web",
    Version("web-new", "new"),
    started_at=0.0,
    baseline=Version("web-old", "old"),
    revision=7,
    variables=VARIABLES,
    first_available_at=0.0,
)


def query(text: str) -> Query:
    """Parse a query with the built-in variables."""
    return Query.parse(text, BUILT_IN)


ERRORS = 'errors{replicaset="${replicaset}"}'


def metric(
    least: float | None = None, most: float | None = 0.5, text: str = ERRORS, **more: Any
) -> Metric:
    """Return a query, of the new version's errors and at most 0.5 unless told otherwise."""
    return Metric(query(text), Bounds(least, most), **more)


def a_check(
    probe: Any = None,
    schedule: Schedule | None = None,
    *,
    required: bool = True,
    dry_run: bool = False,
    **bears: Any,
) -> Check:
    """Return a check named `errors`."""
    return Check(
        "errors",
        probe or metric(),
        schedule or Schedule(),
        Tolerances(**bears),
        required=required,
        dry_run=dry_run,
    )


def vector(*numbers: float, remarks: tuple[str, ...] = ()) -> Samples:
    """Return an instant vector with a series for each number."""
    series = tuple(
        Series(number, CleanText(f'errors{{pod="web-{at}"}}')) for at, number in enumerate(numbers)
    )
    return Samples(Form.VECTOR, series, tuple(map(CleanText, remarks)))


def answer(*numbers: float) -> Answers:
    """Return the answers to a check that asks for a value alone."""
    return Answers(vector(*numbers))


def pair(new: float, old: float) -> Answers:
    """Return the answers to a check that compares."""
    return Answers(vector(new), baseline=vector(old))


def asked(check: Check, at: float = 100.0, subject: Subject = SUBJECT) -> Questions:
    """Return the questions of a tick, which there have to be."""
    questions = ask(check, at, subject, During.ROLLOUT)
    assert not isinstance(questions, Unaskable)
    return questions


def unreachable() -> Errored:
    """Return an error that may pass."""
    return Errored(CleanText("nobody answers"), Trouble.UNREACHABLE)


def min_samples(least: float) -> MinSamples:
    """Return a second query with its bound."""
    return MinSamples(query("sum(requests)"), least)


def ticked(run: CheckRun, now: float) -> tuple[CheckRun, Tick]:
    """Ask what is due now."""
    tick = run.due(now)
    assert tick is not None
    return run.after_question(tick), tick


def fed(run: CheckRun, *values: float | None) -> CheckRun:
    """Answer one due tick after another: a number, NaN for no data, None for an error."""
    for value in values:
        now = run.wake_at
        run, tick = ticked(run, now)
        if value is None:
            run = run.after_error(tick, now, unreachable())
        else:
            run = run.after_answer(tick, now, answer(value))
    return run
