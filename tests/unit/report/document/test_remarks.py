"""Warnings say what a reader would not expect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent
from gate.report.document.remarks import remarks
from tests.unit.report.cluster import managed_by, manifest
from tests.unit.report.endings import ENDINGS, verified


@pytest.mark.contract("B541")
@pytest.mark.parametrize(
    ("is_locked", "apply"), [(True, "the next apply"), (False, "an apply with --resume")]
)
def test_a_pause_of_ours_is_told(is_locked: bool, apply: str) -> None:
    """The next reader finds the Deployment paused, and wonders why and what ends it."""
    assert remarks(ENDINGS["paused"]().attempt, is_locked=is_locked) == [
        f"deployment/web is paused, as --on-failure pause asks: undo or {apply} resumes it"
    ]


@pytest.mark.contract("B906")
@pytest.mark.parametrize("is_locked", [True, False])
def test_a_pause_of_a_first_deployment_is_ended_by_no_undo(is_locked: bool) -> None:
    """Nothing served before it: an undo would be refused."""
    attempt = ENDINGS["paused"]().attempt
    (target,) = attempt.plan.targets
    plan = replace(attempt.plan, targets=(replace(target, baseline=Absent()),))
    (remark,) = remarks(replace(attempt, plan=plan), is_locked=is_locked)
    apply = "the next apply" if is_locked else "an apply with --resume"
    assert remark.endswith(f"asks: `resume` or {apply} resumes it")


def test_replicas_that_an_autoscaler_owns_are_told() -> None:
    """The manifest says 4, and 4 was not imposed."""
    attempt = verified().attempt
    (write,) = attempt.plan.writes
    plan = replace(attempt.plan, writes=(replace(write, autoscaled=True),))
    assert remarks(replace(attempt, plan=plan)) == [
        "spec.replicas of deployment/web is its autoscaler's: the manifest's was left out"
    ]


@pytest.mark.contract("B71")
@pytest.mark.parametrize("command", ["undo", "restart", "resume", "recover"])
def test_an_attempt_without_a_manifest_blames_no_autoscaler(command: str) -> None:
    """It keeps the live number, of whose owner it knows nothing."""
    attempt = verified().attempt
    (write,) = attempt.plan.writes
    plan = replace(attempt.plan, command=command, writes=(replace(write, autoscaled=True),))
    assert remarks(replace(attempt, plan=plan)) == []


def test_managers_that_lost_fields_to_a_forced_apply_are_named() -> None:
    """A hot fix by hand must not vanish unseen, not even with --force-conflicts."""
    attempt = verified().attempt
    ((ref, written),) = attempt.ledger.written.items()
    assert written.before is not None
    theirs = managed_by("kubectl-edit", manifest("web", "shop/web:1"), "Update")
    managed = Body.of({"managedFields": [theirs]})
    before = replace(written.before, managed=managed)
    forced = replace(written, before=before, forced=True)
    found = remarks(
        replace(attempt, ledger=replace(attempt.ledger, written=FrozenMap({ref: forced})))
    )
    assert len(found) == 1
    assert found[0].startswith("deployment/web: spec.")
    assert found[0].endswith(" taken from kubectl-edit")
    shared = Body.of({"managedFields": [*written.after.managed.thaw()["managedFields"], theirs]})
    kept = replace(forced, after=replace(written.after, managed=shared))
    assert (
        remarks(replace(attempt, ledger=replace(attempt.ledger, written=FrozenMap({ref: kept}))))
        == []
    )
    unforced = replace(forced, forced=False)
    assert (
        remarks(
            replace(attempt, ledger=replace(attempt.ledger, written=FrozenMap({ref: unforced})))
        )
        == []
    )
