"""One thing to do next: what it is, and the command for it if there is one."""

from __future__ import annotations

from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; `command` is "" if there is none to run."""

    text: str
    command: str = ""


def parse_hint(hint: str) -> Step:
    """Return an error's hint as a step; it says more than the reason, and may end in a command."""
    text, _, command = hint.rpartition(": ")
    if not command.startswith(("rollout-gate ", "kubectl ")):
        return Step(hint)
    return Step(f"{text or 'see'}:", command)
