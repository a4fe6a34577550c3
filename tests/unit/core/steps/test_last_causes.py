"""What was wrong with pods is known after somebody has scaled them to 0, however that is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Absent
from gate.core.model.objects import Watched
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, Target
from gate.core.protocol.events import Recorded, Woke
from gate.core.rollout.observations import Kind, Observed, Vanished
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin, step
from tests.unit.core.world import deployment, later, pod, replica_set, waiting

PULLING: Final = waiting("ErrImagePull", "no such host")
WEB: Final = deployment(replicas=2, available_replicas=0, ready_replicas=0, updated_replicas=2)
TROUBLED: Final = [pod(number, PULLING, ready=False) for number in (0, 1)]
NOUGHT: Final = Observed(
    2.0,
    later(
        WEB,
        300,
        replicas=0,
        status_replicas=0,
        updated_replicas=0,
        generation=9,
        observed_generation=9,
    ),
)
"""Somebody's 0, which the controller has seen."""
GONE: Final = [Vanished(2.0, Kind.POD, one.uid) for one in TROUBLED]
WELL: Final = pod(2)


def following() -> Attempt:
    """Follow a Deployment whose pods cannot pull their image."""
    snapshot = unseen(WEB.ref)
    there: tuple[Watched, ...] = (WEB, replica_set(replicas=2), *TROUBLED)
    for thing in there:
        snapshot = snapshot.fold(Observed(0.0, thing))
    plan = Plan("verify", (Target(WEB.ref, snapshot, Absent()),), (), (), Policy())
    attempt, (save,) = begin(plan, 0.0)
    attempt, _ = step(attempt, Recorded(0.1, save.effect_id))  # type: ignore[union-attr]
    return attempt


@pytest.mark.contract("B1615")
@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([NOUGHT, *GONE], 2),
        ([*GONE, NOUGHT], 1),
        ([GONE[0], NOUGHT, GONE[1]], 1),
        ([*GONE, Observed(2.0, WELL), NOUGHT, Vanished(2.0, Kind.POD, WELL.uid)], 0),
    ],
    ids=["number first", "pods first", "between", "replaced by one that is well"],
)
def test_the_last_causes_are_kept(events: Sequence[Observed | Vanished], count: int) -> None:
    """As the last of the pods went or the 0 was seen, whichever a watch tells first."""
    attempt = following()
    for event in events:
        attempt, _ = step(attempt, event)
    attempt, _ = step(attempt, Woke(60.0))
    ending = attempt.result.endings[WEB.ref]
    assert ending.reason is Reason.SCALED_TO_ZERO
    pulls = [one.pods for one in ending.causes if one.reason is Reason.IMAGE_PULL]
    assert pulls == [count] * bool(count), ending.causes
