"""Answers checks from a recording: its measurements, for checks that ask the same.

Bounds and tolerances may differ from those of the recorded run; the questions may not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gate.app.replay.same_question import alike
from gate.core.checks.questions import (
    Answer,
    Answers,
    CommandQuestion,
    Exit,
    HttpQuestion,
    HttpReply,
    MetricQuestion,
    NoReply,
    Question,
    Questions,
    Samples,
    Trouble,
)
from gate.core.checks.questions import Errored as Said
from gate.core.checks.spec import Check
from gate.core.model.objects import CleanText
from gate.core.protocol.effects import Ask
from gate.core.protocol.events import Answered, Errored
from gate.wire.measurements import Measured

SLACK_SECONDS: Final = 2.0
"""A replay may begin a phase later than the run did, which also saw what is not recorded."""
NOT_RECORDED: Final = Said(CleanText("the recording has no measurements of it"), Trouble.NOT_ASKED)
ASKED_OTHERWISE: Final = Said(
    CleanText("the recording's check of that name asked something else"), Trouble.NOT_ASKED
)
ANSWERED_OTHERWISE: Final = Said(
    CleanText("what the recording holds is no answer to it"), Trouble.NOT_ASKED
)

_KINDS: Final[dict[type[Question], tuple[type[Answer], ...]]] = {
    MetricQuestion: (Samples,),
    HttpQuestion: (HttpReply, NoReply),
    CommandQuestion: (Exit,),
}


class RecordedAnswers:
    """Answers each `Ask` with the next measurement of its check in the recording."""

    def __init__(self, recorded: Iterable[Check], configured: Iterable[Check]) -> None:
        """Take the checks of the recorded run, and those of the replay."""
        then = {check.name: check for check in recorded}
        same = [
            check for check in configured if check.name in then and alike(then[check.name], check)
        ]
        self._known = frozenset(check.name for check in same)
        self._named = frozenset(then)
        self._awaited: dict[str, Ask] = {}
        self._early: dict[str, Measured] = {}

    def ask(self, effect: Ask, now: float) -> Answered | Errored | None:
        """Return the answer, None if the recording has not given it yet, and may never."""
        if effect.check not in self._known:
            why = ASKED_OTHERWISE if effect.check in self._named else NOT_RECORDED
            return Errored(now, effect.effect_id, why)
        early = self._early.pop(effect.check, None)
        if early is not None and _is_for(early, effect):
            return _answer(effect, now, early)
        self._awaited[effect.check] = effect
        return None

    def take_measurement(self, measured: Measured) -> Answered | Errored | None:
        """Return a measurement as an answer, None if nobody has asked for it yet."""
        effect = self._awaited.get(measured.check)
        if effect is None or not _is_for(measured, effect):
            self._early[measured.check] = measured
            return None
        del self._awaited[measured.check]
        return _answer(effect, measured.at, measured)


def _is_for(measured: Measured, effect: Ask) -> bool:
    return measured.tick.at >= effect.tick.at - SLACK_SECONDS


def _answer(effect: Ask, at: float, measured: Measured) -> Answered | Errored:
    said = measured.said
    if isinstance(said, Answers):
        said = _fitting(effect.questions, said)
    if isinstance(said, Said):
        return Errored(at, effect.effect_id, said)
    return Answered(at, effect.effect_id, said)


def _fitting(asked: Questions, answers: Answers) -> Answers | Said:
    """Return the answers that fit the questions: a file may have been edited to hold others."""
    value = _of_kind(asked.value, answers.value)
    samples = _of_kind(asked.samples, answers.samples)
    freshness = _of_kind(asked.freshness, answers.freshness)
    baseline = _of_kind(asked.baseline, answers.baseline)
    if value is None:
        return ANSWERED_OTHERWISE
    missing = (asked.samples and not samples, asked.freshness and not freshness)
    if any(missing) or (asked.baseline and not baseline):
        return ANSWERED_OTHERWISE
    return Answers(value, samples, freshness, baseline)


def _of_kind(question: Question | None, answer: Answer | None) -> Answer | None:
    if question is None or not isinstance(answer, _KINDS[type(question)]):
        return None
    if isinstance(question, HttpQuestion) and isinstance(answer, HttpReply):
        found = answer.found if question.contains else None
        return replace(answer, found=found, number=answer.number if question.json_path else None)
    return answer
