"""Warnings say what a reader would not expect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent
from gate.core.plan.replica_ownership import Scaler
from gate.core.plan.rollback_plan import WrittenObject
from gate.report.document.remarks import remarks
from tests.unit.report.endings import ENDINGS


@pytest.mark.contract("B541", "B906")
@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize(
    ("is_locked", "apply"), [(True, "the next apply"), (False, "an apply with --resume")]
)
def test_a_pause_of_ours_is_told(is_locked: bool, apply: str, is_first: bool) -> None:
    """What ends it: of a first Deployment no undo, which would be refused."""
    attempt = ENDINGS["paused"]().attempt
    (target,) = attempt.plan.targets
    if is_first:
        target = replace(target, baseline=Absent())
    attempt = replace(attempt, plan=replace(attempt.plan, targets=(target,)))
    way = "`resume`" if is_first else "undo"
    assert remarks(attempt, is_locked=is_locked) == [
        f"deployment/web is paused, as --on-failure pause asks: {way} or {apply} resumes it"
    ]


@pytest.mark.contract("B71")
@pytest.mark.parametrize("command", ["apply", "undo", "restart", "resume", "recover"])
def test_replicas_that_an_autoscaler_owns_are_told(command: str) -> None:
    """Of an apply, whose manifest says 4; what has no manifest keeps the live number."""
    attempt = ENDINGS["verified"]().attempt
    (write,) = attempt.plan.writes
    write = replace(write, scaler=Scaler.AUTOSCALER)
    plan = replace(attempt.plan, command=command, writes=(write,))
    warning = "spec.replicas of deployment/web is its autoscaler's: the manifest's was left out"
    assert remarks(replace(attempt, plan=plan)) == ([warning] if command == "apply" else [])


def test_managers_that_lost_fields_to_a_forced_apply_are_named() -> None:
    """A hot fix by hand must not vanish unseen, not even with --force-conflicts."""
    attempt = ENDINGS["verified"]().attempt
    ((ref, written),) = attempt.ledger.written.items()
    assert written.before is not None
    (ours,) = written.before.managed.thaw()["managedFields"]
    theirs = {**ours, "manager": "kubectl-edit", "operation": "Update"}
    before = replace(written.before, managed=Body.of({"managedFields": [theirs]}))
    forced = replace(written, before=before, forced=True)
    shared = Body.of({"managedFields": [*written.after.managed.thaw()["managedFields"], theirs]})

    def remarks_on(write: WrittenObject) -> list[str]:
        ledger = replace(attempt.ledger, written=FrozenMap({ref: write}))
        return list(remarks(replace(attempt, ledger=ledger)))

    (remark,) = remarks_on(forced)
    assert remark.startswith("deployment/web: spec.")
    assert remark.endswith(" taken from kubectl-edit")
    assert remarks_on(replace(forced, after=replace(written.after, managed=shared))) == []
    assert remarks_on(replace(forced, forced=False)) == []
