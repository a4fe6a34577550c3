"""Rollouts of StatefulSets: good, partitioned, left to others, failed, blocked and freed."""

from __future__ import annotations

import json
import shlex

import pytest

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from gate.report.words.headline import headline
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_usage,
    assert_verified,
    changes,
    warned,
)
from tests.bed.scene import OURS, Scene, tidying, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.rollouts import is_observed
from tests.cluster.workloads import disruption_budget, stateful_set

waits = pytest.mark.sandbox_only("it waits until clocks run out")

WRITTEN = "patch statefulsets/db"
EVICTED = "create pods/db-2/eviction"
CRASH = "crash=0.1"
NEVER = "never-ready"
SELECTOR = {"matchLabels": {"app": "db"}}
DEADLINE = "ProgressDeadlineExceeded"
CLAIM: JSON = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
LOSES_CLAIMS: JSON = {
    "volumeClaimTemplates": [CLAIM],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
}
SOON = ("--progress-deadline", "10s")


def images(scene: Scene) -> dict[str, str]:
    """Return the image of each pod of `db`, by its name."""
    return {
        pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"]
        for pod in scene.objects.list_all("pods", "app=db")
    }


def all_run(version: int, replicas: int = 3) -> dict[str, str]:
    """Return what `images` is where each pod runs a version."""
    return {f"db-{number}": f"shop/db:{version}" for number in range(replicas)}


def evictions(audit: Trail) -> list[str]:
    """Return the pods that somebody asked to be evicted, in order."""
    return [one.name for one in audit.requests() if one.subresource == "eviction"]


def claims(scene: Scene) -> set[tuple[str, str]]:
    """Return the name and the uid of each claim."""
    found = scene.objects.list_all("persistentvolumeclaims")
    return {(one["metadata"]["name"], one["metadata"]["uid"]) for one in found}


def assert_blocked(result: Result, *words: str) -> None:
    """Assert that a pod is a cause, which names its revision and has these words."""
    causes = result.document["workloads"][0]["causes"]
    (said,) = (each["message"] for each in causes if each["reason"] == "BlockedByPod")
    missing = [word for word in ("of revision db-", *words) if word not in said]
    assert not missing, f"{missing} not in {said}"


@pytest.mark.contract("B921")
@pytest.mark.parametrize("order", ["OrderedReady", "Parallel"])
def test_a_changed_image_is_verified_pod_by_pod(scene: Scene, audit: Trail, order: str) -> None:
    """All pods run the new version, the highest first, and the way back was named before."""
    scene.serve(stateful_set(podManagementPolicy=order))
    new = stateful_set(image="shop/db:2", podManagementPolicy=order)
    ended = assert_verified(scene.apply(new))
    assert ended["baseline"]["images"] == ["shop/db:1"]
    assert images(scene) == all_run(2)
    assert changes(audit) == [WRITTEN]


@pytest.mark.contract("B921", "B50")
def test_nothing_to_roll_out_of_a_stateful_set_is_no_change(scene: Scene) -> None:
    """The same manifest again makes no revision."""
    scene.serve(stateful_set())
    assert_verified(scene.apply(stateful_set()), "NoChange")


