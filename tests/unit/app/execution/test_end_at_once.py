"""The last word of a gate that a second signal ends."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gate.app.execution.end_at_once import describe_end_at_once
from gate.cluster_name import ClusterName
from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent
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
    attempt, _ = begin(plan, 0.0)
    return describe_end_at_once(
        attempt,
        dict.fromkeys(sent, Leg.FORWARD),
        CLUSTER,
        signal.SIGINT,
        recorded_leg=Leg.FORWARD if is_locked else None,
        has_recovered=has_recovered,
    )


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


def begun_with_unchanged(*refs: Ref) -> Attempt:
    """Return an attempt on a ConfigMap and a workload whose writes of `refs` changed nothing."""
    plan = Plan(
        "apply",
        (Target(WEB, unseen(WEB), Absent()),),
        tuple(PlannedObject(ref, Absent(), None) for ref in (MODE, WEB)),
        tuple(PlannedWrite(ref, Verb.APPLY, Body.of({})) for ref in (MODE, WEB)),
        Policy(),
    )
    attempt, _ = begin(plan, 0.0)
    same = {
        ref: LiveObject(ref, "u1", "1", Body.of({"data": {"a": "1"}}), Body.of({})) for ref in refs
    }
    written = FrozenMap((ref, WrittenObject(one, one)) for ref, one in same.items())
    return replace(attempt, ledger=replace(attempt.ledger, written=written))


def last_word(attempt: Attempt, sent: Mapping[Ref, Leg], recorded_leg: Leg | None) -> str:
    """Return the last word of an attempt that a SIGTERM ends, without what always stands there."""
    line = describe_end_at_once(attempt, sent, CLUSTER, signal.SIGTERM, recorded_leg=recorded_leg)
    follow = ": rollout-gate recover web -n shop --context prod"
    return line.removeprefix("SIGTERM ended it at once: ").removesuffix(follow)


@pytest.mark.contract("B2020")
def test_it_names_what_was_changed_alone() -> None:
    """What was already as a write makes it needs nothing."""
    attempt = begun_with_unchanged(MODE)
    out = {MODE: Leg.FORWARD, WEB: Leg.FORWARD}
    said = last_word(attempt, out, Leg.FORWARD)
    assert said == f"unfinished, after writes to deployment/web; next{FOLLOWED}"
    said = last_word(attempt, {MODE: Leg.FORWARD}, Leg.FORWARD)
    assert said == f"unfinished, before anything was changed; next{FOLLOWED}"


@pytest.mark.contract("B2020")
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({MODE: Leg.FORWARD, WEB: Leg.FORWARD}, "before anything was changed"),
        ({MODE: Leg.BACK, WEB: Leg.FORWARD}, "after writes to configmap/mode"),
        ({MODE: Leg.BACK, WEB: Leg.BACK}, "after writes to configmap/mode, deployment/web"),
    ],
)
def test_it_names_what_only_the_way_back_changes(sent: Mapping[Ref, Leg], said: str) -> None:
    """An apply of what failed before changes nothing, and its way back all of it."""
    attempt = begun_with_unchanged(MODE, WEB)
    attempt = replace(attempt, course=replace(attempt.course, leg=Leg.BACK))
    assert last_word(attempt, sent, Leg.BACK) == f"unfinished on its way back, {said}; next (back)"


@pytest.mark.contract("B2020")
@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (Stage.REREAD, "before anything was changed"),
        (Stage.SENT, "after writes to deployment/web"),
        (Stage.REFUSED, "before anything was changed"),
    ],
)
def test_it_names_an_unchanged_workload_of_which_a_pod_may_be_removed(
    stage: Stage, said: str
) -> None:
    """An apply of what is stuck changes nothing but the pod that it removes."""
    attempt = begun_with_unchanged(MODE, WEB)
    removal = FrozenMap({"p1": Replacement(WEB, "web-0", "p1", stage, 0.0)})
    attempt = replace(attempt, workloads=replace(attempt.workloads, replacements=removal))
    sent = {MODE: Leg.FORWARD, WEB: Leg.FORWARD}
    assert last_word(attempt, sent, Leg.FORWARD) == f"unfinished, {said}; next{FOLLOWED}"


@pytest.mark.contract("B2020", "B1484")
def test_until_a_way_back_is_recorded_it_says_what_the_record_leads_to() -> None:
    """By it alone `recover` goes; without a lock there is none, and the run knows its own way."""
    attempt = begun_with_unchanged(MODE)
    attempt = replace(attempt, course=replace(attempt.course, leg=Leg.BACK))
    sent = {MODE: Leg.FORWARD, WEB: Leg.FORWARD}
    written = "after writes to deployment/web; next"
    assert last_word(attempt, sent, Leg.FORWARD) == f"unfinished, {written}{FOLLOWED}"
    assert last_word(attempt, sent, Leg.BACK) == f"unfinished on its way back, {written} (back)"
    without = last_word(attempt, sent, None)
    assert without.startswith(f"unfinished on its way back, {written}: rollout-gate verify web")


@pytest.mark.contract("B752")
def test_after_a_pause_one_looks_at_what_stands() -> None:
    """An apply is refused where the pause was written; nothing of it can be recovered."""
    write = PlannedWrite(WEB, Verb.MERGE, Body.of({}))
    plan = Plan("pause", (), (PlannedObject(WEB, Absent(), None),), (write,), Policy())
    attempt, _ = begin(plan, 0.0)
    sent = {WEB: Leg.FORWARD}
    line = describe_end_at_once(attempt, sent, CLUSTER, signal.SIGTERM, recorded_leg=None)
    assert line.endswith("next: rollout-gate status web -n shop --context prod")


@pytest.mark.contract("B752", "B1674")
def test_before_the_first_write_it_says_so() -> None:
    """There is nothing to go on from, but for an earlier attempt, which it had finished."""
    nothing = "SIGINT ended it at once: nothing was written"
    assert said() == nothing
    assert said(has_recovered=True) == f"{nothing}, except to finish an earlier attempt"
