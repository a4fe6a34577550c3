"""The interface of all sources, and how the questions of a tick find theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, runtime_checkable

from gate.core.checks.questions import (
    Answered,
    Answers,
    Errored,
    HttpQuestion,
    Question,
    Questions,
    Trouble,
)
from gate.core.model.objects import CleanText

Asked_contra = TypeVar("Asked_contra", contravariant=True)


class Source(Protocol[Asked_contra]):
    """Answers one kind of question; called from several threads."""

    def ask(self, question: Asked_contra) -> Answered | Errored:
        """Answer within the question's time; never raises for failures outside the gate."""

    def cancel(self) -> None:
        """End what is under way: every question, even a later one, is `CANCELLED`."""


@runtime_checkable
class Reachable(Source[HttpQuestion], Protocol):
    """A source that can connect to its servers without sending them a request."""

    def reach(self, question: HttpQuestion) -> str:
        """Return why its server cannot be connected to, or ""; never raises for such failures."""


@runtime_checkable
class Repeating(Protocol):
    """A source that asks again while it gets no answer.

    `on_retry` is called once a question, in its thread, with why and for how long.
    """

    on_retry: Callable[[str], None]


class Unanswered(Exception):
    """Carries an `Errored` from where the trouble arose up to `Source.ask`."""

    def __init__(self, error: Errored) -> None:
        super().__init__(error.why)
        self.error = error


def make_unanswered(trouble: Trouble, why: str, *, hint: str = "") -> Unanswered:
    """Return the exception for a trouble; `why` is one clean line."""
    return Unanswered(Errored(CleanText(why), trouble, hint))


class Sources:
    """The sources of a run, by the kind of question that they answer."""

    def __init__(self, by_question: Mapping[type[Question], Source[Any]]) -> None:
        self._by_question = dict(by_question)

    def ask(self, questions: Questions, check: str = "") -> Answers | Errored:  # noqa: ARG002
        """Ask all that a tick of `check` needs; return the answers, or the first error.

        The kind of question chooses the source here; simulated sources go by the check's name.
        """
        answers: dict[str, Any] = {}
        for role in ("value", "samples", "freshness", "baseline"):
            question = getattr(questions, role)
            if question is None:
                continue
            said = self._ask(question)
            if isinstance(said, Errored):
                return said
            answers[role] = said.answer
        return Answers(**answers)

    def _ask(self, question: Question) -> Answered | Errored:
        source = self._by_question.get(type(question))
        if source is None:
            why = CleanText(f"there is no source for a {type(question).__name__}")
            return Errored(why, Trouble.ADDRESS, hint="name the server with --prometheus-url")
        return source.ask(question)

    def reach(self, question: HttpQuestion) -> str:
        """Return why the service of a question cannot be connected to now, or ""."""
        source = self._by_question.get(HttpQuestion)
        return source.reach(question) if isinstance(source, Reachable) else ""

    def announce_retries(self, announce: Callable[[str], None]) -> None:
        """Have `announce` called, from several threads, for each question that is asked again."""
        for source in self._by_question.values():
            if isinstance(source, Repeating):
                source.on_retry = announce

    def cancel(self) -> None:
        """End every question under way, and all later ones."""
        for source in self._by_question.values():
            source.cancel()