@pytest.mark.contract("B922")
def test_a_partition_ends_with_the_pods_above_it(scene: Scene, audit: Trail) -> None:
    """One of three pods runs the new version: that is what was asked for."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", partition=2))
    assert_verified(result, "Partitioned", running="mixed")
    assert images(scene) == {**all_run(1), "db-2": "shop/db:2"}
    assert changes(audit) == [WRITTEN]


@pytest.mark.contract("B1265")
@pytest.mark.parametrize("taken_back_by", ["apply", "undo"])
def test_a_canary_that_is_taken_back_is_waited_for(scene: Scene, taken_back_by: str) -> None:
    """The pods below the partition run what comes back already: the status counts them as new."""
    old, new = (stateful_set(image=f"shop/db:{number}", partition=2) for number in (1, 2))
    assert_verified(scene.apply(old))
    assert_verified(scene.apply(new), "Partitioned", running="mixed")
    undo = ("undo", "sts/db", "--output", "json")
    result = scene.apply(old) if taken_back_by == "apply" else scene.gate(*undo)
    assert_verified(result)
    assert "2 of 3 new pods available" in result.stderr
    assert images(scene) == all_run(1)


@pytest.mark.contract("B923", "B1050", "B1096")
@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        pytest.param({"partition": 3}, "lower-partition", id="partition"),
        pytest.param({"updateStrategy": {"type": "OnDelete"}}, "delete-pod", id="delete"),
    ],
)
def test_a_strategy_that_replaces_no_pod_is_no_rollout(
    scene: Scene, audit: Trail, spec: JSON, remedy: str
) -> None:
    """It is applied, and the old version runs on: exit 0 with a warning, and nothing verified.

    Another apply of it does not call it failed, and it is no version that `undo` returns to.
    """
    scene.serve(stateful_set(**spec))
    for running in ("baseline", "other"):
        result = scene.apply(stateful_set(image="shop/db:2", **spec))
        ended = assert_ended(result, 0, "applied", "NoRollout", running=running)
        assert ended["remedy"] == remedy
        assert warned(result, "no pod runs what was applied")
    assert images(scene) == all_run(1)
    assert changes(audit) == [WRITTEN, WRITTEN]
    assert "APPLIED (exit 0)" in scene.gate("verify", "sts/db").stdout
    newest, *_ = json.loads(scene.gate("history", "sts/db", "--output", "json").stdout)
    assert (newest["verdict"], newest["reason"]) == ("not verified", "NoRollout")
    third = scene.apply(stateful_set(image="shop/db:3", partition=0))
    assert "no pod runs its live template, so" in third.stderr
    assert_verified(third)
    undone = scene.gate("undo", "sts/db", "--output", "json")
    assert "revision 2 (shop/db:2): no pod ran it when it was applied at" in undone.stderr
    assert images(scene) == all_run(1)


@pytest.mark.contract("B1051")
def test_a_verified_workload_beside_one_that_does_not_roll_is_not_the_whole(scene: Scene) -> None:
    """The run is `applied`, says which is what, and remembers the other one as verified."""
    scene.serve(stateful_set(partition=3))
    result = scene.apply(web(1), stateful_set(image="shop/db:2", partition=3), tidying())
    assert_ended(result, 0, "applied", "NoRollout")
    ended = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert ended == {"web": "verified", "db": "applied"}
    (line,) = headline(result.document, Style(width=10_000))
    assert "deployment/web runs revision 1" in line
    assert "statefulset/db was applied, and nothing rolls" in line
    assert "1 object applied, not judged: cronjob/tidy" in line
    assert "verified" in scene.gate("history", "web").stdout


@pytest.mark.contract("B1058")
@pytest.mark.parametrize(
    ("test", "on_failure", "said", "row"),
    [
        (
            "false",
            "rollback",
            "failed the checks with no new pod seen; revision 3 (was revision 1), shop/db:1 serves",
            "undone    revision 2, shop/db:2",
        ),
        (
            "false",
            "keep",
            "statefulset/db failed the checks with no new pod seen; the old ones still serve",
            "applied   revision 2, shop/db:2",
        ),
        (
            "sh -c 'exit 75'",
            "keep",
            "db was applied, and no pod runs the new version; its checks lacked evidence",
            "applied   revision 2, shop/db:2",
        ),
    ],
    ids=["failed", "failed-and-kept", "in-doubt"],
)
def test_a_check_of_a_version_that_no_pod_ran_is_not_held_against_it(
    scene: Scene, test: str, on_failure: str, said: str, row: str
) -> None:
    """It measured the old pods: neither did the new version fail, nor does another serve again."""
    on_delete: JSON = {"updateStrategy": {"type": "OnDelete"}}
    scene.serve(stateful_set(**on_delete))
    checks = scene.folder / "gate.yaml"
    asked = json.dumps(shlex.split(test))
    checks.write_text(f"checks: [{{name: smoke, command: {asked}, initial-delay: 10s}}]\n")
    new = stateful_set(image="shop/db:2", **on_delete)
    flags = ("--config", str(checks), "--bake", "30s", "--on-failure", on_failure)
    result = scene.apply(new, flags=flags)
    text = verdict_text(result.document, Style(width=200))
    assert said in text
    assert row in text


@pytest.mark.contract("B1062")
def test_a_way_back_onto_a_partition_says_which_pods_run_what(scene: Scene) -> None:
    """Those below it run an older version still, so the baseline is not all that serves."""
    scene.serve(stateful_set())
    assert_verified(
        scene.apply(stateful_set(image="shop/db:2", partition=2)), "Partitioned", running="mixed"
    )
    bad = stateful_set(image="shop/db:3", partition=2, behaviour=CRASH)
    result = scene.apply(bad)
    assert_ended(result, 4, "rolled-back", "CrashLoop", running="mixed")
    (line,) = headline(result.document, Style(width=10_000))
    shares = "1 pod runs revision 4, shop/db:2, 2 pods run revision 1, shop/db:1"
    assert f"statefulset/db failed; it went back, verified: {shares}" in line


@pytest.mark.contract("B1052")
def test_a_way_back_that_no_pod_takes_is_not_called_verified(scene: Scene) -> None:
    """Where a pod took the failed version and `OnDelete` leaves it there, a person has to act."""
    on_delete: JSON = {"updateStrategy": {"type": "OnDelete"}}
    scene.serve(web(1), stateful_set(**on_delete))
    bad = (web(2, behaviour=NEVER), stateful_set(image="shop/db:2", **on_delete))
    with scene.applying(*bad, flags=SOON) as running:
        running.wait_for_line("applied +statefulset/db")
        scene.objects.wait_for("statefulsets", "db", is_observed)
        scene.objects.delete("pods", "db-2")
        result = running.wait()
    ended = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert (result.exit_code, ended) == (5, {"web": "rolled-back", "db": "rollback-failed"})
    assert "2 of 3 pods run the live template, and the controller replaces none" in result.stderr
    assert images(scene) == {**all_run(1), "db-2": "shop/db:2"}


@pytest.mark.contract("B921", "B120")
def test_a_crashing_version_of_a_stateful_set_goes_back(scene: Scene, audit: Trail) -> None:
    """The one new pod is all that exist of the version: it fails fast, and is replaced."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert images(scene) == all_run(1)
    assert changes(audit) == [WRITTEN, WRITTEN, EVICTED]


