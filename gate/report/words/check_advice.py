"""What to do next about a check: the command that asks it again, with the flags of the run."""

from __future__ import annotations

import shlex
from typing import Final

from gate.report.schema.result import Result
from gate.report.words.attempt_advice import Step

_ADDED: Final = ", with this run's check flags added"


def ask_again(result: Result, text: str, name: str, place: list[str]) -> Step:
    """Return the step that asks the run's checks again; it says so if their flags are unknown."""
    flags = result["check_flags"]
    words = ["rollout-gate", "checks", *filter(None, (name,)), *place, *(flags or ()), "--explain"]
    names = result["check_variables"]
    set_ = f", with {' and '.join(names)} set as in the run" if names else ""
    return Step(f"{text}{_ADDED if flags is None else ''}{set_}:", shlex.join(words))
