"""One check that was asked once, apart from a rollout: its questions, answers and measurement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.checks.measurement import Measurement
from gate.core.checks.questions import Answer, Answers, Errored, Question, Questions
from gate.core.checks.spec import Check
from gate.core.frozen import dataclass

ROLES: Final = ("value", "min-samples", "freshness", "baseline")
"""What each question of a check is for, in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class AskedCheck:
    """A check and its one measurement.

    `about` is the workload as people call it, "" for none. `questions` is None if nothing could
    be asked; `error` is set if there was no answer, `error_role` says to which of several
    questions, "" if that is unknown.
    """

    check: Check
    about: str
    measurement: Measurement
    questions: Questions | None = None
    answers: Answers | None = None
    error: Errored | None = None
    error_role: str = ""

    def iter_questions(self) -> Iterator[tuple[str, Question, Answer | None]]:
        """Yield the questions with their roles, each with its answer if there is one."""
        if self.questions is None:
            return
        for role, question in parts(self.questions):
            yield role, question, self._answer(role)

    def _answer(self, role: str) -> Answer | None:
        if self.answers is None:
            return None
        said = (
            self.answers.value,
            self.answers.samples,
            self.answers.freshness,
            self.answers.baseline,
        )
        return said[ROLES.index(role)]


def parts(questions: Questions) -> Iterator[tuple[str, Question]]:
    """Yield the questions of a tick with their roles."""
    asked = (questions.value, questions.samples, questions.freshness, questions.baseline)
    for role, question in zip(ROLES, asked, strict=True):
        if question is not None:
            yield role, question
