"""Configuration that somebody changes or deletes between the death of a gate and its recovery."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.scene import MERGE_PATCH, Scene, secret, service, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.versions import CRASH, one_line, report

pytestmark = pytest.mark.sandbox_only("minutes of waiting")

HAND = "kubectl-edit"
OBJECTS = {"ConfigMap": "configmap/settings", "Secret": "secret/keys"}


def with_port(port: int) -> JSON:
    """Return a Service with a port of a name."""
    body = service(port)
    body["spec"]["ports"][0]["name"] = "http"
    return body


def is_complete(deployment: JSON) -> bool:
    """Tell whether a Deployment has its two pods, all of its latest version."""
    counts = ("replicas", "updatedReplicas", "availableReplicas")
    return [deployment["status"].get(name) for name in counts] == [2, 2, 2]


@pytest.mark.contract("B49")
@pytest.mark.parametrize("kind", OBJECTS)
def test_what_somebody_deleted_is_gone(scene: Scene, program: PlayedGate, kind: str) -> None:
    """As the live run says it; what serves again may need the object."""
    first, second = (
        (settings("one"), settings("two")) if kind == "ConfigMap" else (secret("a"), secret("b"))
    )
    assert_verified(scene.apply(first, web()))
    kill_apply(scene, program, second, web(2, behaviour=CRASH))
    named = OBJECTS[kind]
    scene.objects.delete(f"{kind.lower()}s", named.partition("/")[2])
    result = recover(scene, "web")
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert_runs(scene.objects, "shop/web:1")
    (item,) = (one for one in result.document["objects"] if one["kind"] == kind)
    assert (item["action"], item["at_end"]["state"]) == ("gone", "deleted")
    assert warned(result, f"{named} was deleted by somebody else before the rollback")
    assert not warned(result, "changed by somebody else")
    assert f"{named}: find out who did that; apply again" in report(scene, result)


@pytest.mark.contract("B49")
def test_what_somebody_changed_is_left_with_their_name(scene: Scene, program: PlayedGate) -> None:
    """The report says which field it is, and the advised apply takes it over."""
    assert_verified(scene.apply(settings("one"), web()))
    kill_apply(scene, program, settings("two"), web(2, behaviour=CRASH))
    path = f"{scene.objects.path('configmaps', 'settings')}?fieldManager={HAND}"
    scene.client.json("PATCH", path, {"data": {"mode": "three"}}, MERGE_PATCH)
    result = recover(scene, "web")
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    said = f"configmap/settings was left alone: {HAND} changed data.mode before the rollback"
    assert warned(result, said)
    (item,) = (one for one in result.document["objects"] if one["kind"] == "ConfigMap")
    assert (item["action"], item["at_end"]["managers"]) == ("left", [HAND])
    assert f"--take-over {HAND}" in report(scene, result)
    assert scene.apply(settings("four"), web(3)).exit_code == 3
    assert_verified(scene.apply(settings("four"), web(3), flags=("--take-over", HAND)))


@pytest.mark.contract("B49")
def test_what_somebody_deleted_of_a_version_that_stays_is_gone(
    scene: Scene, program: PlayedGate
) -> None:
    """Nothing goes back, so that no rollback is spoken of."""
    assert_verified(scene.apply(settings("one"), web()))
    kill_apply(scene, program, settings("two"), web(2, behaviour="ready=3"))
    scene.objects.wait_for("deployments", "web", is_complete)
    scene.objects.delete("configmaps", "settings")
    result = recover(scene, "web")
    assert_verified(result)
    assert warned(result, "configmap/settings is gone: somebody else deleted it")


@pytest.mark.contract("B1918", "B49")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
def test_what_took_the_place_of_what_was_written_is_no_unchanged_object(
    scene: Scene, *, is_dead: bool
) -> None:
    """Neither what the write set is there nor what it removed: that shows that it was done."""
    assert_verified(scene.apply(with_port(80), web()))
    with scene.applying(with_port(81), web(2, behaviour=CRASH)) as running:
        running.wait_for_line("0 of 2 new pods")
        if is_dead:
            running.kill()
        ports = {"spec": {"ports": [{"name": "new", "port": 90}]}}
        scene.objects.patch("services", "web", ports, query=f"?fieldManager={HAND}")
        result = recover(scene, "web") if is_dead else running.wait()
    assert result.exit_code == 4, str(result)
    (item,) = (one for one in result.document["objects"] if one["kind"] == "Service")
    assert item["action"] == "restored"
    assert warned(result, "the rollback left .spec.ports[port=90", "service/web as others have it")
    ports = scene.objects.get("services", "web")["spec"]["ports"]
    assert sorted(one["port"] for one in ports) == [80, 90]


@pytest.mark.contract("B1973")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
def test_a_list_of_others_that_no_apply_mends_is_to_be_mended_first(
    scene: Scene, *, is_dead: bool
) -> None:
    """The server wants a name of each of several ports; no `--take-over` removes theirs."""
    assert_verified(scene.apply(service(80), web()))
    with scene.applying(service(81), web(2, behaviour=CRASH)) as running:
        running.wait_for_line("0 of 2 new pods")
        if is_dead:
            running.kill()
        path = f"{scene.objects.path('services', 'web')}?fieldManager={HAND}"
        theirs = {"spec": {"ports": [{"name": "theirs", "port": 95}]}}
        scene.client.json("PATCH", path, theirs, MERGE_PATCH)
        result = recover(scene, "web") if is_dead else running.wait()
    assert result.exit_code == 5, str(result)
    shown = report(scene, result)
    assert "--take-over" not in shown
    first, then = shown.find("kubectl edit service/web"), shown.find("rollout-gate apply -f PATH")
    assert 0 < first < then
    assert f"service/web: {HAND} changed spec.ports, and the server rejects" in one_line(shown)
    scene.client.json("PATCH", path, {"spec": {"ports": service(80)["spec"]["ports"]}}, MERGE_PATCH)
    assert_verified(scene.apply(service(80), web()), "NoChange")


@pytest.mark.contract("B1918", "B49")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
@pytest.mark.parametrize("behaviour", [CRASH, "ready=3"])
def test_what_the_attempt_created_and_somebody_deleted_is_gone(
    scene: Scene, behaviour: str, *, is_dead: bool
) -> None:
    """What was written behind it shows that it was created; a version that is complete stays."""
    assert_verified(scene.apply(web()))
    with scene.applying(service(), web(2, behaviour=behaviour)) as running:
        running.wait_for_line("0 of 2 new pods")
        if is_dead:
            running.kill()
        scene.objects.delete("services", "web")
        if is_dead and behaviour != CRASH:
            scene.wait_done("deployments", "web")
        result = recover(scene, "web") if is_dead else running.wait()
    assert result.exit_code == (4 if behaviour == CRASH else 0), str(result)
    (item,) = (one for one in result.document["objects"] if one["kind"] == "Service")
    assert (item["action"], item["at_end"]["state"]) == ("gone", "deleted")
    assert warned(result, "service/web", "somebody else")
