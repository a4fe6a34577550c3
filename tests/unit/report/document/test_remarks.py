"""Warnings say what a reader would not expect."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent
from gate.core.model.objects import CleanText
from gate.core.plan.replica_ownership import Scaler
from gate.core.plan.rollback_plan import WrittenObject
from gate.report.document.remarks import remarks
from tests.table import each
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


PERHAPS = (
    "deployment/web: web-0 is gone or going, with its log: this run asked for that, but no answer"
    " says that it did it"
)


@pytest.mark.contract("B1882", "B1883")
@each(
    ("stage", "message", "is_gone", "said"),
    [
        (Stage.ACCEPTED, "", True, "this run evicted web-0 with its log"),
        (Stage.ACCEPTED, "", False, "this run evicted web-0 with its log"),
        (Stage.ACCEPTED, "pod not found", True, PERHAPS),
        (Stage.UNANSWERED, "timeout", True, PERHAPS),
        (Stage.SENT, "", True, PERHAPS),
        (Stage.UNANSWERED, "timeout", False, "web-0 is in the way, and was not replaced: timeout"),
        (Stage.REFUSED, "no right", False, "web-0 is in the way, and was not replaced: no right"),
        (Stage.GUARDED, "the budget", True, ""),
        (Stage.RECORDED, "", True, ""),
        (Stage.DECIDED, "", False, ""),
    ],
)
def test_who_removed_a_pod_is_said_as_far_as_it_is_known(
    stage: Stage, message: str, is_gone: bool, said: str
) -> None:
    """By the server's answer, and by whether the pod was there at the last look."""
    attempt = ENDINGS["verified"]().attempt
    ((ref, rollout),) = attempt.workloads.rollouts.items()
    uid = "gone" if is_gone else next(iter(rollout.snapshot.pods))
    one = Replacement(ref, "web-0", uid, stage, attempt.now, CleanText(message))
    workloads = replace(attempt.workloads, replacements=FrozenMap({uid: one}))
    found = remarks(replace(attempt, workloads=workloads))
    assert len(found) == bool(said)
    assert said in "".join(found)


@pytest.mark.contract("B1882")
def test_pods_that_were_removed_stand_in_one_line() -> None:
    """Each once, also one whose successor under its name was removed too."""
    attempt = ENDINGS["verified"]().attempt
    ((ref, _),) = attempt.workloads.rollouts.items()
    named = {"u1": "web-2", "u2": "web-1", "u3": "web-2", "u4": "web-0"}
    removed = {
        uid: Replacement(ref, pod, uid, Stage.ACCEPTED, attempt.now) for uid, pod in named.items()
    }
    workloads = replace(attempt.workloads, replacements=FrozenMap(removed))
    (said,) = remarks(replace(attempt, workloads=workloads))
    which = "web-2, web-1 and web-0 with their logs, for the controller to replace them"
    assert said == f"deployment/web: this run evicted {which}"
