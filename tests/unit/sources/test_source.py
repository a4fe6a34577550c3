"""How the questions of a tick find their sources."""

from __future__ import annotations

import pytest

from gate.core.checks.questions import (
    Answered,
    Answers,
    Errored,
    Form,
    MetricQuestion,
    Questions,
    Samples,
    Trouble,
)
from gate.core.model.objects import CleanText
from gate.sources.source import Sources


class Scripted:
    """Answers by the query's text."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.cancelled = False

    def ask(self, question: MetricQuestion) -> Answered | Errored:
        """Answer anything but `bad`."""
        self.asked.append(question.query)
        if question.query == "bad":
            return Errored(CleanText("no"), Trouble.BAD_QUERY)
        return Answered(Samples(Form.VECTOR, (), (CleanText(question.query),)))

    def cancel(self) -> None:
        """Take note."""
        self.cancelled = True


def metric(text: str) -> MetricQuestion:
    """Return a question for one moment."""
    return MetricQuestion(text, 1.0)


def samples(text: str) -> Samples:
    """Return the scripted answer."""
    return Samples(Form.VECTOR, (), (CleanText(text),))


def test_every_question_of_a_tick_is_asked() -> None:
    """And each answer stands where its question stood."""
    asked = Questions(metric("v"), baseline=metric("b"), samples=metric("s"))
    wanted = Answers(samples("v"), samples("s"), baseline=samples("b"))
    assert Sources({MetricQuestion: Scripted()}).ask(asked) == wanted


@pytest.mark.contract("B408")
def test_one_question_without_an_answer_stands_for_all() -> None:
    """Nothing is judged by half of what was asked, and no more is asked."""
    source = Scripted()
    said = Sources({MetricQuestion: source}).ask(Questions(metric("v"), metric("bad"), metric("f")))
    assert said == Errored(CleanText("no"), Trouble.BAD_QUERY)
    assert source.asked == ["v", "bad"]
