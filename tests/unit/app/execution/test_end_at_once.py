"""The last word of a gate that a second signal ends."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from gate.app.execution.end_at_once import describe_end_at_once
from gate.cluster_name import ClusterName
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin

CLUSTER = ClusterName("prod")
MODE = Ref("v1", "ConfigMap", "shop", "mode")
WEB, API = (Ref("apps/v1", "Deployment", "shop", name) for name in ("web", "api"))
FOLLOWED = " (if all was written, followed until it is complete or fails)"
MIGRATION = Ref("batch/v1", "Job", "shop", "migrate")


def said(
    *sent: Ref,
    followed: tuple[Ref, ...] = (WEB, API),
    is_locked: bool = True,
    has_recovered: bool = False,
) -> str:
    """Return the last word of an attempt on these objects."""
    refs = (MODE, *followed)
    plan = Plan(
        "apply",
        tuple(Target(ref, unseen(ref), Absent()) for ref in followed),
        tuple(PlannedObject(ref, Absent(), None) for ref in refs),
        tuple(PlannedWrite(ref, Verb.APPLY, Body.of({})) for ref in refs),
        Policy(),
    )
    known = {"is_locked": is_locked, "has_recovered": has_recovered}
    attempt, _ = begin(plan, 0.0)
    return describe_end_at_once(attempt, sent, CLUSTER, signal.SIGINT, **known)


@pytest.mark.contract("B752")
@pytest.mark.parametrize(
    ("followed", "is_locked", "follow"),
    [
        ((WEB, API), True, f"{FOLLOWED}: rollout-gate recover api -n shop --context prod"),
        ((MIGRATION, WEB), True, f"{FOLLOWED}: rollout-gate recover web -n shop --context prod"),
        ((WEB, API), False, ": rollout-gate verify web api -n shop --context prod"),
        ((), True, " (back if incomplete): rollout-gate recover -n shop --context prod"),
        ((), False, ": apply again"),
    ],
)
def test_it_says_what_stands_and_what_goes_on_from_there(
    followed: tuple[Ref, ...], is_locked: bool, follow: str
) -> None:
    """With a lock `recover` finds the record; without one it would find nothing."""
    line = said(MODE, followed=followed, is_locked=is_locked)
    assert line == (
        f"SIGINT ended it at once: unfinished, after writes to configmap/mode; next{follow}"
    )


@pytest.mark.contract("B2020")
@pytest.mark.parametrize("is_back", [False, True])
def test_it_names_what_was_changed_alone_and_which_way_a_recovery_goes(*, is_back: bool) -> None:
    """What was already as a write makes it needs nothing; a way back is to be finished as one."""
    same = LiveObject(MODE, "u1", "1", Body.of({"data": {"a": "1"}}), Body.of({}))
    plan = Plan(
        "apply",
        (Target(WEB, unseen(WEB), Absent()),),
        tuple(PlannedObject(ref, Known(same), None) for ref in (MODE, WEB)),
        tuple(PlannedWrite(ref, Verb.APPLY, Body.of({})) for ref in (MODE, WEB)),
        Policy(),
    )
    attempt, _ = begin(plan, 0.0)
    written = attempt.ledger.written.put(MODE, WrittenObject(same, same))
    attempt = replace(attempt, ledger=replace(attempt.ledger, written=written))
    if is_back:
        attempt = replace(attempt, course=replace(attempt.course, leg=Leg.BACK))
    on_its_way, way = (" on its way back", " (back)") if is_back else ("", FOLLOWED)

    def say(*sent: Ref) -> str:
        return describe_end_at_once(attempt, sent, CLUSTER, signal.SIGTERM, is_locked=True)

    start = f"SIGTERM ended it at once: unfinished{on_its_way}, "
    end = f"; next{way}: rollout-gate recover web -n shop --context prod"
    assert say(MODE, WEB) == f"{start}after writes to deployment/web{end}"
    assert say(MODE) == f"{start}before anything was changed{end}"


@pytest.mark.contract("B752")
def test_after_a_pause_one_looks_at_what_stands() -> None:
    """An apply is refused where the pause was written; nothing of it can be recovered."""
    write = PlannedWrite(WEB, Verb.MERGE, Body.of({}))
    plan = Plan("pause", (), (PlannedObject(WEB, Absent(), None),), (write,), Policy())
    attempt, _ = begin(plan, 0.0)
    line = describe_end_at_once(attempt, [WEB], CLUSTER, signal.SIGTERM, is_locked=False)
    assert line.endswith("next: rollout-gate status web -n shop --context prod")


@pytest.mark.contract("B752", "B1674")
def test_before_the_first_write_it_says_so() -> None:
    """There is nothing to go on from, but for an earlier attempt, which it had finished."""
    nothing = "SIGINT ended it at once: nothing was written"
    assert said() == nothing
    assert said(has_recovered=True) == f"{nothing}, except to finish an earlier attempt"
