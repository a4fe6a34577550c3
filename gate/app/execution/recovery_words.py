"""How a run says which way it finishes what an earlier gate left, and how long that may take."""

from __future__ import annotations

import math
from typing import Final

from gate.core.plan.plan import Plan
from gate.core.recovery.resumption import list_incomplete
from gate.core.rollout.policy import OnFailure
from gate.duration import format_seconds

CLOSED: Final = (
    "interrupted before it was complete; nothing of it can be taken back, and this run writes it"
    " again"
)
CLOSES: Final = (
    "close it as interrupted: nothing of it can be taken back, and that apply writes it again"
)
_SOON: Final = 5
"""The `--timeout` of a `recover` that waits for no deadline, in seconds."""


def describe_way(plan: Plan, recovery: str, at: float) -> str:
    """Say which way it goes, and how long nothing may move.

    `recovery` is the command with which nobody has to wait for that, "" where it is this one; `at`
    is monotonic seconds.
    """
    if plan.resumed is None or plan.resumed.back:
        pauses = plan.policy.response.on_failure is OnFailure.PAUSE
        return "what failed stays, paused" if pauses else "back"
    past = f"end this run and then: {recovery}" if recovery else ""
    return f"forward{describe_patience(plan, past, at)}"


def describe_patience(plan: Plan, past: str, at: float) -> str:
    """Say how long nothing may move on the way out, and how to get past that; "" without a clock.

    `past` ends with a `recover` without options, or is "".
    """
    lives = ((target.snapshot.kind, target.snapshot.live) for target in plan.targets)
    found = ((kind, live) for kind, live in lives if live is not None)
    limits = (kind.deadline_seconds(live, plan.policy) for kind, live in found)
    longest = max((one for one in limits if one < math.inf), default=0.0)
    if not longest:
        return ""
    said = f"; fails after {format_seconds(longest)} without progress"
    if not past or not list_incomplete(plan, at):
        return said
    return f"{said}; to let it fail after {_SOON} s, {past} --timeout {_SOON}"
