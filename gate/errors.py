"""The one tree of errors: each carries a reason, a hint for the next step, and an exit code.

The leaf says who is responsible: the caller for `UsageError`, the cluster or a guard for
`RefusedError`. In both cases nothing was written. Adapters derive their own errors from these.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

from gate.core.model.outcome import EXIT_CODES, Outcome, Reason


class GateError(Exception):
    """Abstract: something that ends a command before or without a verdict.

    `message` is one line for people, `hint` the next step or empty; `reason` is stable.
    `after_recovery` says whether the command had first finished what an earlier attempt left.
    """

    outcome: Outcome = Outcome.INTERNAL_ERROR
    after_recovery: bool = False

    def __init__(self, message: str, *, reason: Reason, hint: str = "") -> None:
        """Refuse to build the abstract base itself: an error has to say who is responsible."""
        if type(self) is GateError:
            raise TypeError("GateError is abstract: raise one of its leaves")
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.hint = hint

    def list_problems(self) -> tuple[tuple[str, str], ...]:
        """Return each problem as a line, with its hint, which may be empty."""
        return ((self.message, self.hint),)

    @property
    def exit_code(self) -> int:
        """The process's exit code for this error; "Exit codes" in the contract."""
        return EXIT_CODES[self.outcome]


class UsageError(GateError):
    """Bad flags, configuration or manifest: nothing was written. Exit 2."""

    outcome = Outcome.USAGE

    def __init__(self, message: str, *, hint: str = "", reason: Reason = Reason.USAGE) -> None:
        """Take the one-line message, with file and line if there are any."""
        super().__init__(message, reason=reason, hint=hint)


class UsageErrors(UsageError):
    """Several mistakes reported at once, each with its hint. Exit 2."""

    def __init__(self, wrong: Sequence[tuple[str, str]]) -> None:
        """Take the lines in their order, each with its hint, which may be empty."""
        self.problems = tuple(problem for problem, _ in wrong)
        self._wrong = tuple(wrong)
        hints = dict.fromkeys(hint for _, hint in wrong if hint)
        super().__init__("; ".join(self.problems), hint="\n".join(hints))

    def list_problems(self) -> tuple[tuple[str, str], ...]:
        """Return the lines; a hint shared by several in a row comes with the last of them only."""
        next_hints = [*(hint for _, hint in self._wrong[1:]), ""]
        return tuple(
            (problem, "" if hint == following else hint)
            for (problem, hint), following in zip(self._wrong, next_hints, strict=True)
        )


class RefusedError(GateError):
    """The cluster or a guard refuses before the first write. Exit 3."""

    outcome = Outcome.REFUSED


class Bug(GateError):
    """An exception that nobody expected. Exit 1."""

    outcome = Outcome.INTERNAL_ERROR

    def __init__(self, error: BaseException) -> None:
        message = f"internal error: {place_of(error)}; this is a bug in rollout-gate"
        hint = "run it again with --log-level debug, and report its output"
        super().__init__(message, reason=Reason.INTERNAL_ERROR, hint=hint)


def place_of(error: BaseException) -> str:
    """Return the error's type and place, without its text, which could hold anything."""
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" in {Path(frame[0].filename).name}:{frame[0].lineno}" if frame else ""
    return f"{type(error).__name__}{place}"
