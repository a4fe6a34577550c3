"""How checks are told at the end: the document's rows, and the lines that a person reads."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest

from gate.core.checks.spec import Check
from gate.core.protocol.effects import Ask, Effect
from gate.core.protocol.events import Answered, AttemptEvent, Errored
from gate.core.rollout.policy import OnFailure, Policy
from gate.report.check_report.rows import check_lines
from gate.report.document.document import document
from gate.report.formats.text import verdict_text
from gate.report.schema.result import CheckResult, Result
from gate.report.style.style import Style
from gate.report.words.advice import next_steps
from tests.unit.core.checks_world import a_check, answer, metric, unreachable
from tests.unit.report.cluster import manifest
from tests.unit.report.endings import serving
from tests.unit.report.stage import Stage, run_of


class Measured(Stage):
    """A good rollout whose checks are answered by numbers, None for an error."""

    def __init__(self, values: Iterable[float | None], policy: Policy) -> None:
        self.values = list(values)
        self.web = serving()
        super().__init__([self.web], [manifest("web", "shop/web:2")], policy)

    def _answer(self, effect: Effect) -> AttemptEvent:
        if not isinstance(effect, Ask):
            return super()._answer(effect)
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if value is None:
            return Errored(self.attempt.now, effect.effect_id, unreachable())
        return Answered(self.attempt.now, effect.effect_id, answer(value))


def ended(
    *values: float | None, checks: tuple[Check, ...] = (a_check(),), bake: float = 30.0
) -> Measured:
    """Return an attempt whose checks measured these numbers, the last one again and again."""
    policy = Policy(checks=checks, bake_seconds=bake, on_failure=OnFailure.KEEP)
    stage = Measured(values, policy)
    stage.web.revision = 2
    stage.web.counted(2, 4, 5)
    stage.web.fill("shop/web:2", 2, 2)
    stage.show(4.0)
    stage.web.serving("shop/web:2", 2)
    stage.show(5.0)
    stage.wait_out()
    return stage


def told(stage: Stage) -> Result:
    """Return the document of an attempt that has ended."""
    return document(stage.attempt, run_of(stage))


# -- the document ----------------------------------------------------------------------------------


@pytest.mark.contract("B460")
def test_a_check_that_failed_is_a_row_with_its_number() -> None:
    """The value that decided, how often it was measured, and the bound in words."""
    result = told(ended(0.1, 0.1, 0.9))
    assert (result["exit_code"], result["reason"]) == (6, "CheckFailed")
    (row,) = result["checks"]
    assert row == {
        "name": "errors",
        "source": "prometheus",
        "verdict": "fail",
        "required": True,
        "measurements": 3,
        "failures": 1,
        "errors": 0,
        "last_value": 0.9,
        "message": "0.9 is not <= 0.5",
    }


@pytest.mark.contract("B460")
@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_a_number_that_json_cannot_hold_is_null(value: float | None) -> None:
    """NaN, an infinity and no answer at all are no value."""
    stage = ended(value, checks=(a_check(metric(least=0.0, most=None)),))
    (row,) = told(stage)["checks"]
    assert (row["verdict"], row["last_value"]) == ("inconclusive", None)


# -- for people ------------------------------------------------------------------------------------


@pytest.mark.contract("B461")
def test_a_failed_check_is_told_with_its_command() -> None:
    """Which check, value against bound, how often, and how to ask it again."""
    lines = verdict_text(told(ended(0.1, 0.9)), Style(width=80)).splitlines()
    assert any("CheckFailed: errors: 0.9 is not <= 0.5" in line for line in lines)
    (told_so,) = [line for line in lines if "checks    " in line]
    assert told_so == "  checks    ✗ errors: 0.9 is not <= 0.5; 1 of 2 failed"
    assert any("rollout-gate checks web -n shop --context prod --explain" in line for line in lines)


@pytest.mark.contract("B461")
def test_a_version_in_doubt_can_be_asked_about_and_left() -> None:
    """Inconclusive is no verdict: the reader can look, and can return."""
    result = told(ended(math.nan))
    assert (result["exit_code"], result["reason"]) == (7, "CheckInconclusive")
    commands = [step.command for step in next_steps(result)]
    assert commands == [
        "rollout-gate checks web -n shop --context prod --explain",
        "rollout-gate undo web -n shop --context prod --to-revision 1",
    ]
    text = verdict_text(result, Style())
    assert "! errors: 0 of 1 passes; last: NaN; measured" in text


def row(name: str, verdict: str, message: str = "", *, required: bool = True) -> CheckResult:
    """Return a row."""
    return {
        "name": name,
        "source": "prometheus",
        "verdict": verdict,
        "required": required,
        "measurements": 1,
        "failures": int(verdict == "fail"),
        "errors": 0,
        "last_value": None,
        "message": message,
    }


def test_of_many_checks_the_bad_ones_are_told() -> None:
    """Four lines whatever their number, and nothing that passed hides what did not."""
    rows = [row(f"good-{at}", "pass") for at in range(7)]
    rows += [row("lost", "inconclusive", "no series"), row("bad", "fail", "2 is not <= 1")]
    assert check_lines(rows, Style()) == [
        "✗ bad: 2 is not <= 1; 1 of 1 failed",
        "! lost: no series; measured once",
        "✓ 7 passed: good-0, good-1, good-2, good-3 and 3 more",
    ]
    bad = [row(f"bad-{at}", "fail", "2 is not <= 1") for at in range(9)]
    assert check_lines(bad, Style())[-1] == "! 6 more: bad-3, bad-4, bad-5, bad-6 and 2 more"
    assert len(check_lines(bad, Style())) == 4


@pytest.mark.contract("B776")
def test_a_check_that_was_asked_is_not_called_not_measured() -> None:
    """A command that ended with 75 ran: it gave no answer to judge."""
    result = told(ended(0.1))
    result["checks"] = [{**row("smoke", "inconclusive", "last: exit 75"), "measurements": 0}]
    result["checks"][0]["errors"] = 2
    text = verdict_text(result, Style())
    assert "smoke: last: exit 75; asked 2 times, without an answer to judge" in text


@pytest.mark.contract("B460")
def test_a_check_that_passed_has_its_last_number() -> None:
    """A verified attempt says what its checks measured."""
    (row,) = told(ended(0.1))["checks"]
    assert (row["verdict"], row["last_value"], row["failures"]) == ("pass", 0.1, 0)
    assert row["measurements"] > 1
