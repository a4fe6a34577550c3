"""Empty maps of a pod template that others fill between the preflight and our write."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import settings, template_annotation, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, kills, nth, writes
from tests.scenarios.test_reloaders import SETTINGS, WEB, reload, reload_on_changes
from tests.scenarios.versions import CRASH, mode, undo

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

LIMITS = {"limits": {"cpu": "1"}}


def of_pod(**fields: object) -> JSON:
    """Return a patch of the pods of a Deployment."""
    return {"spec": {"template": {"spec": fields}}}


def of_container(**fields: object) -> JSON:
    """Return a patch of the container `web`."""
    return of_pod(containers=[{"name": "web", **fields}])


def version(
    number: int, *, resources: JSON | None = None, behaviour: str = "", **fields: object
) -> JSON:
    """Return a version that has every map that others fill, but empty; `fields` are of its pods."""
    body = web(number, behaviour=behaviour)
    template = body["spec"]["template"]
    template["metadata"].setdefault("annotations", {})
    pod = template["spec"]
    pod.update(volumes=[{"name": "space", "emptyDir": {}}], **fields)
    pod["containers"][0].update(resources=resources or {}, securityContext={})
    return body


def read_filled(body: JSON) -> dict[str, JSON]:
    """Return what a reloader has put into the maps of a template."""
    template = body["spec"]["template"]
    container = template["spec"]["containers"][0]
    return {
        "resources": container["resources"],
        "context": container["securityContext"],
        "volume": template["spec"]["volumes"][0]["emptyDir"],
        "annotations": template["metadata"].get("annotations", {}),
    }


FILLED: dict[str, tuple[JSON, JSON]] = {
    "resources": (of_container(resources=LIMITS), LIMITS),
    "context": (of_container(securityContext={"runAsUser": 7}), {"runAsUser": 7}),
    "volume": (
        of_pod(volumes=[{"name": "space", "emptyDir": {"sizeLimit": "9Mi"}}]),
        {"sizeLimit": "9Mi"},
    ),
    "annotations": (template_annotation("hash", "abc"), {"hash": "abc"}),
}


@pytest.mark.contract("B1760")
@pytest.mark.parametrize("which", FILLED)
@pytest.mark.parametrize("behaviour", ["", CRASH], ids=["good", "bad"])
def test_what_fills_a_map_that_we_apply_empty_is_left(
    proxy: Proxy, which: str, behaviour: str
) -> None:
    """It stays, whether the version does or the one before serves again."""
    patch, value = FILLED[which]
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), version(1)))
    reload_on_changes(proxy, patch)
    result = scene.apply(settings("2"), version(2, behaviour=behaviour))
    if behaviour:
        assert_rolled_back(result, "CrashLoop")
    else:
        assert_verified(result)
    live = assert_runs(scene.objects, "shop/web:1" if behaviour else "shop/web:2")
    assert value.items() <= read_filled(live)[which].items()
    assert mode(scene) == ("1" if behaviour else "2")


@pytest.mark.contract("B1760")
def test_what_empties_a_map_that_we_apply_empty_is_left(proxy: Proxy) -> None:
    """Who had filled it before the attempt takes that back, and keeps an annotation."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), version(1)))
    reload(scene, of_container(resources=LIMITS))
    reload(scene, template_annotation("hash", "abc"))
    scene.objects.wait_complete("web")
    nothing = of_container(resources={"limits": {"cpu": None}})
    reload_on_changes(proxy, nothing)
    assert_verified(scene.apply(settings("2"), version(2)))
    live = assert_runs(scene.objects, "shop/web:2")
    assert read_filled(live)["resources"].get("limits", {}) == {}
    assert read_filled(live)["annotations"]["hash"] == "abc"


@pytest.mark.contract("B1760")
@pytest.mark.parametrize(
    ("patch", "fields"),
    [
        (of_pod(nodeSelector={"kubernetes.io/os": "linux"}), {"nodeSelector": {}}),
        (of_container(resources=LIMITS), {"resources": {"limits": {"cpu": "2"}}}),
    ],
    ids=["a-map-that-is-one-value", "a-field-of-the-new-version"],
)
def test_what_the_apply_would_change_is_not_left(proxy: Proxy, patch: JSON, fields: JSON) -> None:
    """A map that the server takes for one value is ours, and so is what the new version sets."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), version(1)))
    reload_on_changes(proxy, patch)
    ended = scene.apply(settings("2"), version(2, **fields))
    assert_ended(ended, 8, "superseded", "Superseded")
    assert mode(scene) == "1"


@pytest.mark.contract("B1760")
@pytest.mark.parametrize("path", [SETTINGS, WEB], ids=["before-its-write", "once-it-is-restored"])
def test_a_recovery_leaves_what_fills_a_map_that_we_apply_empty(proxy: Proxy, path: str) -> None:
    """All goes back, and is verified."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), version(1)))
    with scene.applying(settings("2"), version(2, behaviour=CRASH)) as running:
        number = 1 if path == SETTINGS else 2
        proxy.on(nth(number, writes(path)), kills(running, after=True))
        running.wait()
    reload(scene, of_container(resources=LIMITS))
    result = recover(scene)
    assert (result.exit_code, result.document["outcome"]) == (4, "rolled-back"), str(result)
    assert read_filled(assert_runs(scene.objects, "shop/web:1"))["resources"] == LIMITS
    assert mode(scene) == "1"


@pytest.mark.contract("B1760")
def test_an_undo_leaves_what_fills_a_map_that_we_apply_empty(proxy: Proxy) -> None:
    """It returns to the version before, beside what a reloader sets meanwhile."""
    scene = proxy.scene
    for number in (1, 2):
        assert_verified(scene.apply(settings(str(number)), version(number)))
    reload_on_changes(proxy, of_container(resources=LIMITS))
    assert_verified(undo(scene))
    assert read_filled(assert_runs(scene.objects, "shop/web:1"))["resources"] == LIMITS
    assert mode(scene) == "1"
