"""The first line of a verdict about Deployments: what each did, and what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.kinds.job.reasons import JobReason
from gate.core.model.outcome import AnyReason, Outcome, Reason
from tests.unit.report.results import cause_of, first_line, object_result, workload_result

FAILED, BACK = Outcome.FAILED, Outcome.ROLLED_BACK
CRASH, DENIED, SIBLING = Reason.CRASH_LOOP, Reason.POD_CREATE_DENIED, Reason.SIBLING_FAILED


@pytest.mark.contract("B898")
@pytest.mark.parametrize("reason", [Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE])
def test_after_a_check_led_back_it_is_said_that_none_was_asked_again(reason: Reason) -> None:
    """What serves again may fail the same check: verified is what Kubernetes says of it."""
    web = workload_result(BACK, reason)
    api = workload_result(BACK, SIBLING, name="api")
    alone, both = first_line(web), first_line(web, api)
    assert alone.endswith("serves again, verified; no check was asked of it"), alone
    assert both.endswith("2 of 2 Deployments went back, verified; no check was asked of them")
    crashed = first_line(workload_result(BACK, CRASH))
    assert crashed.endswith("serves again, verified"), crashed


@pytest.mark.contract("B1370", "B1497")
def test_what_was_not_verified_before_is_not_verified_by_serving_again() -> None:
    """Alone, beside one that was, and both."""
    web = workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    api = workload_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, name="api")
    assert web["baseline"] is not None
    assert api["baseline"] is not None
    web["baseline"]["unverified"] = "NoRollout"
    alone, one = first_line(web), first_line(web, api)
    assert alone.endswith("serves again, not verified (NoRollout)"), alone
    assert one.endswith("went back, verified but for deployment/web (NoRollout)"), one
    api["baseline"]["unverified"] = "CheckInconclusive"
    both = first_line(web, api)
    assert both.endswith("went back, not verified (NoRollout, CheckInconclusive)"), both
    web["baseline"]["unverified"] = "Complete"
    alone = first_line(web)
    assert alone.endswith("serves again, not verified (no verdict)"), alone


@pytest.mark.contract("B1585")
def test_of_many_that_failed_the_one_that_decided_is_named() -> None:
    """First where not all of them fit, and none is only counted where they do."""
    names = ("web", "api", "cart", "shop")
    failed = [workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, name=one) for one in names]
    mail = workload_result(Outcome.ROLLED_BACK, Reason.OUT_OF_MEMORY, name="mail")
    long = [{**one, "name": one["name"] * 10} for one in failed]
    for several, named in (
        (long[:3], f"deployment/mail, deployment/{'web' * 10}, deployment/{'api' * 10} and 1 more"),
        (failed[:3], "deployment/mail, deployment/web, deployment/api, deployment/cart failed"),
        (failed, "deployment/mail, deployment/web, deployment/api and 2 more failed"),
    ):
        said = first_line(*several, mail, reason=Reason.OUT_OF_MEMORY)
        assert named in said, said


@pytest.mark.contract("B136")
@pytest.mark.parametrize(
    ("action", "said"), [("deleted", "was deleted"), ("deleting", "is being deleted")]
)
def test_of_what_was_created_and_deleted_nothing_serves_again(action: str, said: str) -> None:
    """There was no version before it: alone, and beside one that went back."""
    web = workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "none")
    web["baseline"] = None
    gone = [object_result(kind="Deployment", name="web", action=action)]
    first = first_line(web, objects=gone)
    assert f"deployment/web failed; this run had created it, and it {said}" in first
    other = workload_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, "baseline")
    other["name"] = "api"
    first = first_line(web, other, objects=gone)
    assert "1 of 2 Deployments went back, verified;" in first
    assert first.endswith(f"deployment/web, created by this run, {said}")


@pytest.mark.contract("B1471")
def test_what_a_run_did_not_change_is_not_counted_with_what_went_back() -> None:
    """It would read as if a part had been left behind."""
    web = workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    api = workload_result(Outcome.VERIFIED, Reason.NO_CHANGE, name="api")
    api["changed"] = False
    objects = [object_result(kind="Deployment", name="web", action="restored")]
    first = first_line(web, api, objects=objects)
    assert first.endswith(
        "deployment/web failed; deployment/web went back, verified; deployment/api was not changed"
    ), first
    www = workload_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, name="www")
    first = first_line(web, api, www, objects=objects)
    assert "; 2 of 2 Deployments went back, verified; deployment/api was not changed" in first


@pytest.mark.contract("B772", "B742", "B1310", "B1311", "B1361")
@pytest.mark.parametrize(
    ("deployments", "said"),
    [
        (
            [(FAILED, CRASH), (FAILED, SIBLING, SIBLING, CRASH)],
            "deployment/web, deployment/api failed and were not taken back",
        ),
        (
            [(FAILED, CRASH), (FAILED, SIBLING, SIBLING, DENIED)],
            "deployment/api did not complete and was not taken back",
        ),
        (
            [(FAILED, CRASH), (FAILED, SIBLING, SIBLING)],
            "nothing was found against deployment/api, which stays",
        ),
        (
            [(BACK, CRASH), (BACK, DENIED)],
            "deployment/web failed and deployment/api did not complete; 2 of 2",
        ),
        (
            [(BACK, CRASH), (BACK, SIBLING, SIBLING)],
            "deployment/web failed; 2 of 2 Deployments went back, verified",
        ),
        *(
            ([(BACK, Reason.PROGRESS_DEADLINE_EXCEEDED, *causes)], f"deployment/web {verb}; ")
            for causes, verb in (
                ([CRASH, DENIED], "failed"),
                ([DENIED, CRASH], "failed"),
                ([DENIED, Reason.UNSCHEDULABLE], "did not complete"),
                ([SIBLING, CRASH, Reason.UNSCHEDULABLE], "failed"),
                ([Reason.UNREACHABLE, Reason.NOT_READY], "did not complete"),
                ([Reason.NOT_STARTED], "did not complete"),
                ([Reason.NOT_READY, Reason.NOT_STARTED], "failed"),
            )
        ),
    ],
)
def test_each_is_judged_by_the_causes_of_its_own(
    deployments: list[tuple[Any, ...]], said: str
) -> None:
    """Another one's failure does not speak against it; what its own pods did does."""
    found = []
    for name, (outcome, reason, *causes) in zip(("web", "api"), deployments, strict=False):
        one = workload_result(outcome, reason, "baseline", name)
        one["causes"] = [cause_of(why, "", 1) for why in causes or [reason]]
        found.append(one)
    assert said in first_line(*found)


