"""Locks that somebody takes, gives back or deletes while a run holds them."""

from __future__ import annotations

import base64
import json
import re

import pytest

from tests.bed.expectations import assert_ended, assert_verified, images, warned
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, secret, web
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import LEASE, RECORD, SLOW, lease, recover
from tests.scenarios.versions import CRASH, history_rows, one_line, report

pytestmark = pytest.mark.sandbox_only("minutes of waiting")


@pytest.mark.contract("B524")
def test_a_lock_that_was_taken_ends_the_attempt(scene: Scene) -> None:
    """The gate notices within a renewal, and writes nothing more, though the version is bad."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="never-ready")) as running:
        running.wait_for_line(UNDER_WAY)
        scene.objects.patch("leases", LEASE, {"spec": {"holderIdentity": "somebody else"}})
        result = running.wait()
    assert_ended(result, 8, "superseded", "Locked")
    assert "somebody else" in result.document["message"]
    assert result.duration_seconds < 20
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert lease(scene)["spec"]["holderIdentity"] == "somebody else"


@pytest.mark.contract("B1276", "B524")
@pytest.mark.parametrize("version", [web(2), web(2, behaviour=CRASH)])
def test_a_lock_that_the_release_finds_lost_ends_the_attempt(scene: Scene, version: JSON) -> None:
    """No renewal came between: 8, neither verified nor rolled back, and nothing is remembered."""
    assert_verified(scene.apply(web()))
    before = lease(scene)["metadata"]["annotations"]["rollout-gate/history"]
    with scene.applying(version, flags=["--bake", "2s"]) as running:
        running.wait_for_line("baking|restored", 60.0)
        scene.objects.patch("leases", LEASE, {"spec": {"holderIdentity": "somebody else"}})
        result = running.wait()
    assert_ended(result, 8, "superseded", "Locked")
    assert warned(result, "the lock of deployment/web was taken by somebody else")
    assert lease(scene)["spec"]["holderIdentity"] == "somebody else"
    assert lease(scene)["metadata"]["annotations"]["rollout-gate/history"] == before


@pytest.mark.contract("B1355")
@pytest.mark.parametrize(("taken", "other"), [("api", "web"), ("web", "api")])
def test_a_lock_that_the_release_finds_lost_leaves_no_version_verified(
    scene: Scene, taken: str, other: str
) -> None:
    """Also not in the lock of the other workload, whichever of the two keeps the record."""
    assert_verified(scene.apply(web(), web(name="api")))
    with scene.applying(web(2), web(2, name="api"), flags=["--bake", "2s"]) as running:
        running.wait_for_line("baking", 60.0)
        theirs = f"rollout-gate.deployment.{taken}"
        scene.objects.patch("leases", theirs, {"spec": {"holderIdentity": "somebody else"}})
        result = running.wait()
    assert_ended(result, 8, "superseded", "Locked")
    shown = history_rows(scene, other)
    said = {one["images"][0]: one["verdict"] for one in shown}
    assert said == {f"shop/{other}:2": "interrupted", f"shop/{other}:1": "verified"}


@pytest.mark.contract("B524", "B1309")
@pytest.mark.parametrize("still_holds", [True, False])
def test_a_gate_that_was_suspended_looks_at_its_lock_first(
    scene: Scene, program: PlayedGate, still_holds: bool
) -> None:
    """All its budgets have ended when it goes on, and another gate has taken over: 8, not 9."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="never-ready"))
    behaviour = "ready=150" if still_holds else "ready=1"
    over = scene.manifest(web(3, behaviour=behaviour, progress_deadline_seconds=300))
    flags = ("--timeout", "40s", "--output", "json")
    with program.start("apply", "-f", path, *flags) as first:
        first.wait_for_line(UNDER_WAY)
        first.suspend(200.0)
        with program.start("apply", "-f", over, "--lock-wait", "2m") as second:
            result = first.wait(300.0)
            taken = second.wait(300.0)
    assert_ended(result, 8, "superseded", "Locked")
    given_back = "which has released it" in result.document["message"]
    assert "the lock was taken by" in result.document["message"]
    assert given_back is not still_holds
    text = " ".join(report(scene, result).split())
    assert (
        "once this shows that the other attempt has ended, apply again: rollout-gate locks" in text
    )
    [warning] = [each for each in result.document["warnings"] if "the lock of" in each]
    who = lease(scene)["metadata"]["annotations"]["rollout-gate/holder"]
    assert json.loads(who)["identity"] in warning
    assert taken.exit_code == 0
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:3"]


