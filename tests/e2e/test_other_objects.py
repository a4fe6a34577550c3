"""What a manifest holds beside its workloads: definitions, namespaces, objects with conditions.

The sandbox serves no custom kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.bed.control_plane import ClusterUsers
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON, ApiError
from tests.e2e.conftest import WriteKubeconfig

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OPEN: JSON = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
PARTS: JSON = {"type": "object", "properties": {"spec": OPEN, "status": OPEN}}


def definition(group: str, plural: str = "widgets") -> JSON:
    """Return the definition of Widget, with a status, in a group of the test's own."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": PARTS},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Widget", "plural": plural},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def widget(group: str, size: int = 1) -> JSON:
    """Return a Widget."""
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Widget",
        "metadata": {"name": "one"},
        "spec": {"size": size},
    }


def path_of(scene: Scene, group: str) -> str:
    """Return the path of the Widget."""
    return f"/apis/{group}/v1/namespaces/{scene.objects.namespace}/widgets/one"


def allowed(group: str, *more: str) -> tuple[str, ...]:
    """Return the flags with which the gate takes these kinds, and `more`."""
    kinds = ("CustomResourceDefinition", "Namespace", f"Widget.{group}")
    return (*(word for kind in kinds for word in ("--allow-kind", kind)), *more)


@pytest.fixture
def group(scene: Scene) -> Iterator[str]:
    """Return an API group of the test's own, whose definitions go with the test."""
    group = f"{scene.objects.namespace}.example.com"
    yield group
    for plural in ("widgets", "gadgets"):
        with suppress(ApiError):
            scene.client.json("DELETE", f"{DEFINITIONS}/{plural}.{group}")


@pytest.mark.contract("B982", "B991")
def test_a_definition_and_its_object_are_applied_in_one_go(scene: Scene, group: str) -> None:
    """The object is written once its kind is served; that it was not tried before is said."""
    manifest = scene.manifest(widget(group), settings("one"), web(), definition(group))
    result = scene.gate("apply", "-f", manifest, *allowed(group))
    assert result.exit_code == 0, str(result)
    assert "widget/one was not tried: its kind is served only once its definition" in result.stderr
    assert scene.client.json("GET", path_of(scene, group))["spec"] == {"size": 1}


@pytest.mark.contract("B983", "B992")
def test_a_definition_that_is_never_served_ends_the_apply(scene: Scene, group: str) -> None:
    """Its names are taken: what was written goes back, but the definition stays."""
    scene.serve(settings("one"), web())
    first = scene.apply(definition(group), flags=allowed(group))
    assert first.exit_code == 0, str(first)
    bodies = (definition(group, "gadgets"), settings("two"), widget(group), web(2))
    result = scene.apply(*bodies, flags=allowed(group, "--prune-created"))
    assert result.exit_code == 4, str(result)
    assert json.loads(result.stdout)["reason"] == "ApplyRejected"
    assert "NamesAccepted is False" in result.stdout
    kept = f"customresourcedefinition/gadgets.{group} was not deleted: all objects of its kind"
    assert kept in result.stdout
    assert scene.client.json("GET", f"{DEFINITIONS}/gadgets.{group}")
    assert scene.objects.get("configmaps", "settings")["data"]["mode"] == "one"


@pytest.mark.contract("B982")
def test_a_namespace_and_what_is_in_it_are_applied_in_one_go(
    scene: Scene, users: ClusterUsers, write_kubeconfig: WriteKubeconfig
) -> None:
    """Its objects are written once it is there; the invariants look at one namespace alone."""
    name = f"{scene.objects.namespace}-own"
    bodies = [settings("one"), web()]
    for body in bodies:
        body["metadata"]["namespace"] = name
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    program, _ = users.program(write_kubeconfig())
    try:
        path = scene.manifest(*bodies, space)
        result = program("apply", "-f", path, "--allow-kind", "Namespace")
        assert result.exit_code == 0, str(result)
    finally:
        scene.objects.delete("namespaces", name)
