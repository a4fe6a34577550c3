"""How long a run may take at worst, computed before it runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from gate.config import Settings, policy
from gate.core.kinds.registry import kind_of
from gate.core.rollout.policy import Policy
from gate.wire import decode
from sandbox.face import JSON

MARGIN_SECONDS: Final = 10.0
"""Time for reports and a last read beyond the budgets (contract, "Failing: clocks")."""


def longest_seconds(settings: Settings, workloads: Sequence[JSON]) -> float:
    """Return the sum of the budgets in seconds, for workloads as the server stores them."""
    limits = policy(settings)
    legal = max((_legal_seconds(body, limits) for body in workloads), default=0.0)
    timeout = settings.timeout if settings.timeout is not None else legal
    back = settings.rollback_timeout if settings.rollback_timeout is not None else timeout
    return timeout + limits.budgets.longest_bake_seconds + back + MARGIN_SECONDS


def _legal_seconds(body: JSON, limits: Policy) -> float:
    live = decode.live_object(json.dumps(body).encode()).workload
    return kind_of(live.ref).longest_legal_seconds(live, limits) if live is not None else 0.0
