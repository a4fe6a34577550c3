"""What a lock remembers: which versions count as verified, which failed, which an undo left."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import Scene, secret, settings, web
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    assert_a_failure_returns_to,
    history_rows,
    mode,
    one_line,
    report,
    undo,
    verify_versions,
)

pytestmark = pytest.mark.sandbox_only(
    "what a lock remembers is the gate's own, whatever cluster keeps it"
)

TOO_SHORT = ("--timeout", "0.5", *KEEP)
SLOW = "ready=1"


def undo_returns(scene: Scene) -> list[int]:
    """Return the revisions that `history` marks as those that undo would return to.

    A failure of the next apply returns to the same ones.
    """
    rows = history_rows(scene)
    assert all(row["returned_to"] == row["undo_returns"] for row in rows)
    return [row["revision"] for row in rows if row["undo_returns"]]


def fail_what_was_verified(scene: Scene) -> None:
    """Verify v1 and v2, then give v1 too little time, and keep it."""
    assert_verified(scene.apply(settings("one"), web(behaviour=SLOW)))
    assert_verified(scene.apply(settings("two"), web(2)))
    kept = scene.apply(settings("one"), web(behaviour=SLOW), flags=TOO_SHORT)
    assert_ended(kept, 6, "failed", "Timeout")
    scene.objects.wait_complete("web")


@pytest.mark.contract("B762", "B700")
def test_a_failure_after_its_verification_makes_a_version_a_failed_one(scene: Scene) -> None:
    """A later failure returns to the set that did not fail since."""
    fail_what_was_verified(scene)
    assert undo_returns(scene) == [2]
    result = assert_a_failure_returns_to(scene, 2, "two")
    assert "a failure returns to the last verified revision 2" in result.stderr


@pytest.mark.contract("B762", "B703")
def test_undo_leaves_a_version_that_failed_since(scene: Scene) -> None:
    """To the last that did not; and from there not forward to the one that did."""
    fail_what_was_verified(scene)
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:2")
    again = undo(scene)
    assert_refused(again, "NoBaseline", "shop/web:1", "Timeout")
    named = undo(scene, "--to-revision", "3")
    assert_verified(named)
    assert mode(scene) == "one"


@pytest.mark.contract("B763", "B34")
@pytest.mark.parametrize("seen", ["complete", "crash", "check"])
def test_what_was_observed_complete_is_verified_and_nothing_else(scene: Scene, seen: str) -> None:
    """A later failure returns to it; not where its pods failed, nor where a check did not pass."""
    assert_verified(scene.apply(settings("one"), web()))
    flags = ["--observe", *(["--smoke-test", "false"] if seen == "check" else ())]
    second = web(2, behaviour=CRASH if seen == "crash" else "ready=0")
    result = scene.apply(settings("two"), second, flags=flags)
    assert (result.exit_code, result.document["outcome"]) == (0, "observed"), str(result)
    scene.apply(settings("nine"), web(9, behaviour=CRASH), flags=KEEP)
    result = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:2" if seen == "complete" else "shop/web:1")
    assert mode(scene) == ("two" if seen == "complete" else "one")


@pytest.mark.contract("B763", "B720")
def test_a_version_without_pods_is_not_verified(scene: Scene) -> None:
    """Nobody saw it work: `undo` returns past it."""
    assert_verified(scene.apply(settings("one"), web()))
    empty = scene.apply(settings("two"), web(2, replicas=0))
    assert_verified(empty, "Vacuous", running="none")
    assert warned(empty, "0 replicas")
    scene.apply(settings("nine"), web(9, behaviour=CRASH), flags=KEEP)
    result = undo(scene)
    assert result.exit_code == 0, str(result)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B766", "B763")
def test_what_an_apply_without_pods_wrote_is_the_gates(scene: Scene) -> None:
    """No verdict of it is remembered, but that it was written: `undo` goes back over it."""
    assert_verified(scene.apply(settings("one"), web()))
    empty = scene.apply(settings("two"), web(2, replicas=0))
    assert_verified(empty, "Vacuous", running="none")
    shown = history_rows(scene)
    assert [(row["verdict"], row["undo_lacks"]) for row in shown] == [
        ("not verified", []),
        ("verified", []),
    ]
    result = undo(scene)
    assert_verified(result, "Vacuous", running="none")
    told = one_line(report(scene, result))
    assert "deployment/web has 0 replicas: nothing runs" in told
    assert "as many replicas as it needs: kubectl scale deployment/web --replicas=1" in told
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    assert mode(scene) == "one"


@pytest.mark.contract("B766")
def test_what_a_superseded_apply_wrote_is_the_gates(scene: Scene) -> None:
    """Somebody took over the pods alone: they are blamed for those, not for the rest."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), web(2, behaviour="ready=9")) as running:
        running.wait_for_line("following replicaset")
        scene.change(web(7))
        assert_ended(running.wait(), 8, "superseded", "Superseded", running="other")
    refused = undo(scene)
    assert_refused(refused, "Conflict", "image")
    taken = undo(scene, "--force-conflicts")
    assert_verified(taken)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B703", "B700")
