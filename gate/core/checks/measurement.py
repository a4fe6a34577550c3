"""The result of one tick: one of four outcomes, and the numbers behind it."""

from __future__ import annotations

import enum
from typing import Final

from gate.core.checks.questions import NO_TEXT, Errored, Trouble
from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText

NO_OLD_VERSION: Final = "no old version serves: there is nothing to compare with"


class Kind(enum.StrEnum):
    """The four outcomes of a measurement."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NO_DATA = "no-data"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one tick said; `message` is one line with the numbers that decided.

    `value` and `baseline` are None if there is no single number. `permanent` is set where asking
    again will not mend it, `trouble` for errors that a source reported. `output` is what a program
    printed at the end, bounded and masked.
    """

    kind: Kind
    message: CleanText
    value: float | None = None
    baseline: float | None = None
    permanent: bool = False
    trouble: Trouble | None = None
    output: CleanText = NO_TEXT


def make_pass(message: str, value: float | None = None, old: float | None = None) -> Measurement:
    """Return a pass."""
    return Measurement(Kind.PASS, CleanText(message), value, old)


def make_fail(message: str, value: float | None = None, old: float | None = None) -> Measurement:
    """Return a fail."""
    return Measurement(Kind.FAIL, CleanText(message), value, old)


def no_data(message: str, value: float | None = None, old: float | None = None) -> Measurement:
    """Return a measurement that is neither a yes nor a no."""
    return Measurement(Kind.NO_DATA, CleanText(message), value, old)


def unfit(message: str) -> Measurement:
    """Return an error of the question itself: it will be the same the next time."""
    return Measurement(Kind.ERROR, CleanText(message), permanent=True)


def measure_error(error: Errored) -> Measurement:
    """Return the measurement of a question that has no answer."""
    return Measurement(Kind.ERROR, error.why, permanent=error.permanent, trouble=error.trouble)


def unaskable(variable: str) -> Measurement:
    """Return the measurement of a tick that asked nothing: `variable` has no value yet."""
    why = "the window is below 1s" if variable == "window" else f"${{{variable}}} is not known"
    return no_data(f"{why}: nothing was asked")


def nothing_before() -> Measurement:
    """Return the measurement of a comparison where no other version serves, now or later."""
    return Measurement(Kind.NO_DATA, CleanText(NO_OLD_VERSION), permanent=True)
