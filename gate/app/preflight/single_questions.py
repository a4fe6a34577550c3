"""Asks checks once, concurrently, outside of a rollout: before it, or for whoever writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.clock import Clock
from gate.core.checks.measurement import Kind, measure_error, no_data, unaskable
from gate.core.checks.query_template import QueryError
from gate.core.checks.query_variables import Subject
from gate.core.checks.questions import Answers, Errored, Questions, Trouble
from gate.core.checks.spec import Check, Counts, During, without_comparison
from gate.core.checks.tick_measurement import measure
from gate.core.checks.tick_questions import Unaskable, ask
from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.errors import UsageError
from gate.report.check_report.asked_check import AskedCheck, parts
from gate.report.check_report.query_pointer import point_at_place
from gate.side_by_side import each
from gate.sources.source import Sources

BEGUN_SECONDS_AGO: Final = 3600.0
"""How long ago the rollout is assumed to have begun: a query may use the elapsed time."""
ONE_VERSION: Final = "only one version runs: there is nothing to compare it with"


@dataclass(frozen=True, slots=True)
class Job:
    """One check to be asked once; `about` is its workload as shown to people, "" for none."""

    check: Check
    about: str
    questions: Questions | Unaskable
    compares_alone: bool = False


def job(check: Check, about: str, subject: Subject, at: float) -> Job:
    """Return the check with its questions for `at`; UsageError if a value breaks a query.

    If there is no other version to compare with, only the value is asked for.
    """
    alone = check.compares and subject.baseline is None
    asked = without_comparison(check) if alone else check
    try:
        phase = During.ROLLOUT if check.runs_in(During.ROLLOUT) else During.BAKE
        questions = ask(asked, at, subject, phase)
    except ValueError as error:
        raise _unfit(check, error) from error
    return Job(check, about, questions, compares_alone=alone)


def _unfit(check: Check, error: ValueError) -> UsageError:
    """Return the error for a value that does not fit where a query uses it."""
    why = f"check {check.name}: {error}"
    if not isinstance(error, QueryError) or not check.queries:
        return UsageError(why)
    query = next(q for q in check.queries if q.text.startswith("${", error.position - 1))
    before = query.text[: error.position - 1]
    place = (before.count("\n") + 1, len(before.rpartition("\n")[2].encode()) + 1)
    lines = [error.hint or "the query is", *point_at_place(query.text, place)]
    return UsageError(why, hint="\n".join(lines))


def ask_all(made: Sources, clock: Clock, jobs: Sequence[Job], seconds: float) -> list[AskedCheck]:
    """Ask each check once, concurrently; return the results in the order of `jobs`.

    Checks that have not begun after `seconds` are not asked; the others end by their own limits.
    """
    ends_at = clock.now() + seconds

    def ask_one(one: Job) -> AskedCheck:
        if clock.now() >= ends_at:
            late = Errored(CleanText(f"not asked within {seconds:g}s"), Trouble.TIMED_OUT)
            return AskedCheck(one.check, one.about, measure_error(late), error=late)
        return _ask_check(made, one)

    return each(clock, ask_one, jobs)


def _ask_check(made: Sources, one: Job) -> AskedCheck:
    check, about, questions = one.check, one.about, one.questions
    if isinstance(questions, Unaskable):
        return AskedCheck(check, about, unaskable(questions.missing))
    said = made.ask(questions, check.name)
    if isinstance(said, Errored):
        said, role = _locate_error(made, check.name, questions, said)
        return AskedCheck(check, about, measure_error(said), questions, error=said, error_role=role)
    return _measure_answers(one, questions, said)


def _measure_answers(one: Job, questions: Questions, said: Answers) -> AskedCheck:
    judge = without_comparison(one.check) if one.compares_alone else one.check
    found = measure(judge, said)
    if one.compares_alone and found.kind is Kind.PASS:
        # Of counters it is told as well how many there are.
        seen = f"{found.message}; " if isinstance(one.check.probe, Counts) else ""
        found = no_data(f"{seen}{ONE_VERSION}", found.value)
    return AskedCheck(one.check, one.about, found, questions, said)


def _locate_error(
    made: Sources, name: str, questions: Questions, error: Errored
) -> tuple[Errored, str]:
    """Return an error with the role of the question that it is about, "" if that is unknown."""
    asked = list(parts(questions))
    if len(asked) == 1:
        return error, asked[0][0]
    if error.usage:
        for role, question in asked:
            said = made.ask(Questions(question), name)
            if isinstance(said, Errored) and said.usage:
                return said, role
    return error, ""
