"""A restoration that admission rewrites, and whose answer is lost or whose gate dies just then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_runs, assert_verified, warned
from tests.bed.pods import image_of
from tests.bed.policies import ANY, IN_EARNEST, When
from tests.bed.scene import OURS, Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import recover
from tests.scenarios.proxy import (
    Does,
    Proxy,
    breaks,
    is_dry_run,
    kills,
    loses,
    nth,
    says,
    status,
    writes,
)
from tests.scenarios.test_refused_beside_reloaders import WITHOUT_DRY_RUN, is_tried
from tests.scenarios.test_reloaders import WEB
from tests.scenarios.versions import CRASH, mode
from tests.scenarios.walked import DAEMON_SET, DEPLOYMENT, STATEFUL_SET, Walked

pytestmark = pytest.mark.sandbox_only("requests are lost between the gate and its server")

OTHER: Final = "shop/other:7"
REFUSED: Final = status(422, 'Deployment.apps "web" is invalid: spec: Invalid value')
BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "30s")
ENDS: Final = ("lost", "killed")
KINDS: Final = (DEPLOYMENT, STATEFUL_SET, DAEMON_SET)


def fail_over(
    proxy: Proxy, end: str, returning: Does, *, kind: Walked = DEPLOYMENT, when: When = ANY
) -> Result:
    """Fail version 2; its restoration is rewritten, comes to `returning`, and has no answer.

    The gate goes on from there, or is killed and its attempt is recovered.
    """
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), kind.version(1)))
    with proxy.policies.rewriting(kind.resource, kind.image(1), OTHER, when):
        bad = settings("two"), kind.version(2, CRASH)
        with scene.applying(*bad, flags=BUDGETS) as running:

            def end_at(request: Request, handle: Handle) -> Answer:
                try:
                    return returning(request, handle)
                finally:
                    if end == "killed":
                        running.kill()

            proxy.on(nth(2, writes(f"/{kind.resource}/{kind.name}")), end_at)
            result = running.wait(120.0)
        assert len([one for one in proxy.met if not is_dry_run(one)]) == 1
        proxy.rest()
        return recover(scene) if end == "killed" else result


def instead(act: Callable[[], object]) -> Does:
    """Return what loses a request before the server hears of it, and acts in its place."""

    def does(request: Request, handle: Handle) -> Answer:
        act()
        return breaks(request, handle)

    return does


def once_done(act: Callable[[], object]) -> Does:
    """Return what loses the answer to a request, once somebody has acted on what it did."""

    def does(request: Request, handle: Handle) -> Answer:
        handle(request)
        act()
        return breaks(request, handle)

    return does


def read_spec(scene: Scene) -> JSON:
    """Return the spec of the Deployment."""
    spec: JSON = scene.objects.get("deployments", "web")["spec"]
    return spec


def with_image(image: str) -> JSON:
    """Return the patch that sets the image of `web`."""
    (container,) = web()["spec"]["template"]["spec"]["containers"]
    return {"spec": {"template": {"spec": {"containers": [{**container, "image": image}]}}}}


@pytest.mark.contract("B1790")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource)
@pytest.mark.parametrize("end", ENDS)
def test_what_admission_made_of_our_restoration_is_not_somebody_elses(
    proxy: Proxy, end: str, kind: Walked
) -> None:
    """It was returned, but not as it was before: 5, as where the answer came."""
    result = fail_over(proxy, end, loses, kind=kind)
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", running="other")
    assert "NotRestored" in {cause["reason"] for cause in ended["causes"]}
    assert warned(result, f"/{kind.name} was not restored", "image")
    live = proxy.scene.objects.get(kind.resource, kind.name)
    assert image_of(live["spec"]["template"]) == OTHER
    assert mode(proxy.scene) == "one"
    assert "no record of an unfinished attempt was found" in proxy.scene.gate("recover").stderr


def apply_as_another_run(scene: Scene, body: JSON) -> None:
    """Apply as another run of the gate does, which shares our field manager but no lock."""
    scene.apply_as(OURS, body)


def version_beside(scene: Scene) -> None:
    """Let another run apply what is rewritten as well, with a field that we never had."""
    body = web()
    body["spec"]["template"]["metadata"]["annotations"] = {"theirs": "1"}
    apply_as_another_run(scene, body)


def version_with_patience(scene: Scene) -> None:
    """Let another run apply what is rewritten as well, with a value outside of the template."""
    body = web()
    body["spec"]["minReadySeconds"] = 33
    apply_as_another_run(scene, body)


def make_again(scene: Scene) -> None:
    """Let another run delete the Deployment, and make it of what is rewritten as well."""
    scene.objects.delete("deployments", "web")
    version_with_patience(scene)


FOREIGN: Mapping[str, Callable[[Scene], object]] = {
    "another-run": lambda scene: apply_as_another_run(scene, web(3)),
    "another-run-rewritten": version_beside,
    "another-run-beside-the-template": version_with_patience,
    "kubectl": lambda scene: scene.change_as("kubectl-edit", with_image("shop/web:9")),
    "kubectl-the-same": lambda scene: scene.change_as("kubectl-edit", with_image(OTHER)),
    "kubectl-rewritten": lambda scene: scene.change_as("kubectl-edit", with_image("shop/web:1")),
}


@pytest.mark.contract("B1790", "B27")
@pytest.mark.parametrize("which", FOREIGN)
@pytest.mark.parametrize("end", ENDS)
def test_what_others_do_in_place_of_our_restoration_is_theirs(
    proxy: Proxy, end: str, which: str
) -> None:
    """Nothing of ours is written any more, whatever field manager they write as."""
    found: list[JSON] = []

    def act() -> None:
        FOREIGN[which](proxy.scene)
        found.append(read_spec(proxy.scene))

    result = fail_over(proxy, end, instead(act))
    assert_ended(result, 8, "superseded", "Superseded")
    assert found == [read_spec(proxy.scene)]


@pytest.mark.contract("B1790", "B27")
@pytest.mark.parametrize(("end", "reason"), [("lost", "Deleted"), ("killed", "Superseded")])
def test_what_was_made_again_is_not_our_restoration(proxy: Proxy, end: str, reason: str) -> None:
    """It is another object, though all in its template is as the restoration would leave it."""
    result = fail_over(proxy, end, instead(lambda: make_again(proxy.scene)))
    assert_ended(result, 8, "superseded", reason)
    assert read_spec(proxy.scene)["minReadySeconds"] == 33


@pytest.mark.contract("B1790", "B27")
@pytest.mark.parametrize("which", ["another-run", "kubectl"])
@pytest.mark.parametrize("end", ENDS)
def test_what_others_make_of_the_rewritten_restoration_is_theirs(
    proxy: Proxy, end: str, which: str
) -> None:
    """They changed the very field that admission had set."""
    result = fail_over(proxy, end, once_done(lambda: FOREIGN[which](proxy.scene)))
    assert_ended(result, 8, "superseded", "Superseded")
    image = "shop/web:3" if which == "another-run" else "shop/web:9"
    assert image_of(read_spec(proxy.scene)["template"]) == image


@pytest.mark.contract("B1790")
@pytest.mark.parametrize("end", ENDS)
def test_a_rewriting_that_spares_dry_runs_shows_nothing(proxy: Proxy, end: str) -> None:
    """Nobody can tell it from a version that another run has applied: 8."""
    result = fail_over(proxy, end, loses, when=IN_EARNEST)
    assert_ended(result, 8, "superseded", "Superseded")


@pytest.mark.contract("B1790")
def test_a_restoration_that_cannot_be_tried_shows_nothing(proxy: Proxy) -> None:
    """A webhook that supports no dry run has come as well: 8."""

    def returning(request: Request, handle: Handle) -> Answer:
        proxy.on(is_tried, says(WITHOUT_DRY_RUN))
        return loses(request, handle)

    result = fail_over(proxy, "lost", returning)
    assert_ended(result, 8, "superseded", "Superseded")
    assert any(map(is_dry_run, proxy.met))


@pytest.mark.contract("B1790", "B27")
def test_a_run_without_a_lock_that_follows_a_dead_gate_is_not_taken_back(proxy: Proxy) -> None:
    """Its version has our field manager, and runs on after the recovery."""
    scene = proxy.scene
    assert_verified(scene.apply(web()))
    with proxy.policies.rewriting("deployments", "shop/web:1", OTHER):
        with scene.applying(web(2, behaviour=CRASH), flags=BUDGETS) as running:

            def die(request: Request, handle: Handle) -> Answer:
                running.kill()
                return breaks(request, handle)

            proxy.on(nth(2, writes(WEB)), die)
            running.wait()
        proxy.rest()
        assert_verified(scene.apply(web(3), flags=["--no-lock"]))
        assert_ended(recover(scene), 8, "superseded", "Superseded")
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.contract("B1790", "B1826")
@pytest.mark.parametrize("end", ENDS)
def test_who_scales_our_restoration_does_not_make_it_theirs(proxy: Proxy, end: str) -> None:
    """The number is theirs and stays; the server would not take ours without force."""
    scene = proxy.scene

    def scale() -> None:
        scene.kubectl("scale", "deployment/web", "--replicas=3", check=True)

    result = fail_over(proxy, end, once_done(scale))
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", running="other")
    assert "NotRestored" in {cause["reason"] for cause in ended["causes"]}
    assert read_spec(scene)["replicas"] == 3


@pytest.mark.contract("B1826", "B27")
def test_what_was_never_written_was_not_returned(proxy: Proxy) -> None:
    """The server refused its new version: whatever is there now, no way back has made it."""
    scene = proxy.scene
    assert_verified(scene.apply(web(name="api"), web()))
    proxy.on(writes(WEB), says(REFUSED))
    with scene.applying(web(2, name="api"), web(2), flags=BUDGETS) as running:
        proxy.on(nth(2, writes("/deployments/api")), kills(running))
        running.wait()
    proxy.rest()
    with proxy.policies.rewriting("deployments", "shop/web:1", OTHER):
        apply_as_another_run(scene, web())
        result = recover(scene)
    ends = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert ends == {"api": "rolled-back", "web": "superseded"}
    assert result.exit_code == 8
