"""A failure and `undo` return to one set: never one version's pods with another's configuration."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    forecast,
    images,
    warned,
)
from tests.bed.policies import IN_DRY_RUNS, Policies
from tests.bed.scene import Scene, secret, settings, web
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    apply_and_keep,
    assert_a_failure_returns_to,
    keep_a_bad_version,
    mode,
    one_line,
    report,
    undo,
)

pytestmark = pytest.mark.sandbox_only(
    "what a lock remembers is the gate's own, whatever cluster keeps it"
)


@pytest.mark.contract("B701", "B712")
def test_configuration_that_the_bad_version_brought_is_no_part_of_the_verified_set(
    scene: Scene,
) -> None:
    """v1 was verified without the ConfigMap: beside it that of the bad v9 is a mixture."""
    assert_verified(scene.apply(web()))
    apply_and_keep(scene, settings("nine"), web(9, behaviour=CRASH))
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert forecast(result, "configmap/settings", "an attempt that was not verified brought it")
    assert mode(scene) == "two"
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B700")
def test_a_change_of_somebody_else_that_serves_is_returned_to(scene: Scene) -> None:
    """It is what stood right before: all of it, not the version verified earlier."""
    assert_verified(scene.apply(settings("one"), web()))
    scene.apply_as("hotfix", settings("hot"))
    scene.apply_as("hotfix", web(5))
    scene.objects.wait_complete("web")
    taking = ("--take-over", "hotfix")
    result = scene.apply(settings("two"), web(2, behaviour=CRASH), flags=taking)
    assert_rolled_back(result, "CrashLoop")
    assert (mode(scene), images(scene.objects.get("deployments", "web"))) == ("hot", ["shop/web:5"])


@pytest.mark.contract("B715", "B700")
def test_a_version_belongs_to_what_stood_beside_it(scene: Scene) -> None:
    """v3 was verified beside the configuration of the bad v9, which its apply did not name."""
    keep_a_bad_version(scene)
    assert_verified(scene.apply(web(3)))
    assert_a_failure_returns_to(scene, 3, "nine")


@pytest.mark.contract("B715", "B703")
def test_undo_does_not_restore_what_a_version_never_ran_with(scene: Scene) -> None:
    """v2 was verified beside somebody's hotfix of the ConfigMap, which nobody remembers."""
    assert_verified(scene.apply(settings("one"), web()))
    scene.objects.patch("configmaps", "settings", {"data": {"mode": "hot"}})
    assert_verified(scene.apply(web(2)))
    assert_verified(scene.apply(settings("three"), web(3), flags=["--force-conflicts"]))
    result = undo(scene)
    assert_refused(result, "SetIncomplete", "configmap/settings")
    assert mode(scene) == "three"


@pytest.mark.contract("B715", "B712")
@pytest.mark.parametrize("command", ["restart", "apply"])
def test_what_a_failed_attempt_left_beside_is_seen_by_who_does_not_write_it(
    scene: Scene, command: str
) -> None:
    """v1 stands beside the configuration of the bad v2: nothing returns to that as it is."""
    assert_verified(scene.apply(settings("one"), web()))
    frozen = {**settings("two"), "immutable": True}
    first = scene.apply(frozen, web(2, behaviour=CRASH), flags=["--allow-irreversible"])
    assert_ended(first, 5, "rollback-failed", "CrashLoop", running="baseline")
    if command == "restart":
        result = scene.gate("restart", "web", "--allow-irreversible", *DOCUMENT)
        assert "with it returns, as it was verified: configmap/settings" in result.stderr
    else:
        result = scene.apply(web(3, behaviour=CRASH))
        assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
        assert forecast(result, "configmap/settings could not be returned", "exit 5")