@pytest.mark.contract("B924", "B920")
def test_a_version_that_never_gets_ready_is_freed_on_the_way_back(
    scene: Scene, audit: Trail
) -> None:
    """The controller waits for its pod for ever (kubernetes#67250): it is evicted."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=SOON)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert images(scene) == all_run(1)
    assert evictions(audit) == ["db-2"]


@pytest.mark.contract("B924")
def test_a_fix_goes_through_over_a_broken_version(scene: Scene, audit: Trail) -> None:
    """The broken pod of the version before is in the way of the fix as well."""
    scene.serve(stateful_set())
    scene.apply_as(OURS, stateful_set(image="shop/db:2", behaviour=NEVER))
    scene.objects.wait_for("pods", "db-2", lambda pod: _image(pod) == "shop/db:2")
    result = scene.apply(stateful_set(image="shop/db:3"), flags=SOON)
    assert_verified(result)
    assert images(scene) == all_run(3)
    assert evictions(audit) == ["db-2"]


@pytest.mark.contract("B922")
def test_pods_below_a_partition_are_named_by_their_own_revisions(scene: Scene) -> None:
    """A partition that went down and up again leaves pods of several."""
    scene.serve(stateful_set())
    for version, partition in ((2, 2), (3, 1)):
        scene.apply(stateful_set(image=f"shop/db:{version}", partition=partition))
    result = scene.apply(stateful_set(image="shop/db:4", partition=2))
    message = result.document["workloads"][0]["message"]
    assert message.startswith("1 of 1 new pods available, 1 pod stays at db-"), message
    assert message.count("1 pod stays at db-") == 2


@waits
@pytest.mark.contract("B109", "B926")
def test_a_pod_that_still_terminates_at_the_timeout_is_named(scene: Scene) -> None:
    """The controller has acted: it is not called idle, and no pod is called new before it is."""
    pod = {"terminationGracePeriodSeconds": 90}
    scene.serve(stateful_set(behaviour="slow-termination=80s", pod=pod, replicas=2))
    limits = ("--progress-deadline", "20s", "--timeout", "40s", "--rollback-timeout", "35s")
    body = stateful_set(image="shop/db:2", replicas=2)
    result = scene.apply(body, flags=limits)
    assert result.exit_code == 5, str(result)
    assert "1 of 2 old pods available, pod/db-1 is terminating" in result.stdout
    for untrue in ("ControllerNotObserving", "kube-controller-manager", "new pod remains"):
        assert untrue not in result.stdout + result.stderr


@waits
@pytest.mark.contract("B925")
def test_a_disruption_budget_that_forbids_it_is_reported_and_not_forced(
    scene: Scene, audit: Trail
) -> None:
    """The pod stays, and the report names the pod, its revision, and what the server said."""
    scene.serve(stateful_set(), disruption_budget(minAvailable=3))
    broken = stateful_set(image="shop/db:2", behaviour=NEVER)
    result = scene.apply(broken, flags=(*SOON, "--rollback-timeout", "20s"))
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="NotReady")
    assert_blocked(result, "db-2")
    assert warned(result, "db-2 is in the way, and was not replaced: Cannot evict pod")
    assert set(evictions(audit)) == {"db-2"}
    assert images(scene)["db-2"] == "shop/db:2"


@waits
@pytest.mark.contract("B925")
def test_pods_are_left_where_they_may_never_be_replaced(scene: Scene, audit: Trail) -> None:
    """`--replace-blocked-pods never` names the pod, and leaves it to a person."""
    scene.serve(stateful_set())
    flags = (*SOON, "--replace-blocked-pods", "never", "--rollback-timeout", "40s")
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=flags)
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", cause="NotReady")
    assert_blocked(result, "db-2")
    assert evictions(audit) == []


@pytest.mark.contract("B924")
def test_pods_are_deleted_where_that_is_asked_for(scene: Scene, audit: Trail) -> None:
    """`--replace-blocked-pods delete` goes around the budgets, and keeps the time to terminate."""
    scene.serve(stateful_set(), disruption_budget(minAvailable=3))
    flags = (*SOON, "--replace-blocked-pods", "delete")
    result = scene.apply(stateful_set(image="shop/db:2", behaviour=NEVER), flags=flags)
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert images(scene) == all_run(1)
    assert evictions(audit) == []


def _image(pod: JSON) -> str:
    image: str = pod["spec"]["containers"][0]["image"]
    return image


@pytest.mark.contract("B928", "B1100", "B1133", "B1134")
def test_the_other_commands_take_a_stateful_set_by_its_kind(scene: Scene) -> None:
    """`verify`, `undo`, `restart`, `status` and `history` of `sts/db`; it cannot be paused."""
    scene.apply(stateful_set())
    assert_verified(scene.apply(stateful_set(image="shop/db:2")))
    ask = scene.gate
    judged = ask("verify", "sts/db", "--output", "json")
    assert judged.exit_code == 0
    assert [one["phase"] for one in judged.document["workloads"]] == [None]
    status = ask("status", "statefulset/db", "--output", "json")
    assert (status.exit_code, status.document["kind"]) == (0, "StatefulSet")
    versions = {(one["version"], one["replicaset"]) for one in status.document["pods"]}
    newest, *_ = json.loads(ask("history", "sts/db", "--output", "json").stdout)
    assert versions == {(newest["name"], newest["replicaset"])} == {(newest["name"], "")}
    assert newest["name"].startswith("db-")
    assert "shop/db:1" in ask("history", "sts/db").stdout
    assert_verified(ask("undo", "sts/db", "--output", "json"))
    assert images(scene) == all_run(1)
    assert_verified(ask("restart", "sts/db", "--output", "json"))
    assert_usage(ask("pause", "sts/db"), "statefulset/db cannot be paused: no StatefulSet can be")
    assert_usage(ask("resume", "sts/db"), "statefulset/db cannot be resumed: no StatefulSet can be")
    assert ask("verify", "db", "--output", "json").exit_code == 3
    assert "statefulset/db" in ask("locks").stdout
    released = ask("locks", "--release", "statefulset/db", "--yes")
    assert "nobody holds statefulset/db" in released.stderr


@pytest.mark.contract("B929")
def test_a_partition_beyond_the_replicas_is_named_before_the_write(scene: Scene) -> None:
    """The server accepts it, and no pod is ever updated."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", partition=5), flags=["--dry-run"])
    assert warned(result, "its partition 5 is larger than its 3 replicas: no pod is updated")


