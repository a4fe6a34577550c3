"""The two legs of an attempt, forward and back, and how long each may take."""

from __future__ import annotations

import enum

from gate.core.rollout.policy import Policy


class Leg(enum.StrEnum):
    """The way out and the way back."""

    FORWARD = "forward"
    BACK = "back"


def leg_timeout(policy: Policy, leg: Leg) -> float | None:
    """Return a leg's total seconds, None for `auto`; the way back's default is the way out's."""
    if leg is Leg.BACK and policy.budgets.rollback_timeout_seconds is not None:
        return policy.budgets.rollback_timeout_seconds
    return policy.budgets.timeout_seconds
