"""What was left of a version: doubts of checks, obstacles, and whether a failure returns to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.checks.spec import Check
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Pod
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, PlannedObject, Target
from gate.core.plan.target_set import AppliedVersion
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import Policy
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.candidates import Candidates
from gate.core.versions.doubts import with_doubts
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.open_findings import list_findings
from gate.core.versions.return_doubts import find_last_word, is_best_known, serves_by_on_delete
from tests.table import each
from tests.unit.core.checks_world import a_check
from tests.unit.core.kinds.test_stateful_set import DB, NEW, OLD, member, revision, stateful_set
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import serving
from tests.unit.core.recovery.test_resumption import plan_of
from tests.unit.core.world import WEB, config_ref, deployment, replica_set, snapshot_of, template


@pytest.mark.contract("B1372")
@each(
    ("available", "why", "is_best"),
    [
        (4, Reason.CHECK_ERROR, True),
        (2, Reason.CHECK_ERROR, False),
        (4, Reason.CHECK_FAILED, False),
    ],
)
def test_what_serves_unverified_is_the_best_known_if_it_is_complete(
    available: int, why: Reason, *, is_best: bool
) -> None:
    """Not half of it, and nothing that failed."""
    web = deployment(available_replicas=available, updated_replicas=available)
    pods = replica_set(replicas=4, available_replicas=available)
    snapshot = snapshot_of(WEB, web, pods)
    target = Target(WEB, snapshot, Known(Baseline("web-2", 2, template(), "hash")))
    cause = Cause(why, CleanText("smoke: why"))
    left = JudgedVersion(template_digest(template()), (), FrozenMap({WEB: "w"}), "web-2", 2, cause)
    assert is_best_known(target, History((left,)), {WEB: "w"}) is is_best


@pytest.mark.contract("B1604")
@each(
    ("pods", "on_delete", "name"),
    [
        ((member(0, OLD), member(1, OLD, ready=False)), True, OLD),
        ((member(0, OLD), member(1, OLD, ready=False)), False, ""),
        ((member(0, OLD), member(1, "db-tried", ready=False)), True, ""),
        ((member(0, OLD), member(1, NEW, ready=False)), True, ""),
        ((member(0, NEW), member(1, NEW)), True, ""),
        ((member(0, OLD, ready=False),), True, ""),
    ],
)
def test_beside_a_template_that_no_pod_takes_all_pods_run_one_version(
    pods: tuple[Pod, ...], name: str, *, on_delete: bool
) -> None:
    """By `OnDelete`: else they are about to go.

    Pods of another count also while they are not ready, and one at least has to serve.
    """
    live = stateful_set(on_delete=on_delete)
    revisions = [
        revision(name, number, template(f"shop/db:{number}"))
        for number, name in enumerate((OLD, "db-tried", NEW), 1)
    ]
    found = serves_by_on_delete(snapshot_of(DB, live, *revisions, *pods))
    assert (found.name if found is not None else "") == name


def judged(
    why: Reason | None, web: str = "w", configuration: str = "c", judged_at: str = "12:01"
) -> JudgedVersion:
    """Return a judgement of the pods of `web-2` beside configuration, "" for none."""
    members = {WEB: web, **({config_ref(): configuration} if configuration else {})}
    cause = Cause(why, CleanText("why")) if why is not None else None
    version = JudgedVersion(template_digest(template()), (), FrozenMap(members), "web-2", 2, cause)
    return replace(version, judged_at=f"2026-11-21T{judged_at}:00Z")


@pytest.mark.contract("B1571")
@each(
    ("complete", "is_last"),
    [
        (judged(Reason.COMPLETE, web="more pods", judged_at="12:02"), True),
        (judged(Reason.COMPLETE, web="more pods", judged_at="12:01"), True),
        (judged(Reason.COMPLETE, web="more pods", judged_at="12:00"), False),
        (judged(Reason.COMPLETE, configuration="d", judged_at="12:02"), False),
        (judged(Reason.VACUOUS, web="more pods", judged_at="12:02"), False),
        (judged(Reason.NO_ROLLOUT, web="more pods", judged_at="12:02"), False),
    ],
)
def test_what_was_verified_otherwise_and_ran_complete_since_is_complete(
    complete: JudgedVersion, *, is_last: bool
) -> None:
    """If pods of it ran, and the workload itself was another one, as by its partition."""
    verified = judged(None)
    found = find_last_word(History((verified,), unjudged=(complete,)), replica_set(), WEB)
    assert found == (complete if is_last else verified)


@pytest.mark.contract("B1572")
@each(
    ("failed", "is_open"),
    [
        (judged(Reason.CRASH_LOOP), False),
        (judged(Reason.CRASH_LOOP, configuration=""), False),
        (judged(Reason.CRASH_LOOP, configuration="d"), True),
    ],
)
def test_pods_that_failed_are_a_finding_unless_they_were_verified_just_so(
    failed: JudgedVersion, *, is_open: bool
) -> None:
    """With the same objects beside them, as far as their failure names any."""
    found = list_findings(History((judged(None), failed)), template())
    assert found == ((failed,) if is_open else ())


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
        (Target(DB, snapshot_of(DB, live), Unknown("not asked")),),
        (PlannedObject(DB, Known(before), trial),),
        (),
        Policy(),
    )
    cause = Cause(Reason.CRASH_LOOP, CleanText("db: Error"))
    failed = JudgedVersion(template_digest(wanted.template), (), FrozenMap({DB: "d"}), why=cause)
    candidates = Candidates(plan.targets, plan.objects, {DB: History((failed,))})
    assert (DB in with_doubts(candidates, plan, AppliedVersion()).doubts) is stays