@pytest.mark.contract("B700", "B6")
def test_a_deployment_that_cannot_be_tried_returns_to_its_set_too(
    scene: Scene, policies: Policies
) -> None:
    """Its ConfigMap alone is as verified: that does not make the verified version the new one."""
    keep_a_bad_version(scene, settings("one"))
    message = 'admission webhook "audit.example.test" does not support dry run'
    with policies.denying("deployments.apps", message, IN_DRY_RUNS):
        result = scene.apply(settings("one"), web(2, behaviour=CRASH))
    assert warned(result, "was not tried")
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B2", "B703")
@pytest.mark.parametrize("flags", [(), ("--to-revision", "1")])
def test_an_undo_that_may_not_read_a_member_names_the_right(
    scene: Scene,
    gate_with_rules: MakeGate,
    flags: tuple[str, ...],
) -> None:
    """It claims nothing of what it could not read."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("two"), web(2)))
    gate = gate_with_rules([*rules(*READING, "create", "patch"), LEASE_RULES])
    result = gate("undo", "web", *flags, *DOCUMENT)
    assert_refused(result, "Forbidden", "get configmaps")
    assert "somebody else" not in result.stderr


@pytest.mark.contract("B701")
def test_a_version_that_is_good_does_not_tell_of_a_rollback(scene: Scene) -> None:
    """What a failure could not have returned was said before the first write; nothing went back."""
    assert_verified(scene.apply(secret("one-long-value"), web()))
    apply_and_keep(scene, secret("nine-long-value"), web(9, behaviour=CRASH))
    result = scene.apply(secret("two-long-value"), web(2))
    assert_verified(result)
    assert "secret/keys could not be returned" in result.stderr
    assert not warned(result, "could not be returned")


@pytest.mark.contract("B701", "B779")
def test_a_secret_that_is_not_remembered_makes_no_rollback_of_success(scene: Scene) -> None:
    """It is named before the first write, and the end is 5, with what was returned returned."""
    assert_verified(scene.apply(secret("one-long-value"), settings("one"), web()))
    apply_and_keep(scene, secret("nine-long-value"), settings("nine"), web(9, behaviour=CRASH))
    result = scene.apply(secret("two-long-value"), settings("two"), web(2, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert warned(result, "secret/keys could not be restored")
    assert "refused     secret/keys" in result.stderr
    assert forecast(result, "secret/keys could not be returned", "exit 5")
    advised = "secret/keys: not returned, and not as it was verified; apply the whole manifest"
    assert advised in one_line(report(scene, result))
    assert mode(scene) == "one"


@pytest.mark.contract("B779", "B1356")
def test_a_workload_that_did_not_go_back_is_named_in_what_to_do(scene: Scene) -> None:
    """A `resume` of one of two does not write the other, which its verified set needs."""
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    bad = (settings("two"), web(2, behaviour=CRASH), web(2, name="api"))
    assert_ended(scene.apply(*bad, flags=["--on-failure", "pause"]), 6, "failed", "CrashLoop")
    result = scene.gate("resume", "web", "--output", "json")
    assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded", running="baseline")
    advised = "deployment/api: not returned, and not as it was verified; apply the whole manifest"
    assert advised in one_line(report(scene, result))


@pytest.mark.contract("B710", "B703")
def test_undo_leaves_a_version_whose_configuration_is_gone(scene: Scene) -> None:
    """Somebody deletes the ConfigMap of v2 before its end: an undo returns to v1 with its own."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), web(2, behaviour="ready=3")) as running:
        two = {"mode": "two"}
        scene.objects.wait_for("configmaps", "settings", lambda live: live["data"] == two)
        scene.objects.delete("configmaps", "settings")
        assert_verified(running.wait())
    assert_verified(undo(scene))
    assert mode(scene) == "one"
    assert_runs(scene.objects, "shop/web:1")


# -- undo ------------------------------------------------------------------------------------------


@pytest.mark.contract("B703")
def test_undo_after_a_rollback_says_what_it_leaves(scene: Scene) -> None:
    """Who wants the bad version gone has it already; of the next undo nothing is said."""
    assert_verified(scene.apply(settings("zero"), web(7)))
    assert_verified(scene.apply(settings(), web()))
    assert_verified(scene.apply(settings("two"), web(2)))
    failed = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert_rolled_back(failed, "CrashLoop")
    result = undo(scene)
    assert_verified(result)
    leaves = "revision 5 (shop/web:2) runs since, and this undo replaces it by revision 2"
    assert warned(result, "was rolled back already, from shop/web:3", leaves)
    again = undo(scene)
    assert_verified(again)
    assert not warned(again, "rolled back already")
    assert_runs(scene.objects, "shop/web:7")


