"""What a dead gate left over two namespaces, of which one was deleted since."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_runs
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.two_namespaces import both, delete_namespace, die_over_two_namespaces

pytestmark = pytest.mark.sandbox_only("what locks remember of a namespace that went")


GONE = "deleted with namespace stage: deployment/api, configmap/settings"


def _is_another(namespace: JSON) -> bool:
    return bool(namespace["metadata"]["name"] != "stage")


def make_again(scene: Scene) -> None:
    """Make the namespace again, once the one before is gone."""
    scene.objects.wait("namespaces", lambda found: all(map(_is_another, found)))
    scene.objects.create("namespaces", {"metadata": {"name": "stage"}})


@pytest.mark.contract("B1391", "B1392", "B1502")
@pytest.mark.parametrize(
    ("how", "is_made_again"),
    [("recover", False), ("undo", False), ("apply", False), ("recover", True)],
)
def test_what_is_left_beside_a_deleted_namespace_goes_back(
    scene: Scene, program: PlayedGate, how: str, is_made_again: bool
) -> None:
    """Its objects are gone, and so is the Lease there: the rest is finished, by one set.

    Also where somebody has made the namespace again since.
    """
    die_over_two_namespaces(scene, program, "stage")
    delete_namespace(scene, "stage")
    if is_made_again:
        make_again(scene)
    if how == "apply":
        result = program("apply", "-f", scene.manifest(settings("three"), web(3)))
        assert_runs(scene.objects, "shop/web:3")
    else:
        result = program(how, "web")
        assert_runs(scene.objects, "shop/web:1")
        assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
    assert result.exit_code == (0 if how == "apply" else 4), str(result)
    assert f"{GONE}; what the attempt left elsewhere is finished" in result.stderr
    assert "without a lock" not in result.stderr
    assert "no record of an unfinished attempt was found" in program("recover").stderr


def lose_what_two_versions_had(scene: Scene, program: PlayedGate) -> None:
    """Verify two versions with something in another namespace, which is then deleted."""
    scene.objects.create("namespaces", {"metadata": {"name": "stage"}})
    for version, mode in ((1, "one"), (2, "two")):
        done = program("apply", "-f", scene.manifest(*both("stage", version, mode)))
        assert done.exit_code == 0, str(done)
    delete_namespace(scene, "stage")


@pytest.mark.contract("B1392", "B1602")
@pytest.mark.parametrize("is_made_again", [False, True])
@pytest.mark.parametrize("flags", [("--dry-run",), ()], ids=["dry-run", "undo"])
def test_an_undo_leaves_out_what_went_with_a_deleted_namespace(
    scene: Scene, program: PlayedGate, flags: tuple[str, ...], *, is_made_again: bool
) -> None:
    """The set was verified with it: the rest returns whole, under its lock."""
    lose_what_two_versions_had(scene, program)
    if is_made_again:
        make_again(scene)
    result = program("undo", "web", *flags)
    assert result.exit_code == 0, str(result)
    assert f"{GONE}; an undo does not bring that back" in result.stderr
    assert "with it goes back: configmap/settings" in result.stderr
    assert "without a lock" not in result.stderr
    if not flags:
        assert_runs(scene.objects, "shop/web:1")
        assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}


@pytest.mark.contract("B1602")
def test_a_namespace_in_which_something_is_as_it_was_has_not_gone(
    scene: Scene, program: PlayedGate
) -> None:
    """Whatever the clocks say: they are the server's and a gate's."""
    lose_what_two_versions_had(scene, program)
    make_again(scene)
    assert program("apply", "-f", scene.manifest(both("stage", 2, "two")[0])).exit_code == 0
    result = program("undo", "web", "--dry-run")
    assert result.exit_code == 0, str(result)
    assert "deleted with namespace" not in result.stderr
