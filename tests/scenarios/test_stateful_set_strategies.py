"""StatefulSets whose strategy leaves pods as they are: a partition, `OnDelete`."""

from __future__ import annotations

import json
import shlex

import pytest

from gate.report.style.style import Style
from gate.report.words.headline import headline
from tests.bed.expectations import assert_ended, assert_verified, changes, warned
from tests.bed.pods import image_of
from tests.bed.scene import Scene, tidying, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.rollouts import is_observed
from tests.cluster.workloads import stateful_set
from tests.scenarios.pod_replacement import (
    CRASH,
    DEADLINE,
    NEVER,
    ON_DELETE,
    SOON,
    WRITTEN,
    all_run,
    images,
)
from tests.scenarios.versions import history_rows, one_line, report, screen


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
    newest, *_ = history_rows(scene, "sts/db")
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
    scene.serve(stateful_set(**ON_DELETE))
    checks = scene.folder / "gate.yaml"
    asked = json.dumps(shlex.split(test))
    checks.write_text(f"checks: [{{name: smoke, command: {asked}, initial-delay: 10s}}]\n")
    new = stateful_set(image="shop/db:2", **ON_DELETE)
    flags = ("--config", str(checks), "--bake", "30s", "--on-failure", on_failure)
    result = scene.apply(new, flags=flags)
    text = screen(result)
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


@pytest.mark.contract("B1052", "B1924")
def test_a_way_back_that_no_pod_takes_is_not_called_verified(scene: Scene) -> None:
    """Where a pod took the failed version and `OnDelete` leaves it there, a person has to act."""
    scene.serve(web(1), stateful_set(**ON_DELETE))
    bad = (web(2, behaviour=NEVER), stateful_set(image="shop/db:2", **ON_DELETE))
    with scene.applying(*bad, flags=SOON) as running:
        running.wait_for_line("applied +statefulset/db")
        scene.objects.wait_for("statefulsets", "db", is_observed)
        scene.objects.delete("pods", "db-2")
        result = running.wait()
    ended = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert (result.exit_code, ended) == (5, {"web": "rolled-back", "db": "rollback-failed"})
    assert "2 of 3 pods run the live template, and the controller replaces none" in result.stderr
    assert images(scene) == {**all_run(1), "db-2": "shop/db:2"}
    said = one_line(report(scene, result))
    assert f"kubectl delete pod/db-2 -n {scene.objects.namespace}" in said
    assert "stays until somebody deletes it: the strategy is OnDelete" in said


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


@pytest.mark.contract("B929")
def test_a_partition_beyond_the_replicas_is_named_before_the_write(scene: Scene) -> None:
    """The server accepts it, and no pod is ever updated."""
    scene.serve(stateful_set())
    result = scene.apply(stateful_set(image="shop/db:2", partition=5), flags=["--dry-run"])
    assert warned(result, "its partition 5 is larger than its 3 replicas: no pod is updated")


@pytest.mark.contract("B923")
def test_a_strategy_without_updates_can_be_waited_for(scene: Scene) -> None:
    """With `--on-delete wait` it is complete once somebody has deleted each pod."""
    scene.serve(stateful_set(**ON_DELETE))
    flags = ("--on-delete", "wait")
    with scene.applying(stateful_set(image="shop/db:2", **ON_DELETE), flags=flags) as running:
        running.wait_for_line("applied +statefulset/db")
        scene.objects.wait_for("statefulsets", "db", is_observed)
        for name in all_run(1):
            scene.objects.delete("pods", name)
        assert_verified(running.wait())
    assert images(scene) == all_run(2)


@pytest.mark.contract("B1238")
def test_an_undo_returns_to_what_all_pods_run(scene: Scene) -> None:
    """Nobody ran it when it was applied; the undo before rolled nothing, and is taken back."""
    for image in ("shop/db:1", "shop/db:2"):
        assert scene.apply(stateful_set(image=image, **ON_DELETE)).exit_code == 0
    for name in all_run(1):
        scene.objects.delete("pods", name)
        scene.objects.wait_for("pods", name, lambda pod: image_of(pod) == "shop/db:2")
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
    scene.serve(stateful_set(**ON_DELETE))
    new = stateful_set(image="shop/db:2", **ON_DELETE)
    result = scene.apply(new, flags=("--on-delete", "wait", *SOON))
    assert_ended(result, 4, "rolled-back", DEADLINE)
    shown = history_rows(scene, "sts/db")
    (new_one,) = (one for one in shown if one["images"] == ["shop/db:2"])
    assert (new_one["verdict"], new_one["reason"]) == ("not verified", "NoRollout")