@pytest.mark.contract("B703")
def test_undo_without_a_history_does_not_go_where_somebody_returned_from(scene: Scene) -> None:
    """The numbers of the ReplicaSet that is used again tell it."""
    scene.serve(web())
    scene.apply_as("rollout-gate", web(2, behaviour=CRASH))
    scene.objects.wait("replicasets", lambda found: len(found) == 2)
    scene.apply_as("rollout-gate", web())
    scene.objects.wait_complete("web")
    result = undo(scene)
    assert_refused(result, "NoBaseline", "revision 2 (shop/web:2)", "a return from it")


@pytest.mark.contract("B703")
def test_undo_after_a_restart_restores_the_configuration_too(scene: Scene) -> None:
    """What a restart did not write belongs to the version that it verified."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.gate("restart", "web", *DOCUMENT))
    assert_verified(scene.apply(settings("two"), web(2)))
    assert_verified(undo(scene))
    assert mode(scene) == "one"
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B703")
def test_undo_takes_another_deployment_back_only_where_it_came_with_what_runs(
    scene: Scene,
) -> None:
    """Both have an earlier version of one set: api, which has gone on since, stays."""
    for number in (1, 2):
        assert_verified(scene.apply(web(number), web(number, name="api")))
    assert_verified(scene.apply(web(3, name="api")))
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")
    assert images(scene.objects.get("deployments", "api")) == ["shop/api:3"]


def verify_two_sets(scene: Scene, behaviour: str = "ready=0") -> None:
    """Verify two versions of both Deployments, with their configuration."""
    for number, value in ((1, "one"), (2, "two")):
        both = (web(number, behaviour=behaviour), web(number, name="worker"))
        assert_verified(scene.apply(settings(value), *both))


def assert_returned_as_one(scene: Scene) -> None:
    """Assert that an undo of one Deployment returns the whole first set."""
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")
    assert images(scene.objects.get("deployments", "worker")) == ["shop/worker:1"]
    assert mode(scene) == "one"


@pytest.mark.contract("B703", "B762")
@pytest.mark.parametrize("failing", [(), ("--timeout", "0.5", *KEEP)], ids=["verified", "failed"])
def test_undo_after_a_restart_takes_back_what_came_with_what_runs(
    scene: Scene, failing: tuple[str, ...]
) -> None:
    """The restart wrote web alone: what runs is what came with worker, whether it failed or not."""
    verify_two_sets(scene, "ready=1")
    restarted = scene.gate("restart", "web", *failing, *DOCUMENT)
    assert restarted.exit_code == (6 if failing else 0), str(restarted)
    assert_returned_as_one(scene)


@pytest.mark.contract("B703")
@pytest.mark.parametrize("crashing", [("web", "worker"), ("web",), ("worker",)])
def test_undo_of_a_kept_failure_takes_back_what_came_with_it(
    scene: Scene, crashing: tuple[str, ...]
) -> None:
    """No worker of the version that failed is left beside the configuration of the one before."""
    assert_verified(scene.apply(settings("one"), web(), web(name="worker")))
    behaviours = {
        name: {"behaviour": CRASH} if name in crashing else {} for name in ("web", "worker")
    }
    second = (web(2, **behaviours["web"]), web(2, name="worker", **behaviours["worker"]))
    apply_and_keep(scene, settings("two"), *second)
    assert_returned_as_one(scene)


@pytest.mark.contract("B703")
def test_undo_takes_back_what_came_with_what_somebody_else_changed_since(scene: Scene) -> None:
    """The hotfix is of web alone, worker is still what came with the second set."""
    verify_two_sets(scene)
    scene.apply_as("hotfix", web("hot"))
    scene.objects.wait_complete("web")
    words = ("--to-revision", "1", "--take-over", "hotfix")
    assert_verified(undo(scene, *words))
    assert images(scene.objects.get("deployments", "worker")) == ["shop/worker:1"]
    assert (mode(scene), images(scene.objects.get("deployments", "web"))) == ("one", ["shop/web:1"])


@pytest.mark.contract("B1375", "B703")
def test_an_undo_to_what_failed_takes_its_configuration_back_as_well(scene: Scene) -> None:
    """Named by its number, it fails again: the pods and the configuration are those verified."""
    assert_verified(scene.apply(settings("one"), web()))
    apply_and_keep(scene, settings("two"), web(2, behaviour=CRASH))
    result = undo(scene, "--to-revision", "2")
    assert "with it returns, as it was verified: configmap/settings" in result.stderr
    assert result.exit_code == 4, str(result)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "one"