@pytest.mark.contract("B742")
@pytest.mark.parametrize(("reason", "verb"), [(DENIED, "did not complete"), (CRASH, "failed")])
def test_the_verb_is_the_same_whatever_became_of_it(reason: Reason, verb: str) -> None:
    """Beside configuration that did not return, and of what the run had not changed."""
    back = workload_result(BACK, reason, "baseline")
    said = f"deployment/web {verb}; not all that goes with it was restored: it needs a person"
    assert said in first_line(back, outcome=Outcome.ROLLBACK_FAILED)
    sick = [workload_result(FAILED, reason, name=name) for name in ("web", "api")]
    for one in sick:
        one["changed"] = False
    said = f"web, deployment/api {verb}, and this run had not changed them: they stand as they were"
    assert said in first_line(*sick, objects=[object_result()])


@pytest.mark.contract("B772")
def test_what_somebody_else_created_was_not_changed() -> None:
    """A Deployment that was not there before has no uid in the document."""
    theirs = workload_result(Outcome.SUPERSEDED, Reason.SUPERSEDED, "other")
    theirs["uid"] = ""
    assert "somebody else created deployment/web" in first_line(theirs)


@pytest.mark.contract("B1615")
def test_of_several_that_were_scaled_to_0_each_has_its_own_fault() -> None:
    """What was wrong with one says nothing about the other."""
    web, mail = (
        workload_result(Outcome.SUPERSEDED, Reason.SCALED_TO_ZERO, "none", name)
        for name in ("web", "mail")
    )
    web["causes"], mail["causes"] = [cause_of(CRASH, "web: Error")], []
    said = first_line(web, mail)
    assert "scaled down deployment/web after CrashLoop and scaled down deployment/mail;" in said


@pytest.mark.contract("B1059")
@pytest.mark.parametrize(
    ("outcome", "reason", "said"),
    [
        (
            BACK,
            Reason.APPLY_REJECTED,
            "what is known to have been written went back; whether deployment/web did is not known",
        ),
        (FAILED, JobReason.JOB_FAILED, "whether deployment/web was written is not known"),
        (
            Outcome.INTERRUPTED,
            Reason.INTERRUPTED,
            "whether deployment/web was written is not known",
        ),
    ],
)
def test_what_is_in_doubt_is_neither_written_nor_never_written(
    outcome: Outcome, reason: AnyReason, said: str
) -> None:
    """Whether something went back, a Job failed, or a signal ended it."""
    first = workload_result(outcome, reason, "baseline", "api")
    web = workload_result(Outcome.INCONCLUSIVE, reason, "unknown")
    web["changed"], web["new"]["name"] = False, ""
    if reason == JobReason.JOB_FAILED:
        first["kind"] = "Job"
    objects = [
        object_result(kind="Secret", name="api", action="restored"),
        object_result(kind="Deployment", name="web", action="in-doubt"),
    ]
    line = first_line(first, web, objects=objects)
    assert said in line
    assert "never written" not in line


