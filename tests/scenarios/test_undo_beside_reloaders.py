"""What `undo` chooses where a reloader has changed the version that runs."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.scene import settings, web
from tests.scenarios.proxy import Proxy
from tests.scenarios.test_reloaders import reload, reload_on_changes
from tests.scenarios.versions import CRASH, mode, undo

pytestmark = pytest.mark.sandbox_only("what a lock remembers, and who acts between two requests")


@pytest.mark.contract("B1763", "B703")
@pytest.mark.parametrize("since", [1, 2, 3], ids=["always", "since-2", "since-the-bad"])
def test_an_undo_after_a_way_back_goes_to_another_version(proxy: Proxy, since: int) -> None:
    """What runs is the verified version, whatever the reloader has set in it since."""
    scene = proxy.scene
    for number in (1, 2):
        assert_verified(scene.apply(settings(str(number)), web(number)))
        if number == since:
            reload_on_changes(proxy)
    if since > 2:
        reload_on_changes(proxy)
    assert_rolled_back(scene.apply(settings("3"), web(3, behaviour=CRASH)), "CrashLoop")
    assert mode(scene) == "2"
    result = undo(scene)
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B1763", "B1754")
def test_an_undo_without_another_version_names_what_the_reloader_set(proxy: Proxy) -> None:
    """The only other revision is the same version without it."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("1"), web(1)))
    reload_on_changes(proxy)
    assert_rolled_back(scene.apply(settings("2"), web(2, behaviour=CRASH)), "CrashLoop")
    assert_refused(undo(scene), "Conflict", "would not change", "(reloader)")
    assert mode(scene) == "1"


@pytest.mark.contract("B1763", "B1690")
def test_another_image_of_somebody_else_makes_another_version(proxy: Proxy) -> None:
    """Our manager has applied the same of both: the undo goes to the image of before."""
    unnamed = web(1)
    del unnamed["spec"]["template"]["spec"]["containers"][0]["image"]
    scene = proxy.scene
    assert_verified(scene.apply(web(1)))
    for tag in (7, 8):
        container = {"name": "web", "image": f"shop/web:{tag}"}
        reload(scene, {"spec": {"template": {"spec": {"containers": [container]}}}})
        scene.objects.wait_complete("web")
        assert_verified(scene.apply(unnamed), "NoChange")
    assert_verified(undo(scene, "--take-over", "reloader"))
    assert_runs(scene.objects, "shop/web:7")
