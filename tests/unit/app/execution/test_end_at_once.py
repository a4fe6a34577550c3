"""The last word of a gate that a second signal ends."""

from __future__ import annotations

import signal

import pytest

from gate.app.execution.end_at_once import describe_end_at_once
from gate.cluster_name import ClusterName
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body
from gate.core.model.fact import Absent
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target
from gate.core.rollout.policy import Policy

CLUSTER = ClusterName("prod")
MODE = Ref("v1", "ConfigMap", "shop", "mode")
WEB, API = (Ref("apps/v1", "Deployment", "shop", name) for name in ("web", "api"))
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
    return describe_end_at_once(plan, sent, CLUSTER, signal.SIGINT, **known)


@pytest.mark.contract("B752")
@pytest.mark.parametrize(
    ("followed", "is_locked", "follow"),
    [
        ((WEB, API), True, "rollout-gate recover api -n shop --context prod"),
        ((MIGRATION, WEB), True, "rollout-gate recover web -n shop --context prod"),
        ((WEB, API), False, "rollout-gate verify web api -n shop --context prod"),
        ((), True, "rollout-gate recover -n shop --context prod"),
        ((), False, "apply again"),
    ],
)
def test_it_says_what_stands_and_what_goes_on_from_there(
    followed: tuple[Ref, ...], is_locked: bool, follow: str
) -> None:
    """With a lock `recover` finds the record; without one it would find nothing."""
    line = said(MODE, followed=followed, is_locked=is_locked)
    assert line == (
        f"SIGINT ended it at once: unfinished, after writes to configmap/mode; next: {follow}"
    )


@pytest.mark.contract("B752")
def test_after_a_pause_one_looks_at_what_stands() -> None:
    """An apply is refused where the pause was written; nothing of it can be recovered."""
    write = PlannedWrite(WEB, Verb.MERGE, Body.of({}))
    plan = Plan("pause", (), (PlannedObject(WEB, Absent(), None),), (write,), Policy())
    line = describe_end_at_once(plan, [WEB], CLUSTER, signal.SIGTERM, is_locked=False)
    assert line.endswith("next: rollout-gate status web -n shop --context prod")


@pytest.mark.contract("B752", "B1674")
def test_before_the_first_write_it_says_so() -> None:
    """There is nothing to go on from, but for an earlier attempt, which it had finished."""
    nothing = "SIGINT ended it at once: nothing was written"
    assert said() == nothing
    assert said(has_recovered=True) == f"{nothing}, except to finish an earlier attempt"
