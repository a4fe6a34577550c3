"""Reports speak of each kind of workload in its own words, and claim of each what was seen."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.kinds import registry as core
from gate.core.model.outcome import Outcome, Reason
from gate.core.model.remedy import Remedy
from gate.report.advice.next_steps import next_steps
from gate.report.formats.text import verdict_text
from gate.report.kinds import registry
from gate.report.schema.result import PodShare, WorkloadResult
from gate.report.style.style import Style
from gate.report.words.facts import (
    runs_now,
)
from gate.report.words.fate import Fate, fate_of
from tests.table import each
from tests.unit.report.results import (
    cause_of,
    first_line,
    object_result,
    result_of,
    workload_result,
)

ONE_LINE = Style(width=10_000)


def share(role: Any, revision: int, pods: int) -> PodShare:
    """Return how many pods run a revision."""
    images = [f"shop/db:{revision}"]
    return {"name": "x", "role": role, "revision": revision, "images": images, "pods": pods}


def of_kind(kind: str, outcome: Outcome, reason: str, **over: Any) -> WorkloadResult:
    """Return a workload of a kind that ended so."""
    one: Any = workload_result(outcome, core.reason_of(reason), "mixed", "db")
    return one | {"kind": kind} | over  # type: ignore[no-any-return]


def steps(*workloads: WorkloadResult) -> list[str]:
    """Return what is advised about these, each with its command."""
    return [f"{one.text} {one.command}".strip() for one in next_steps(result_of(*workloads))]


HALF = {"pod_shares": [share("new", 4, 1), share("old", 3, 2)]}
OLD = {"pod_shares": [share("old", 3, 3)]}


@pytest.mark.contract("B1035")
@each(
    ("kind", "reason", "over", "words"),
    [
        ("StatefulSet", "Complete", {}, "statefulset/db runs revision 4, shop/web:4"),
        (
            "StatefulSet",
            "Partitioned",
            HALF,
            "as its partition asks: 1 pod runs revision 4, shop/db:4, 2 pods run revision 3,",
        ),
        ("StatefulSet", "NoRollout", OLD, "and nothing rolls: 3 pods run revision 3, shop/db:3"),
        ("DaemonSet", "NoRollout", OLD, "and nothing rolls: 3 pods run revision 3, shop/db:3"),
        ("DaemonSet", "Vacuous", {}, "daemonset/db has no node to run on"),
        ("Job", "Complete", {}, "job/db has completed"),
        ("Job", "NoChange", {}, "job/db had completed before, and was not run again"),
    ],
)
def test_a_good_end_is_said_as_it_was(
    kind: str, reason: str, over: dict[str, Any], words: str
) -> None:
    """That the version runs is said only where every pod runs it."""
    assert words in first_line(of_kind(kind, Outcome.VERIFIED, reason, **over))


@pytest.mark.contract("B1643")
def test_what_wants_no_pod_is_scaled_to_0_or_has_no_node() -> None:
    """A DaemonSet has no number of replicas: it wants no pod where no node is to run it."""
    kinds = {"StatefulSet": "scaled to 0", "DaemonSet": "without a node to run on"}
    both = []
    for kind, why in kinds.items():
        one = of_kind(kind, Outcome.ROLLED_BACK, "CrashLoop", running="none")
        assert f"is back, {why}; nothing serves" in first_line(one)
        assert runs_now(result_of(one), one) == f"no pod: {why}"
        both.append(one | {"name": kind.lower()})
    assert f"; {' or '.join(kinds.values())}, so that nothing serves: " in first_line(*both)
    fates = [fate_of(result_of(one), one) for one in both]
    assert fates == [Fate.SCALED_TO_ZERO, Fate.STAYS]


@pytest.mark.contract("B1199")
def test_a_job_that_a_recovery_found_complete_is_not_called_healthy() -> None:
    """It has ended, and runs nothing that could be."""
    job = of_kind("Job", Outcome.VERIFIED, "NoChange")
    line = first_line(job, has_recovered=True)
    assert line.endswith(
        "this run finished what an attempt had left; job/db had completed before, and was not run"
        " again"
    )
    web = workload_result(Outcome.VERIFIED, Reason.NO_CHANGE)
    assert "; then deployment/web had nothing to change; " in first_line(web, has_recovered=True)


@pytest.mark.contract("B1035")
def test_of_several_each_that_differs_is_said_by_itself() -> None:
    """All run what was applied only where all do."""
    web = workload_result(Outcome.VERIFIED, Reason.COMPLETE)
    api = workload_result(Outcome.VERIFIED, Reason.COMPLETE, name="api")
    job = of_kind("Job", Outcome.VERIFIED, "Complete")
    held = of_kind("StatefulSet", Outcome.VERIFIED, "NoRollout", **OLD)
    assert "both Deployments run what was applied" in first_line(web, api)
    assert (
        first_line(web, api, job, held)
        .partition(": ")[2]
        .startswith(
            "2 Deployments run what was applied; job/db has completed;"
            " statefulset/db was applied, and nothing rolls"
        )
    )
    third = workload_result(Outcome.VERIFIED, Reason.COMPLETE, name="www")
    assert "all 3 Deployments run what was applied" in first_line(web, api, third)
    assert "both workloads run" in first_line(
        web, of_kind("DaemonSet", Outcome.VERIFIED, "Complete")
    )


@pytest.mark.contract("B1403")
def test_an_undo_says_from_which_version_to_which() -> None:
    """With their images where there is one workload, and with all that went with it."""
    left: Any = {"revision": 3, "was_revision": None, "name": "web-3", "images": ["shop/web:3"]}
    web = workload_result(Outcome.VERIFIED, Reason.COMPLETE) | {"undone": left}
    api = workload_result(Outcome.VERIFIED, Reason.COMPLETE, name="api") | {"undone": left}
    took = "the undo took deployment/web back from revision 3, shop/web:3, to revision 4"
    assert took in first_line(web)
    moved = "from revision 3 to revision 4"
    took = f"the undo took back deployment/web {moved}, deployment/api {moved}"
    assert first_line(web, api).endswith(took)
    as_it_was: Any = {**left, "name": "web-4"}
    assert "the undo" not in first_line(web | {"undone": as_it_was})


@pytest.mark.contract("B1472")
def test_an_undo_of_configuration_alone_says_what_it_restored() -> None:
    """The workload did not change; an apply that changed a ConfigMap beside it says no such."""
    web = workload_result(Outcome.VERIFIED, Reason.NO_CHANGE)
    over: dict[str, Any] = {"objects": [object_result(), object_result(action="unchanged")]}
    line = first_line(web, command="undo", **over)
    assert "the undo restored configmap/settings; deployment/web did not change; " in line
    assert line.endswith(" is healthy")
    assert "had nothing to change" in first_line(web, command="apply", **over)
    over = {"objects": [object_result(action="unchanged")]}
    assert "had nothing to change" in first_line(web, command="undo", **over)


@pytest.mark.contract("B1035", "B1427")
def test_a_failed_job_is_no_version_that_is_taken_back() -> None:
    """What it did stays; what was beside it went back, and what comes after it was not written."""
    over = {"running": "none", "lasting_effect": "what the Job did"}
    job = of_kind("Job", Outcome.FAILED, "JobFailed", **over)
    web = workload_result(Outcome.REFUSED, Reason.SIBLING_FAILED, "baseline")
    web["changed"], web["new"]["name"] = False, ""
    settings = object_result(action="restored")
    back = {"outcome": Outcome.ROLLED_BACK, "exit_code": 4, "objects": [settings]}
    line = first_line(job, web, **back)
    assert line.endswith(
        "job/db failed; deployment/web was never written; what else was written went back;"
        " what job/db did stays"
    )
    assert "not taken back" not in first_line(job, web)
    early = of_kind("Job", Outcome.VERIFIED, "Complete", **over) | {"name": "migrate"}
    assert first_line(job, early, web, **back).endswith(
        "what job/migrate did stays; what job/db did stays"
    )
    text = verdict_text(result_of(job), ONE_LINE)
    assert "ran       revision 4, shop/web:4" in text
    assert "runs  " not in text


@pytest.mark.contract("B1357")
def test_what_did_not_go_back_comes_before_the_job_that_led_back() -> None:
    """The Job needs nobody any more; what is in the way of the StatefulSet does."""
    job = of_kind("Job", Outcome.FAILED, "JobFailed", running="none", lasting_effect="what it did")
    job["name"] = "smoke"
    causes = [cause_of(Reason.SIBLING_FAILED), cause_of(Reason.BLOCKED_BY_POD, subject="pod/db-1")]
    stuck = of_kind("StatefulSet", Outcome.ROLLBACK_FAILED, "SiblingFailed", causes=causes)
    assert steps(stuck, job) == steps(stuck)
    text = verdict_text(result_of(stuck, job), ONE_LINE)
    assert "about     statefulset/db" in text


@pytest.mark.contract("B1035")
def test_what_a_job_did_is_not_counted_as_gone_back() -> None:
    """It ran before the version that failed, and stays."""
    web = workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    api = workload_result(Outcome.ROLLED_BACK, Reason.SIBLING_FAILED, "baseline", "api")
    ran = of_kind("Job", Outcome.VERIFIED, "Complete", running="none")
    line = first_line(web, api, ran)
    assert "2 of 2 Deployments went back, verified; what job/db did stays" in line
    ran["changed"] = False  # it had completed before this run, which did not run it
    assert "job/db" not in first_line(web, api, ran)


@pytest.mark.contract("B1036")
@each(
    ("kind", "outcome", "reason", "subject", "words"),
    [
        (
            "StatefulSet",
            Outcome.ROLLBACK_FAILED,
            "BlockedByPod",
            "pod/db-1",
            "kubectl delete pod/db-1 -n shop",
        ),
        ("DaemonSet", Outcome.FAILED, "BlockedByNode", "node/n2", "kubectl describe node/n2"),
        ("DaemonSet", Outcome.FAILED, "BlockedByNode", "", "kubectl get nodes"),
        ("Job", Outcome.FAILED, "JobFailed", "", "kubectl logs -l job-name=db -n shop"),
        ("StatefulSet", Outcome.VERIFIED, "Partitioned", "", "lower the partition"),
        ("DaemonSet", Outcome.VERIFIED, "NoRollout", "", "controller-revision-hash"),
        (
            "StatefulSet",
            Outcome.FAILED,
            "ProgressDeadlineExceeded",
            "",
            "rollout-gate status statefulset/db -n shop",
        ),
    ],
)
def test_a_kind_advises_on_its_own_reasons(
    kind: str, outcome: Outcome, reason: str, subject: str, words: str
) -> None:
    """With the object that stands in the way, where one does."""
    cause = cause_of(reason, subject=subject)
    found = steps(of_kind(kind, outcome, reason, causes=[cause]))
    assert any(words in step for step in found), found
    assert not [step for step in found if "{" in step], found


@pytest.mark.contract("B1036")
def test_nothing_is_to_be_deleted_where_that_frees_nothing() -> None:
    """Below a partition a pod comes back as it was: no object has to go, and none is named."""
    cause = cause_of("BlockedByPod", remedy=Remedy.LOWER_PARTITION)
    blocked = of_kind("StatefulSet", Outcome.ROLLBACK_FAILED, "CrashLoop", causes=[cause])
    assert not [step for step in steps(blocked) if "delete" in step]


@pytest.mark.contract("B1036", "B1092", "B1096")
@each(
    ("remedy", "words", "others"),
    [
        (Remedy.REPLACE_POD, "--replace-blocked-pods delete", "partition"),
        (Remedy.DELETE_POD, "kubectl delete pod/db-1", "again"),
        (Remedy.LOWER_PARTITION, "lower the partition", "again"),
    ],
)
def test_advice_fits_why_a_pod_stays(remedy: Remedy, words: str, others: str) -> None:
    """What the gate was refused, or never does, is not what is advised."""
    cause = cause_of("BlockedByPod", subject="pod/db-1", remedy=remedy)
    blocked = of_kind("StatefulSet", Outcome.ROLLBACK_FAILED, "CrashLoop", causes=[cause])
    found = steps(blocked)
    assert any(words in step for step in found), found
    assert not [step for step in found if others in step], found


@pytest.mark.contract("B1092", "B1096")
@each(
    ("remedy", "words", "others"),
    [
        (Remedy.DELETE_POD, "--on-delete wait", "partition"),
        (Remedy.LOWER_PARTITION, "the partition is lowered", "delete"),
    ],
)
def test_advice_about_what_rolls_nothing_is_of_its_strategy(
    remedy: Remedy, words: str, others: str
) -> None:
    """A partition is not lowered for OnDelete, and below one no pod is deleted."""
    held = of_kind("StatefulSet", Outcome.VERIFIED, "NoRollout", remedy=remedy)
    found = steps(held)
    assert any(words in step for step in found), found
    assert not [step for step in found if others in step], found


def test_every_word_is_about_a_reason_that_the_kind_gives() -> None:
    """A reason that is spelt otherwise would never be advised on."""
    known = {reason.value for reason in core.all_reasons()}
    for words in registry.WORKLOADS:
        own = {*words.ends, *words.steps, *words.limits, *words.failures}
        assert own <= known, words.name
    assert {one.name for one in registry.WORKLOADS} == {str(one.name) for one in core.KINDS}


def test_an_entry_of_a_kind_that_is_not_known_is_called_by_its_name() -> None:
    """A later version may judge more kinds."""
    line = first_line(of_kind("CloneSet", Outcome.VERIFIED, "Complete"))
    assert "cloneset/db runs revision 4" in line


@pytest.mark.contract("B1431")
def test_the_advice_of_an_undo_says_when_it_returns_configuration() -> None:
    """Of a version that `verify` has followed the gate may know nothing."""
    seen: Any = {
        **result_of(workload_result(Outcome.FAILED, Reason.CRASH_LOOP)),
        "command": "verify",
    }
    first = next_steps(seen)[0]
    assert "only where the gate had verified both" in first.text
    assert first.command.startswith("rollout-gate undo web ")
