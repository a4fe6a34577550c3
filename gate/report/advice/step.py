"""One thing to do next: what it is, and the command for it if there is one."""

from __future__ import annotations

import shlex

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; `command` is "" if there is none to run."""

    text: str
    command: str = ""


def parse_hint(hint: str) -> Step:
    """Return an error's hint as a step; it says more than the reason, and may end in a command.

    One that goes on after its command is text: nobody could paste the command with the rest.
    """
    text, _, command = hint.rpartition(": ")
    if not _is_command(command):
        return Step(hint)
    return Step(f"{text or 'see'}:", command)


def _is_command(text: str) -> bool:
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    is_ours = text.startswith(("rollout-gate ", "kubectl "))
    return is_ours and not any(word.endswith(";") for word in words)
