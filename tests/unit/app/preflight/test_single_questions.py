"""Checks asked once, side by side: bounded, and an error told with the question it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gate.app.preflight.single_questions import ONE_VERSION, ask_all, job
from gate.clock import Clock, SystemClock
from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.measurement import Kind
from gate.core.checks.questions import Answers, Errored, MetricQuestion, Questions, Trouble
from gate.core.model.objects import CleanText
from gate.errors import UsageError
from gate.sources.source import Sources
from gate.virtual_time import VirtualClock
from tests.unit.core.checks_world import SUBJECT, a_check, answer, metric, min_samples, query

STARTED = datetime(2026, 11, 21, tzinfo=UTC)


class LockFacts(Sources):
    """Answers as it was told, each after a while; knows who asked what."""

    def __init__(self, said: Answers | Errored, clock: Clock | None = None) -> None:
        super().__init__({})
        self.said = said
        self.clock = clock
        self.asked: list[tuple[str, Questions]] = []

    def ask(self, questions: Questions, check: str = "") -> Answers | Errored:
        """Answer after ten seconds, where there is a clock."""
        self.asked.append((check, questions))
        if self.clock is not None:
            self.clock.wait(10.0)
        return self.said


class Malformed(LockFacts):
    """Refuses whatever holds a word."""

    def __init__(self, word: str) -> None:
        super().__init__(answer(0.1))
        self.word = word

    def ask(self, questions: Questions, check: str = "") -> Answers | Errored:
        """Say so as a server would, without saying which question it was."""
        super().ask(questions, check)
        asked = [questions.value, questions.samples, questions.freshness]
        texts = [one.query for one in asked if isinstance(one, MetricQuestion)]
        if any(self.word in text for text in texts):
            return Errored(CleanText("1:1: parse error"), Trouble.BAD_QUERY, position=(1, 1))
        return self.said


@pytest.mark.contract("B450")
def test_checks_are_asked_side_by_side() -> None:
    """Sixteen that take ten seconds each take twenty, and come back in their order."""
    clock = VirtualClock(1000.0, started=STARTED)
    questioner = LockFacts(answer(0.1), clock)
    jobs = [job(replace(a_check(), name=f"c{at}"), "", SUBJECT, 100.0) for at in range(16)]
    found = ask_all(questioner, clock, jobs, 30.0)
    assert [one.check.name for one in found] == [f"c{at}" for at in range(16)]
    assert clock.now() == 1020.0


@pytest.mark.contract("B450")
def test_what_has_not_begun_in_time_is_not_asked() -> None:
    """A server that takes its time does not hold the pipeline up for ever: the rest is told so."""
    clock = VirtualClock(1000.0, started=STARTED)
    questioner = LockFacts(answer(0.1), clock)
    jobs = [job(replace(a_check(), name=f"c{at}"), "", SUBJECT, 100.0) for at in range(64)]
    found = ask_all(questioner, clock, jobs, 30.0)
    late = [one for one in found if one.error is not None]
    assert (len(questioner.asked), len(late)) == (24, 40)
    assert late[0].measurement.kind is Kind.ERROR
    assert not late[0].measurement.permanent
    assert late[0].measurement.message == "not asked within 30s"


@pytest.mark.contract("B451")
@pytest.mark.parametrize(
    ("word", "role"), [("errors", "value"), ("sum(requests)", "min-samples"), ("up", "freshness")]
)
def test_a_mistake_is_told_with_its_question(word: str, role: str) -> None:
    """The server's position is one in that query and in no other."""
    check = a_check(metric(min_samples=min_samples(20), freshness=query("up")))
    (found,) = ask_all(Malformed(word), SystemClock(), [job(check, "", SUBJECT, 100.0)], 30.0)
    assert (found.error_role, found.measurement.permanent) == (role, True)


def test_an_error_that_may_pass_is_not_looked_for() -> None:
    """Asking a server that does not answer three times more would take three times as long."""
    check = a_check(metric(min_samples=min_samples(20)))
    questioner = LockFacts(Errored(CleanText("refused"), Trouble.REFUSED))
    (found,) = ask_all(questioner, SystemClock(), [job(check, "", SUBJECT, 100.0)], 30.0)
    assert (found.error_role, len(questioner.asked)) == ("", 1)


@pytest.mark.contract("B423")
@pytest.mark.parametrize("compare", [Ratio(2.0), MannWhitney()])
def test_without_another_version_the_value_alone_is_asked_for(
    compare: Ratio | MannWhitney,
) -> None:
    """What passes its bounds is still no evidence of the comparison; what violates them fails."""
    check = a_check(metric(compare=compare))
    alone = replace(SUBJECT, baseline=None)
    questioner = LockFacts(answer(0.1))
    (found,) = ask_all(questioner, SystemClock(), [job(check, "", alone, 100.0)], 30.0)
    assert (found.measurement.kind, found.measurement.message) == (Kind.NO_DATA, ONE_VERSION)
    assert questioner.asked[0][1].baseline is None
    (found,) = ask_all(LockFacts(answer(0.9)), SystemClock(), [job(check, "", alone, 100.0)], 30.0)
    assert found.measurement.kind is Kind.FAIL


def test_what_is_not_known_is_asked_of_nobody() -> None:
    """A ReplicaSet that does not exist yet has no name."""
    questioner = LockFacts(answer(0.1))
    unknown = replace(SUBJECT, new=replace(SUBJECT.new, name=""))
    (found,) = ask_all(questioner, SystemClock(), [job(a_check(), "", unknown, 100.0)], 30.0)
    assert found.measurement.kind is Kind.NO_DATA
    assert (questioner.asked, found.questions) == ([], None)


@pytest.mark.contract("B418", "B451")
def test_a_value_that_breaks_a_query_is_marked_in_it() -> None:
    """In whichever query of the check it stands, on whichever line."""
    few = replace(min_samples(20), query=query("sum(\n  ${deployment})"))
    check = a_check(metric(min_samples=few))
    with pytest.raises(UsageError) as caught:
        job(check, "", replace(SUBJECT, workload="web-shop"), 100.0)
    assert caught.value.message.startswith("check errors: ${deployment} cannot stand outside")
    assert caught.value.hint.splitlines()[1:] == ["sum(", "  ${deployment})", "  ^"]
