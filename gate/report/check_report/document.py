"""Makes the document of checks that were asked once: verdicts, answers, and how they came about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, cast

from gate import __version__
from gate.core.checks.measurement import Kind
from gate.core.checks.questions import (
    Answer,
    Answers,
    Exit,
    HttpReply,
    NoReply,
    Question,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.spec import Check, Command, Counts, During, Http, Metric, Schedule
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.duration import format_seconds
from gate.report.check_report.asked_check import AskedCheck
from gate.report.check_report.figures import bounds_of, comparison_of, finite, number, source_of
from gate.report.check_report.query_pointer import question_text
from gate.report.schema.check_result import (
    SCHEMA,
    AskedCheckResult,
    ChecksResult,
    PlaceResult,
    QuestionResult,
    Role,
)

_MOST_SERIES: Final = 10
_MOST_NAMED: Final = 3


def checks_document(asked: Sequence[AskedCheck], at: datetime) -> ChecksResult:
    """Return the document of checks that were asked at `at`."""
    outcome, message = _conclusion(asked)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "asked_at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "exit_code": EXIT_CODES[outcome],
        "message": message,
        "checks": [_check(one) for one in asked],
        "power": [],
    }


# -- how it ends -----------------------------------------------------------------------------------


def _conclusion(asked: Sequence[AskedCheck]) -> tuple[Outcome, str]:
    """Return the outcome that sets the exit code, and why in a line; the worst check decides."""
    deciding = [one for one in asked if one.check.decides]
    for outcome in _WORST_FIRST:
        found = [one for one in deciding if _outcome(one) is outcome]
        if found:
            return outcome, "; ".join(_iter_worst_messages(outcome, found))
    count = len(deciding)
    return Outcome.VERIFIED, f"all {count} required checks pass" if count > 1 else _few(count)


def _few(count: int) -> str:
    return "the required check passes" if count else "no check is required; nothing decides"


def _outcome(asked: AskedCheck) -> Outcome:
    found = asked.measurement
    match found.kind:
        case Kind.PASS:
            return Outcome.VERIFIED
        case Kind.FAIL:
            return Outcome.FAILED
        case Kind.ERROR if found.permanent:
            wrong = asked.error.usage if asked.error is not None else True
            return Outcome.USAGE if wrong else Outcome.REFUSED
        case _:
            return Outcome.INCONCLUSIVE


_WORST_FIRST: Final = (Outcome.USAGE, Outcome.REFUSED, Outcome.FAILED, Outcome.INCONCLUSIVE)
_WORDS: Final = {
    Outcome.USAGE: "cannot be asked like this",
    Outcome.REFUSED: "the source cannot be asked",
    Outcome.FAILED: "fails",
    Outcome.INCONCLUSIVE: "cannot be decided",
}
_WORDS_OF_TROUBLE: Final = {
    Trouble.TLS: "no TLS connection to the source could be made",
    Trouble.REDIRECTED: "the source redirects, which is not followed",
    Trouble.UNAUTHORIZED: "the source does not accept the credentials",
    Trouble.FORBIDDEN: "the source denies the request",
    Trouble.NOT_FOUND: "the source has no such path",
    Trouble.BAD_ANSWER: "what answers is not what the check expects",
    Trouble.CREDENTIALS: "the credentials cannot be used",
    Trouble.ADDRESS: "there is no address to ask",
    Trouble.COMMAND: "the command cannot be run",
}
"""What permanently keeps a check from being asked: each calls for something else to be done."""


def _iter_worst_messages(outcome: Outcome, found: Sequence[AskedCheck]) -> Iterator[str]:
    """Yield a message about the checks with the worst outcome for each kind of trouble."""
    names: dict[str, list[str]] = {}
    for one in found:
        words = _WORDS[outcome]
        if outcome is Outcome.REFUSED and one.error is not None:
            words = _WORDS_OF_TROUBLE.get(one.error.trouble, words)
        names.setdefault(words, []).append(one.check.name)
    yield from (f"{_join_names(each)}: {words}" for words, each in names.items())


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


# -- one check -------------------------------------------------------------------------------------


def _check(asked: AskedCheck) -> AskedCheckResult:
    check, found = asked.check, asked.measurement
    return {
        "name": check.name,
        "source": source_of(check),
        "about": asked.about,
        "decides": check.decides,
        "verdict": found.kind,
        "message": found.message,
        "hint": asked.error.hint if asked.error is not None else "",
        "value": finite(found.value),
        "baseline": finite(found.baseline),
        "bounds": bounds_of(check),
        "questions": [_question(*each) for each in asked.iter_questions()],
        "rules": [{"rule": rule, "says": says} for rule, says in _rules(asked)],
        "mistake": _mistake(asked),
    }


def _mistake(asked: AskedCheck) -> PlaceResult | None:
    if asked.error is None or asked.error.position is None:
        return None
    line, column = asked.error.position
    return {"role": cast("Role", asked.error_role or "value"), "line": line, "column": column}


def _question(role: str, question: Question, answer: Answer | None) -> QuestionResult:
    series = answer.series if isinstance(answer, Samples) else ()
    remarks = answer.remarks if isinstance(answer, Samples) else ()
    return {
        "role": cast("Role", role),
        "text": question_text(question),
        "answer": _answer(answer),
        "series": [
            {"labels": each.labels, "value": number(each.value)} for each in series[:_MOST_SERIES]
        ],
        "series_count": len(series),
        "remarks": list(remarks),
    }


def _answer(answer: Answer | None) -> str:
    match answer:
        case Samples(series=(Series(value=value),)):
            return number(value)
        case Samples(form=form, series=series):
            return f"{len(series)} series" if series else f"no series ({form})"
        case HttpReply(status=status, latency_seconds=seconds):
            return f"{status} after {seconds:.3g}s"
        case NoReply(why=why):
            return why
        case Exit(code=None):
            return "did not end in time"
        case Exit(code=code):
            return f"exit {code}"
        case None:
            return ""


# -- the way to its verdict ------------------------------------------------------------------------


def _rules(asked: AskedCheck) -> Iterator[tuple[str, str]]:
    """Yield the rules in the order in which they decide, then the verdict and what it does."""
    check = asked.check
    match check.probe:
        case Metric() as metric if asked.answers is not None:
            yield from _metric_rules(check, metric, asked, asked.answers)
        case Http(question=question):
            yield "bounds", f"good is {bounds_of(check)}"
            if question.contains:
                yield "contains", "the body has to contain the text"
        case Command():
            yield "bounds", "good is exit 0; 75 is an error, anything else a fail"
            yield from _last_words(asked)
        case _:
            yield "bounds", f"good is {bounds_of(check)}"
    yield "verdict", f"{asked.measurement.kind}: {asked.measurement.message}"
    yield "in a run", _over_time(check)


def _last_words(asked: AskedCheck) -> Iterator[tuple[str, str]]:
    ended = asked.answers.value if asked.answers is not None else None
    if isinstance(ended, Exit) and ended.output:
        yield "output", ended.output


def _metric_rules(
    check: Check, metric: Metric, asked: AskedCheck, answers: Answers
) -> Iterator[tuple[str, str]]:
    if metric.min_samples is not None:
        yield "samples", f"{_answer(answers.samples)}, of at least {metric.min_samples.least:g}"
    if metric.freshness is not None:
        most = format_seconds(check.max_age_seconds)
        said = _answer(answers.freshness)
        yield "age", f"the newest sample is {said} seconds old, of at most {most}"
    yield "reduce", _reduction(metric, answers.value)
    if metric.bounds:
        yield "bounds", f"good is {metric.bounds}"
    if metric.compare is not None:
        yield "compare", _comparison(metric, asked)


def _reduction(metric: Metric, answer: Answer | None) -> str:
    count = len(answer.series) if isinstance(answer, Samples) else 0
    if metric.reduce is None:
        return "none: it has to be one series"
    each = f"{metric.reduce} of the series is judged"
    return f"{each}; there {'is' if count == 1 else 'are'} {count}"


def _comparison(metric: Metric, asked: AskedCheck) -> str:
    found = asked.measurement
    if found.baseline is None or found.value is None:
        return f"good is {comparison_of(metric)}; there is no pair of numbers"
    both = f"{number(found.value)} against {number(found.baseline)}"
    return f"{both}; good is {comparison_of(metric)}"


def _over_time(check: Check) -> str:
    """Say when the check is asked in a rollout, and how its measurements decide."""
    bears = check.tolerances
    if isinstance(check.probe, Counts):
        return (
            f"{_asked_when(check.schedule)}; fails where new is shown to be worse, passes where it"
            f" is shown not to be harmful{'' if check.decides else '; it only reports'}"
        )
    if bears.consecutive_failures is not None:
        fails = f"{bears.consecutive_failures} failures in a row fail it"
    elif bears.allowed_failures:
        fails = f"more than {bears.allowed_failures} failures fail it"
    else:
        fails = "one failure fails it"
    passes = f"{bears.min_passes} passes are" if bears.min_passes > 1 else "one pass is"
    reports = "" if check.decides else "; it only reports"
    return f"{_asked_when(check.schedule)}; {fails}, {passes} needed{reports}"


def _asked_when(schedule: Schedule) -> str:
    phase = "rollout and bake" if schedule.during is During.BOTH else schedule.during.value
    every = f"every {format_seconds(schedule.interval_seconds)}"
    match schedule.count:
        case None:
            return f"asked {every} in {phase}"
        case 1:
            return f"asked once, in {phase}"
        case count:
            return f"asked {count} times in {phase}, {every}"
