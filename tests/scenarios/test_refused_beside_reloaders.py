"""A workload's write is refused, and its configuration goes back, which a reloader acts on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from sandbox.face import Request
from tests.bed.expectations import assert_ended, assert_runs, assert_verified
from tests.bed.policies import When
from tests.bed.scene import settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.proxy import Proxy, is_dry_run, says, status, then, writes
from tests.scenarios.test_reloaders import SETTINGS, WEB, hashed, reload
from tests.scenarios.versions import mode

pytestmark = pytest.mark.sandbox_only("somebody acts between two requests of the gate")

WITHOUT_DRY_RUN = status(400, 'admission webhook "pods.example" does not support dry run')


def _is_second(body: JSON, dry_run: bool) -> bool:
    """Tell whether it is the second version, in earnest."""
    image = body["spec"]["template"]["spec"]["containers"][0]["image"]
    return bool(image == "shop/web:2") and not dry_run


SECOND = When("", _is_second)


def is_tried(request: Request) -> bool:
    """Tell whether it is a dry run of a write of the Deployment."""
    return request.method == "PATCH" and request.path == WEB and is_dry_run(request)


@contextmanager
def refused(
    proxy: Proxy, applier: str, act: Callable[[], object], *, has_dry_runs: bool
) -> Iterator[None]:
    """Let the first version run; the second is denied, and each write of the ConfigMap acted on."""
    scene = proxy.scene
    if applier == "gate":
        assert_verified(scene.apply(settings("1"), web(1)))
    else:
        scene.kubectl("apply", "-f", str(scene.manifest(settings("1"), web(1))), check=True)
        scene.objects.wait_complete("web")
    if not has_dry_runs:
        proxy.on(is_tried, says(WITHOUT_DRY_RUN))
    proxy.on(writes(SETTINGS), then(act))
    with proxy.policies.denying("deployments.apps", "not this one", SECOND):
        yield


@pytest.mark.contract("B1762", "B32")
@pytest.mark.parametrize("has_dry_runs", [True, False], ids=["dry-run", "no-dry-run"])
@pytest.mark.parametrize("applier", ["gate", "kubectl"])
@pytest.mark.parametrize("is_always", [True, False], ids=["each-write", "the-restoration"])
def test_what_a_reloader_makes_of_the_restoration_changes_no_refusal(
    proxy: Proxy, applier: str, has_dry_runs: bool, is_always: bool
) -> None:
    """It ends as without the reloader, and what that set stays."""
    scene = proxy.scene

    def act() -> None:
        if is_always or mode(scene) == "1":
            reload(scene, hashed(mode(scene)))

    with refused(proxy, applier, act, has_dry_runs=has_dry_runs):
        result = scene.apply(settings("2"), web(2))
        workload = assert_ended(result, 4, "rolled-back", "ApplyRejected")
        assert workload["outcome"] == "refused"
        template = assert_runs(scene.objects, "shop/web:1")["spec"]["template"]
        own = template["spec"]["containers"][0]["env"]
        assert {"name": "HASH", "value": "1"} in own
        assert mode(scene) == "1"


@pytest.mark.contract("B1762", "B32")
@pytest.mark.parametrize("has_dry_runs", [True, False], ids=["dry-run", "no-dry-run"])
@pytest.mark.parametrize("applier", ["gate", "kubectl"])
def test_another_version_of_somebody_else_is_still_superseding(
    proxy: Proxy, applier: str, has_dry_runs: bool
) -> None:
    """What was there before the attempt runs no more."""
    scene = proxy.scene

    def act() -> None:
        if mode(scene) == "1":
            reload(scene, {"spec": web(9)["spec"]})

    with refused(proxy, applier, act, has_dry_runs=has_dry_runs):
        assert_ended(scene.apply(settings("2"), web(2)), 8, "superseded", "Superseded")
        assert mode(scene) == "1"