@pytest.mark.contract("B1358")
def test_a_signal_on_the_way_back_names_every_workload_that_it_left() -> None:
    """Not the first alone; one that had come back is none of them."""
    left = "the rollback was written, not verified"
    web, db, api = (workload_result(Outcome.INTERRUPTED, Reason.INTERRUPTED) for _ in range(3))
    web["message"] = db["message"] = left
    db |= {"kind": "StatefulSet", "name": "db"}
    api |= {"name": "api", "outcome": Outcome.ROLLED_BACK, "message": "said"}
    back: Any = {"restored": [], "written_at": "2026-01-01T00:00:00Z", "verified_seconds": None}
    line = first_line(web, api, db, message=f"deployment/web: {left}", rollback=back)
    assert line.endswith(f"deployment/web, statefulset/db: {left}"), line


@pytest.mark.contract("B1425")
def test_of_several_workloads_the_change_that_failed_is_named() -> None:
    """The version of one failed, of the others the configuration; and where none had changed."""
    web, api, db = (
        workload_result(BACK, Reason.CHECK_FAILED, "baseline", name)
        for name in ("web", "api", "db")
    )
    for one in (web, api):
        assert one["baseline"] is not None
        one["new"]["name"] = one["baseline"]["name"]
    objects = [object_result(action="restored")]
    assert (
        "the change of configuration of deployment/web, deployment/api failed and deployment/db"
        " failed; 3 of 3 Deployments went back"
    ) in first_line(web, api, db, objects=objects)
    for one in (web, api):
        one["outcome"], one["reason"], one["changed"] = Outcome.VERIFIED, Reason.NO_CHANGE, False
    back = {"outcome": BACK, "reason": Reason.INTERRUPTED, "objects": objects}
    said = "the change of configuration did not complete and went back; deployment/web"
    assert first_line(web, **back).endswith(f"{said} runs as before")
    assert first_line(web, api, **back).endswith(f"{said}, deployment/api run as before")


@pytest.mark.contract("B1911")
@pytest.mark.parametrize(
    ("reason", "check"),
    [
        (Reason.CHECK_INCONCLUSIVE, ""),
        (Reason.CHECK_ERROR, ""),
        (Reason.INTERRUPTED, "errors"),
    ],
)
def test_configuration_of_which_a_check_did_not_decide_is_not_called_incomplete(
    reason: Reason, check: str
) -> None:
    """By a run, or by `recover` after one that ended before its check had decided."""
    web = workload_result(Outcome.VERIFIED, Reason.NO_CHANGE, "baseline")
    web["changed"] = False
    back = {"outcome": BACK, "reason": reason, "undecided_check": check}
    said = first_line(web, **back, objects=[object_result(action="restored")])
    assert "the change of configuration was not verified and went back; deployment/web" in said


@pytest.mark.contract("B1426")
@pytest.mark.parametrize("outcome", [BACK, FAILED, Outcome.ROLLBACK_FAILED])
def test_an_undo_that_did_not_succeed_says_so(outcome: Outcome) -> None:
    """With the revision to which it went, where it is about one workload."""
    left: Any = {"revision": 3, "was_revision": None, "name": "web-3", "images": ["shop/web:3"]}
    web = workload_result(outcome, Reason.CRASH_LOOP, "baseline") | {"undone": left}
    api = workload_result(outcome, Reason.CRASH_LOOP, "baseline", "api") | {"undone": left}
    assert "): the undo to revision 4 did not succeed: " in first_line(web, command="undo")
    assert "): the undo did not succeed: " in first_line(web, api, command="undo")
    assert "undo" not in first_line(web)


@pytest.mark.contract("B1674")
@pytest.mark.parametrize("has_recovered", [False, True])
def test_what_finished_an_earlier_attempt_before_its_signal_wrote(*, has_recovered: bool) -> None:
    """Nothing of its own; the earlier attempt it took back, or completed."""
    web = workload_result(Outcome.INTERRUPTED, Reason.INTERRUPTED, "baseline")
    web["changed"], web["new"]["name"] = False, ""
    said = first_line(web, message="nothing was written", has_recovered=has_recovered)
    more = ", except to finish an earlier attempt" if has_recovered else ""
    assert said.endswith(f"nothing was written{more}"), said
