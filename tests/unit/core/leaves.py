"""Bodies of objects as leaves, paths with values: what the model of the API server is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gate.core.model.objects import Ref
from tests.unit.core import world

Leaves = dict[str, Any]
_STEP = re.compile(r'\.?([^.\[]+)(?:\[name="([^"]+)"\])?')

IMAGE = 'spec.template.spec.containers[name="web"].image'
"""The leaf that a changed image is."""


def leaves_of(value: Any, path: str = "") -> Leaves:
    """Take a body apart; items of lists are known by their name."""
    found: Leaves = {}
    if isinstance(value, Mapping):
        for key, inner in value.items():
            found |= leaves_of(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for item in value:
            found |= leaves_of(item, f'{path}[name="{item["name"]}"]')
    else:
        found[path] = value
    return found


def nested(leaves: Leaves) -> dict[str, Any]:
    """Put a body together again."""
    root: dict[str, Any] = {}
    for path, value in leaves.items():
        at, steps = root, list(_STEP.findall(path))
        for key, name in steps[:-1]:
            at = _item(at, key, name) if name else at.setdefault(key, {})
        at[steps[-1][0]] = value
    return root


def _item(at: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    items: list[dict[str, Any]] = at.setdefault(key, [])
    for item in items:
        if item.get("name") == name:
            return item
    items.append({"name": name})
    return items[-1]


def tree_of(value: Any) -> dict[str, Any]:
    """Return the FieldsV1 tree of a body."""
    if isinstance(value, Mapping):
        return {f"f:{key}": tree_of(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return {f'k:{{"name":"{item["name"]}"}}': tree_of(item) for item in value}
    return {}


def ref_of(body: Mapping[str, Any]) -> Ref:
    """Return the identity of a body."""
    metadata = body["metadata"]
    return Ref(body["apiVersion"], body["kind"], metadata["namespace"], metadata["name"])


def spec_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a body is content: not its identity."""
    rest = {key: value for key, value in body.items() if key not in ("apiVersion", "kind")}
    names = ("name", "namespace", "uid", "resourceVersion", "generation")
    metadata = {key: value for key, value in body["metadata"].items() if key not in names}
    return {**rest, "metadata": metadata} if metadata else {**rest, "metadata": {}}


def manifest(image: str, name: str = "web", **spec: Any) -> dict[str, Any]:
    """Return a Deployment as its owner writes it, with 4 replicas."""
    pods = {"spec": {"containers": [{"name": "web", "image": f"shop/web:{image}"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": world.NAMESPACE},
        "spec": {"replicas": 4, "template": pods, **spec},
    }


def config(value: str, name: str = "settings") -> dict[str, Any]:
    """Return a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": world.NAMESPACE},
        "data": {"mode": value},
    }