@pytest.mark.contract("B1098")
def test_a_first_version_is_not_scaled_to_zero_where_that_deletes_claims(scene: Scene) -> None:
    """Its claims may hold the data of an earlier StatefulSet of that name: nothing is written."""
    path = scene.manifest(stateful_set(**LOSES_CLAIMS))
    with scene.gate.start("apply", "-f", path, "--on-first-failure", "scale-to-zero") as running:
        assert_usage(running.wait(), "statefulset/db cannot be scaled to zero")
    assert scene.objects.list_all("statefulsets") == []


@pytest.mark.contract("B1099")
def test_data_that_an_apply_deletes_itself_is_named_before(scene: Scene) -> None:
    """To scale down deletes the claims above, and no way back brings their data back."""
    scene.serve(stateful_set(replicas=3, **LOSES_CLAIMS))
    smaller = stateful_set(image="shop/db:2", replicas=2, **LOSES_CLAIMS)
    said = "scaled from 3 to 2, which deletes the claims of the pods that go"
    assert warned(scene.apply(smaller, flags=["--dry-run"]), said)
    same = stateful_set(image="shop/db:2", replicas=3, **LOSES_CLAIMS)
    assert not warned(scene.apply(same, flags=["--dry-run"]), said)


@pytest.mark.contract("B1266")
@pytest.mark.parametrize("behaviour", [CRASH, ""], ids=["failed", "good"])
def test_claims_that_an_apply_deleted_come_first_among_the_warnings(
    scene: Scene, behaviour: str
) -> None:
    """Those of the pods that went are named, whatever came of the version, and no other."""
    scene.serve(stateful_set(replicas=4, **LOSES_CLAIMS))
    before = claims(scene)
    smaller = stateful_set(image="shop/db:2", replicas=2, behaviour=behaviour, **LOSES_CLAIMS)
    result = scene.apply(smaller)
    assert {"data-db-2", "data-db-3"} == dict(before - claims(scene)).keys()
    assert result.exit_code == (4 if behaviour else 0)
    lost = "scaling it down deleted the claims data-db-2, data-db-3: their data is gone"
    assert result.document["warnings"][0] == f"statefulset/db: {lost}"
    assert lost in verdict_text(result.document, Style(width=200))
    assert not warned(result, ": the data in its volumes (data) stays as it is")
    left = "what is left of the data in its volumes (data)"
    assert result.document["workloads"][0]["lasting_effect"] == left
    assert warned(result, f"{left} stays as it is") is bool(behaviour)