def test_a_deployment_that_did_not_change_goes_with_the_set(scene: Scene) -> None:
    """It was verified with both configurations, and with the older one in the set itself."""
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    assert_verified(scene.apply(settings("two"), web(2), web(name="api")))
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"


@pytest.mark.contract("B705")
def test_a_second_undo_does_not_go_forward(scene: Scene) -> None:
    """It goes to the next older version, never to the one that the first left."""
    verify_versions(scene, 1, 2, 3)
    for version in (2, 1):
        assert_verified(undo(scene))
        assert_runs(scene.objects, f"shop/web:{version}")
        assert mode(scene) == str(version)
    left = undo(scene)
    assert_refused(left, "NoBaseline", "revision 3 (shop/web:3): an undo left it at")


@pytest.mark.contract("B705")
def test_what_an_undo_left_counts_again_once_it_is_verified(scene: Scene) -> None:
    """A failure after that returns to it; before that it returns to what the undo went to."""
    verify_versions(scene, 1, 2)
    assert_verified(undo(scene))
    scene.apply(settings("9"), web(9, behaviour=CRASH), flags=KEEP)
    assert_rolled_back(scene.apply(settings("8"), web(8, behaviour=CRASH)), "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert_verified(scene.apply(settings("2"), web(2)))
    scene.apply(settings("9"), web(9, behaviour=CRASH), flags=KEEP)
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B703", "B705")
def test_an_undo_of_configuration_alone_is_remembered(scene: Scene) -> None:
    """The same pods: a second undo does not bring back what the first left."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("two"), web()), "NoChange")
    undone = undo(scene)
    assert_verified(undone, "NoChange")
    assert "revision 1 (shop/web:1), which runs, with its configuration of 2" in undone.stderr
    left = undo(scene)
    assert_refused(left, "NoBaseline", "with its configuration of", "an undo left it at")
    assert "--to-revision" not in left.stderr
    assert mode(scene) == "one"


@pytest.mark.contract("B722", "B747")
def test_a_restart_that_fails_takes_its_annotation_back(scene: Scene) -> None:
    """The ReplicaSet that was verified serves again; none is made beside it."""
    assert_verified(scene.apply(web()))
    (first,) = (one["metadata"]["name"] for one in scene.objects.list_all("replicasets"))
    assert scene.apply(web(2, behaviour=CRASH), flags=KEEP).exit_code == 6
    result = scene.gate("restart", "web", *DOCUMENT)
    assert_rolled_back(result, "CrashLoop")
    live = assert_runs(scene.objects, "shop/web:1")
    number = live["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
    baseline = result.document["deployments"][0]["baseline"]
    assert (baseline["replicaset"], baseline["revision"]) == (first, int(number))
    managers = {entry["manager"] for entry in live["metadata"]["managedFields"]}
    assert "rollout-gate-restart" not in managers
    assert result.stderr.count("returning deployment/web to") == 1


@pytest.mark.contract("B721")
def test_a_replica_set_that_never_had_a_pod_is_not_called_verified(scene: Scene) -> None:
    """A restart makes a ReplicaSet of the same pod template, with a judgement of its own."""
    assert_verified(scene.apply(web()))
    scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
    scene.objects.wait_complete("web")
    assert_verified(scene.gate("restart", "web", *DOCUMENT), "Vacuous", running="none")
    rows = history_rows(scene)
    assert [(row["revision"], row["verdict"]) for row in rows] == [
        (2, "not verified"),
        (1, "verified"),
    ]


@pytest.mark.contract("B706", "B704")
def test_the_way_back_of_an_undo_of_the_pods_alone_says_what_differs(scene: Scene) -> None:
    """It goes to the pod template that it would return to: the configuration differs."""
    assert_verified(scene.apply(secret("emVybw=="), settings("zero"), web(3)))
    assert_verified(scene.apply(secret("b25l"), settings("one"), web()))
    bad = (secret("dHdv"), settings("two"), web(2, behaviour=CRASH))
    assert scene.apply(*bad, flags=KEEP).exit_code == 6
    result = undo(scene, "--deployment-only")
    assert_verified(result)
    back = "the last verified revision 2 (shop/web:1), with the configuration of then"
    assert f"a failure returns to {back}" in result.stderr
