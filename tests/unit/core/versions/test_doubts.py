"""What a check left of a version, and which attempts keep that without asking it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.checks.spec import Check
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.target_set import AppliedVersion
from gate.core.rollout.causes import Cause
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Policy
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.candidates import Candidates
from gate.core.versions.doubts import with_doubts
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from tests.table import each
from tests.unit.core.checks_world import a_check
from tests.unit.core.kinds.stateful_set.test_blocking import DB, NEW, stateful_set
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import serving
from tests.unit.core.recovery.test_resumption import plan_of
from tests.unit.core.world import WEB, config_ref, template

SAME, OTHER = config("a"), config("b")


def is_in_doubt(
    left: str,
    body: dict[str, Any],
    policy: Policy | None = None,
    why: Reason = Reason.CHECK_FAILED,
) -> bool:
    """Tell whether v1 stays in doubt where an attempt applies it again beside configuration.

    The check `errors` failed it with what is live, if `why` is none of its pods: its `template`, or
    the `configuration` alone.
    """
    server = serving(SAME)
    live = {ref: server.read(ref) for ref in (WEB, config_ref())}
    members = FrozenMap({ref: applied_digest(one) for ref, one in live.items()})
    web = live[WEB]
    assert web is not None
    assert web.workload is not None
    template = template_digest(web.workload.template) if left == "template" else ""
    cause = Cause(why, CleanText("errors: too many"), check="errors")
    history = History((JudgedVersion(template, (), members, why=cause),))
    plan = plan_of(server, body, manifest("v1"), policy=policy)
    candidates = Candidates(plan.targets, plan.objects, {WEB: history})
    return WEB in with_doubts(candidates, plan, AppliedVersion()).doubts


@pytest.mark.contract("B1465")
@each(
    ("left", "body", "stays"),
    [
        ("template", SAME, True),
        ("template", OTHER, True),
        ("configuration", SAME, True),
        ("configuration", OTHER, False),
    ],
)
def test_a_doubt_stays_while_what_the_check_left_does(
    left: str, body: dict[str, Any], stays: bool
) -> None:
    """A template, whatever changes beside it; configuration alone, until that changes."""
    assert is_in_doubt(left, body) is stays


@pytest.mark.contract("B1465", "B1302")
@each(
    ("check", "stays"),
    [(a_check(), False), (a_check(required=False), True), (a_check(dry_run=True), True)],
)
def test_a_check_that_only_reports_answers_no_doubt(check: Check, stays: bool) -> None:
    """Its conclusion does not count: nothing verifies the version."""
    assert is_in_doubt("template", SAME, Policy(checks=(check,))) is stays


@pytest.mark.contract("B1572")
@each(
    ("why", "stays"),
    [
        (Reason.CRASH_LOOP, True),
        (Reason.OUT_OF_MEMORY, True),
        (Reason.READINESS_LOST, True),
        (Reason.AVAILABILITY_LOST, True),
        (Reason.IMAGE_PULL, False),
        (Reason.TIMEOUT, False),
    ],
)
def test_pods_that_are_ready_refute_what_keeps_pods_from_that(why: Reason, stays: bool) -> None:
    """What came over pods that were ready may do so again."""
    assert is_in_doubt("template", OTHER, why=why) is stays


@pytest.mark.contract("B1572")
@each(
    ("runs", "was_on_delete", "on_delete", "stays"),
    [
        ("shop/db:2", True, True, True),
        ("shop/db:2", False, False, False),
        ("shop/db:1", True, True, True),
        ("shop/db:1", True, False, False),
    ],
)
def test_on_delete_brings_a_template_to_no_pods_that_are_judged(
    runs: str, *, was_on_delete: bool, on_delete: bool, stays: bool
) -> None:
    """Whether it comes back or is kept; where the controller is to replace pods, they are."""
    done = {"ready_replicas": 3, "available_replicas": 3, "updated_replicas": 3}
    live = stateful_set(
        template=template(runs), on_delete=was_on_delete, current_revision=NEW, **done
    )
    wanted = replace(live, template=template("shop/db:1"), on_delete=on_delete)
    no_fields = Body.of({"managedFields": []})
    before, trial = (
        LiveObject(DB, "db-uid", "1", Body.of({}), no_fields, one) for one in (live, wanted)
    )
    plan = Plan(
        "apply",
        (Target(DB, unseen(DB).fold(Observed(0.0, live)), Unknown("not asked")),),
        (PlannedObject(DB, Known(before), trial),),
        (),
        Policy(),
    )
    cause = Cause(Reason.CRASH_LOOP, CleanText("db: Error"))
    failed = JudgedVersion(template_digest(wanted.template), (), FrozenMap({DB: "d"}), why=cause)
    candidates = Candidates(plan.targets, plan.objects, {DB: History((failed,))})
    assert (DB in with_doubts(candidates, plan, AppliedVersion()).doubts) is stays