@pytest.mark.contract("B1266")
@pytest.mark.sandbox_only("a pod that takes 40 s to go, whose claim a garbage collector may take")
def test_claims_of_pods_that_an_apply_did_not_come_to_are_not_called_deleted(scene: Scene) -> None:
    """The way back began before the controller had scaled it down any further."""
    slow = {"terminationGracePeriodSeconds": 60}
    big = stateful_set(replicas=4, behaviour="slow-termination=40s", pod=slow, **LOSES_CLAIMS)
    scene.serve(web(1), big)
    before = claims(scene)
    smaller = stateful_set(image="shop/db:2", replicas=2, pod=slow, **LOSES_CLAIMS)
    result = scene.apply(web(2, behaviour=CRASH), smaller)
    assert result.exit_code == 4, str(result)
    assert warned(result, "deleted the claim data-db-3: its data is gone")
    assert [name for name, _ in before - claims(scene)] == ["data-db-3"]


@pytest.mark.contract("B929", "B1098")
@pytest.mark.parametrize("size", [2, 3], ids=["as before", "more than before"])
def test_what_somebody_scales_up_meanwhile_keeps_its_claims(scene: Scene, size: int) -> None:
    """The way back keeps the number that it finds, whatever the failed apply asked for."""
    scene.serve(stateful_set(replicas=2, **LOSES_CLAIMS))
    broken = stateful_set(image="shop/db:2", replicas=size, behaviour=NEVER, **LOSES_CLAIMS)
    with scene.applying(broken, flags=("--progress-deadline", "10s")) as running:
        scene.objects.wait_for("statefulsets", "db", lambda one: one["metadata"]["generation"] == 2)
        scene.objects.patch("statefulsets", "db", {"spec": {"replicas": 4}}, subresource="scale")
        assert_rolled_back(running.wait(), "ProgressDeadlineExceeded", cause="NotReady")
    names = {one["metadata"]["name"] for one in scene.objects.list_all("persistentvolumeclaims")}
    assert names == {f"data-db-{number}" for number in range(4)}