@pytest.mark.contract("B789", "B840", "B841")
@pytest.mark.parametrize("taken", ["api", "web", longer("worker")])
def test_one_lock_that_was_taken_keeps_no_other(scene: Scene, taken: str) -> None:
    """The others are given back, with neither record nor Secret; what was taken is theirs."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}
    names = ("api", "web", "worker")

    def version(number: int, **more: str) -> list[JSON]:
        held = {**secret, "stringData": {"number": str(number)}}
        return [held, *(web(number, name=name, **more) for name in names)]

    assert_verified(scene.apply(*version(1)))
    with scene.applying(*version(2, behaviour="never-ready")) as running:
        running.wait_for_line("applied +deployment/worker changed")
        patch = {"spec": {"holderIdentity": "somebody else"}}
        scene.objects.patch("leases", f"rollout-gate.deployment.{taken}", patch)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Locked")
    assert warned(result, f"the lock of deployment/{taken} was taken by somebody else")
    ended = {one["name"]: one["reason"] for one in result.document["deployments"]}
    assert ended == {name: "Locked" if name == taken else "SiblingLocked" for name in names}
    assert {one["running"] for one in result.document["deployments"]} == {"mixed"}
    shown = one_line(report(scene, result))
    others = ", ".join(f"deployment/{name}" for name in names if name != taken)
    assert f"somebody else took the lock of deployment/{taken}; this run stepped back from" in shown
    assert f"stepped back from {others} too; nothing was written once that was seen" in shown
    assert "somebody else applied" not in shown
    assert "theirs goes with" not in shown
    leases = {each["metadata"]["name"]: each for each in scene.objects.list_all("leases")}
    for name in names:
        found = leases[f"rollout-gate.deployment.{name}"]
        is_open = RECORD in found["metadata"]["annotations"]
        expected = ("somebody else", name == "api") if name == taken else ("", False)
        assert (found["spec"]["holderIdentity"], is_open) == expected
    kept = {each["metadata"]["name"] for each in scene.objects.list_all("secrets")}
    assert ("rollout-gate.deployment.api" in kept) is (taken == "api")


@pytest.mark.contract("B1941", "B524", "B791")
@pytest.mark.parametrize("deleted", [["api"], ["api", "web"]], ids="+".join)
@pytest.mark.parametrize("dies", [False, True])
def test_a_lock_that_was_deleted_is_created_again_with_what_it_remembered(
    scene: Scene, program: PlayedGate, dies: bool, deleted: list[str]
) -> None:
    """The record, which the lock of api has, the history, and the Secret beside them."""
    for number in (1, 2):
        bodies = (secret(f"{number}-long-value"), web(number), web(number, name="api"))
        assert_verified(scene.apply(*bodies))
    slow = [web(3, name=name, behaviour="ready=40") for name in ("web", "api")]
    path = scene.manifest(secret("3-long-value"), *slow)
    with program.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line("applied +deployment/web changed")
        for name in deleted:
            scene.objects.delete("leases", f"rollout-gate.deployment.{name}")
        for name in deleted:
            kept = "record and its history" if name == "api" else "history"
            running.wait_for_line(
                f"somebody deleted the lock of deployment/{name} while this run held it;"
                f" this run created it again with its {kept}$"
            )
        if dies:
            running.kill()
            assert_ended(recover(scene), 4, "rolled-back", "Interrupted")
        else:
            assert_verified(running.wait())
    is_now = "2-long-value" if dies else "3-long-value"
    stored = scene.objects.get("secrets", "keys")["data"]["key"]
    assert base64.b64decode(stored).decode() == is_now
    assert [one["metadata"]["name"] for one in scene.objects.list_all("secrets")] == ["keys"]
    for name in ("web", "api"):
        shown = {one["images"][0]: one["verdict"] for one in history_rows(scene, name)}
        assert shown == {
            f"shop/{name}:3": "interrupted" if dies else "verified",
            f"shop/{name}:2": "verified",
            f"shop/{name}:1": "verified",
        }


UNKNOWN = "deployment/{} was applied by rollout-gate and has no lock: somebody deleted that"


@pytest.mark.contract("B1982")
def test_recover_says_that_it_cannot_know_of_a_workload_whose_lock_is_gone(scene: Scene) -> None:
    """The gate died before it could create the lock again: nothing says that it is unfinished."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="never-ready")) as running:
        running.wait_for_line(UNDER_WAY)
        scene.objects.delete("leases", LEASE)
        running.kill()
    for words in ((), ("web",)):
        result = recover(scene, *words)
        assert result.exit_code == 0, str(result)
        assert result.document["message"] == "no record of an unfinished attempt was found"
        assert warned(result, UNKNOWN.format("web"), "status web") is bool(words)