@pytest.mark.contract("B929", "B1037")
def test_a_way_back_deletes_no_claims(scene: Scene) -> None:
    """With `whenScaled: Delete` the template goes back, and the pods that came stay."""
    scene.serve(stateful_set(replicas=2, **LOSES_CLAIMS))
    broken = stateful_set(image="shop/db:2", replicas=3, behaviour=CRASH, **LOSES_CLAIMS)
    result = scene.apply(broken)
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "a failure does not scale it down again")
    assert warned(result, "the data in its volumes (data) stays as it is: no rollback takes that")
    assert result.document["workloads"][0]["lasting_effect"] == "the data in its volumes (data)"
    assert images(scene) == all_run(1)
    names = {one["metadata"]["name"] for one in scene.objects.list_all("persistentvolumeclaims")}
    assert names == {f"data-db-{number}" for number in range(3)}


@pytest.mark.contract("B924")
def test_a_gate_that_dies_before_the_removal_leaves_it_to_recover(scene: Scene) -> None:
    """The way back was written, the pod still blocks: whoever recovers removes it."""
    scene.serve(stateful_set())
    broken = stateful_set(image="shop/db:2", behaviour=NEVER)
    with scene.applying(broken, flags=("--progress-deadline", "10s")) as running:
        scene.objects.wait_for("statefulsets", "db", lambda one: one["metadata"]["generation"] == 3)
        running.kill()
    result = scene.gate("recover", "sts/db", "--output", "json")
    assert_rolled_back(result, "ProgressDeadlineExceeded", cause="NotReady")
    assert images(scene) == all_run(1)


@waits
@pytest.mark.contract("B276", "B927")
def test_a_recorded_rollout_is_judged_as_it_was(scene: Scene) -> None:
    """Also where the gate's own clock decided, and where it removed a pod on the way."""
    scene.serve(stateful_set())
    scene.apply_as(OURS, stateful_set(image="shop/db:2", behaviour=NEVER))
    scene.objects.wait_for("pods", "db-2", lambda pod: _image(pod) == "shop/db:2")
    for number, version, verdict in (
        (1, stateful_set(image="shop/db:3"), ("complete", "Complete")),
        (2, stateful_set(image="shop/db:4", behaviour=NEVER), ("failed", DEADLINE)),
    ):
        recording = f"recorded-{number}.jsonl"
        scene.apply(version, flags=(*SOON, "--record", recording))
        document = scene.gate("replay", recording, "--output", "json").document
        assert (document["verdict"], document["reason"]) == verdict


@pytest.mark.contract("B923")
def test_a_strategy_without_updates_can_be_waited_for(scene: Scene) -> None:
    """With `--on-delete wait` it is complete once somebody has deleted each pod."""
    on_delete: JSON = {"updateStrategy": {"type": "OnDelete"}}
    scene.serve(stateful_set(**on_delete))
    flags = ("--on-delete", "wait")
    with scene.applying(stateful_set(image="shop/db:2", **on_delete), flags=flags) as running:
        running.wait_for_line("applied +statefulset/db")
        scene.objects.wait_for("statefulsets", "db", is_observed)
        for name in all_run(1):
            scene.objects.delete("pods", name)
        assert_verified(running.wait())
    assert images(scene) == all_run(2)


@pytest.mark.contract("B1238")
def test_an_undo_returns_to_what_all_pods_run(scene: Scene) -> None:
    """Nobody ran it when it was applied; the undo before rolled nothing, and is taken back."""
    on_delete: JSON = {"updateStrategy": {"type": "OnDelete"}}
    for image in ("shop/db:1", "shop/db:2"):
        assert scene.apply(stateful_set(image=image, **on_delete)).exit_code == 0
    for name in all_run(1):
        scene.objects.delete("pods", name)
        scene.objects.wait_for("pods", name, lambda pod: _image(pod) == "shop/db:2")
    scene.wait_done("statefulsets", "db")
    undo = ("undo", "sts/db", "--output", "json")
    assert_ended(scene.gate(*undo), 0, "applied", "NoRollout")
    assert "(shop/db:2): an undo left it at" in scene.gate(*undo).stderr
    assert_verified(scene.gate(*undo, "--to-revision", "2"))
    assert images(scene) == all_run(2)


@pytest.mark.contract("B1234")
def test_a_version_that_nobody_brought_to_its_pods_is_not_remembered_as_failed(
    scene: Scene,
) -> None:
    """The wait of `--on-delete wait` is over, and nothing speaks against what was applied."""
    on_delete: JSON = {"updateStrategy": {"type": "OnDelete"}}
    scene.serve(stateful_set(**on_delete))
    new = stateful_set(image="shop/db:2", **on_delete)
    result = scene.apply(new, flags=("--on-delete", "wait", *SOON))
    assert_ended(result, 4, "rolled-back", DEADLINE)
    shown = json.loads(scene.gate("history", "sts/db", "--output", "json").stdout)
    (new_one,) = (one for one in shown if one["images"] == ["shop/db:2"])
    assert (new_one["verdict"], new_one["reason"]) == ("not verified", "NoRollout")


@pytest.mark.contract("B926")
def test_a_pod_that_takes_its_time_to_terminate_is_progress(scene: Scene) -> None:
    """A database may take longer to stop than nothing may move."""
    pod = {"terminationGracePeriodSeconds": 20}
    scene.serve(stateful_set(behaviour="slow-termination=16s", pod=pod, replicas=2))
    result = scene.apply(stateful_set(image="shop/db:2", replicas=2), flags=SOON)
    assert_verified(result)


@waits
@pytest.mark.contract("B925")
def test_a_pod_below_the_partition_is_reported_and_not_evicted(scene: Scene, audit: Trail) -> None:
    """It would come back at its old, bad version for ever."""
    scene.serve(stateful_set())
    scene.apply_as(OURS, stateful_set(image="shop/db:2", behaviour=NEVER))
    scene.objects.wait_for("pods", "db-2", lambda pod: _image(pod) == "shop/db:2")
    result = scene.apply(stateful_set(image="shop/db:3", partition=3), flags=SOON)
    assert_ended(result, 6, "failed", DEADLINE, cause="BlockedByPod")
    assert_blocked(result, "db-2", "below the partition 3")
    assert evictions(audit) == []


@pytest.mark.contract("B925")
def test_what_the_server_cannot_evict_is_reported_and_not_repeated(
    scene: Scene, audit: Trail
) -> None:
    """Two budgets for one pod are an error of the server, whenever it is asked."""
    budgets = [disruption_budget(name, selector=SELECTOR, maxUnavailable=1) for name in ("a", "b")]
    scene.serve(stateful_set(), *budgets)
    broken = stateful_set(image="shop/db:2", behaviour=NEVER)
    result = scene.apply(broken, flags=(*SOON, "--rollback-timeout", "20s"))
    assert_ended(result, 5, "rollback-failed", DEADLINE, cause="NotReady")
    assert warned(result, "more than one PodDisruptionBudget")
    assert evictions(audit) == ["db-2"]


@pytest.mark.contract("B929")
def test_a_field_that_never_changes_is_refused_by_its_name(scene: Scene, audit: Trail) -> None:
    """The server lists what may change; the field that may not is the gate's to find."""
    scene.serve(stateful_set(volumeClaimTemplates=[CLAIM]))
    body = stateful_set(image="shop/db:2", serviceName="other", volumeClaimTemplates=[CLAIM])
    result = scene.gate("apply", "-f", str(scene.manifest(body)))
    assert_refused(result, "Rejected")
    assert "spec.serviceName of statefulset/db cannot change once it exists" in result.stderr
    assert images(scene) == all_run(1)
    assert changes(audit) == []