@pytest.mark.contract("B1982")
@pytest.mark.parametrize("remains", ["lock", "record", "nothing"])
def test_recover_doubts_nothing_where_the_locks_tell(scene: Scene, remains: str) -> None:
    """Its own, or the record in that of another workload; nor where no gate has applied it."""
    scene.apply_as("kubectl", web())
    if remains == "lock":
        assert_verified(scene.apply(web(2)))
    elif remains == "record":
        with scene.applying(web(2, behaviour=SLOW), web(name="api")) as running:
            running.wait_for_line(UNDER_WAY)
            scene.objects.delete("leases", LEASE)
            running.kill()
    result = recover(scene, "web")
    assert not warned(result, UNKNOWN.format("web"))


@pytest.mark.contract("B790", "B791")
@pytest.mark.parametrize("dies", [False, True])
def test_a_lock_that_was_released_under_a_run(
    scene: Scene, program: PlayedGate, dies: bool
) -> None:
    """It is said whose run may live; the run steps back from who took over, and names them."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour=SLOW))
    with program.start("apply", "-f", path, "--output", "json") as running:
        running.wait_for_line(UNDER_WAY)
        holder = lease(scene)["spec"]["holderIdentity"]
        released = program("locks", "--release", "web", "--yes")
        assert re.search(
            f"deployment/web was held by {holder}, whose process .*still runs? on this machine",
            released.stderr,
        ), str(released)
        assert "takes the lock again within 15s" in released.stderr
        once = "unfinished; once that run has ended, to finish it (back if incomplete)"
        assert f"{once}: rollout-gate recover web" in released.stderr
        shown = program("locks").stdout
        assert "released, unfinished" in shown
        assert f"was released from {holder}, which may still be at work" in shown
        if dies:
            running.kill()
            assert "free, unfinished" in program("locks").stdout
        recovered = program("recover", "web", "--output", "json")
        assert_ended(recovered, 4, "rolled-back", "Interrupted")
        gate_ended = recovered.document["message"]
        if dies:
            assert gate_ended == "the gate ended before the new version was complete"
            assert not warned(recovered, "was released")
            return
        assert "the gate ended" not in str(recovered)
        assert "its lock was released before the new version was complete" in gate_ended
        assert warned(recovered, f"was released from {holder}", "stops once it sees")
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded")
    taken_by = json.loads(lease(scene)["metadata"]["annotations"]["rollout-gate/holder"])
    assert warned(result, "the lock of deployment/web was taken by", taken_by["identity"])
