"""What an apply changed: paths that people know, and no secret."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.body import Body
from gate.report.document.changes import MOST_PATHS, changed_paths

Change = tuple[str, str | None, str | None]


def changes(kind: str, before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """Return the changes between two states of an object."""
    head = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web", "namespace": "shop"}}
    found = changed_paths(Body.of({**head, **before}), Body.of({**head, **after}))
    return [(one["path"], one["before"], one["after"]) for one in found]


def template(**container: Any) -> dict[str, Any]:
    """Return the spec of a Deployment with one container."""
    containers = [{"name": "web", "image": "web:1", **container}]
    return {"spec": {"template": {"spec": {"containers": containers}}}}


PLACE = "spec.template.spec.containers[name=web]"


LAST = "kubectl.kubernetes.io/last-applied-configuration"
ENV = [{"name": "TOKEN", "value": "canary-one"}, {"name": "B", "value": "canary-two"}]
OTHER_ENV = [{"name": "TOKEN", "value": "canary-three"}, {"name": "C", "value": "canary-four"}]
DATA = ({"data": {"a.b": "canary"}}, {"data": {"a.b": "canary2", "c": "canary"}})
MASKED = [('data["a.b"]', "masked", "masked"), ("data.c", None, "masked")]


@pytest.mark.contract("B567")
@pytest.mark.parametrize(
    ("kind", "before", "after", "found"),
    [
        pytest.param(
            "Deployment",
            template(env=ENV),
            template(env=OTHER_ENV),
            [
                (f"{PLACE}.env[name=TOKEN].value", "masked", "masked"),
                (f"{PLACE}.env[name=C].name", None, "C"),
                (f"{PLACE}.env[name=C].value", None, "masked"),
                (f"{PLACE}.env[name=B].name", "B", None),
                (f"{PLACE}.env[name=B].value", "masked", None),
            ],
            id="variables",
        ),
        pytest.param(
            "Deployment",
            template(args=["-p", "canary"]),
            template(args=["-p", "other"]),
            [(f"{PLACE}.args[1]", "masked", "masked")],
            id="arguments can hold passwords",
        ),
        *(pytest.param(kind, *DATA, MASKED, id=kind) for kind in ("Secret", "ConfigMap", "Widget")),
        pytest.param(
            "Deployment",
            {"metadata": {"name": "web", "resourceVersion": "1", "annotations": {LAST: "{}"}}},
            {"metadata": {"name": "web", "annotations": {LAST: "{1}"}}, "status": {"replicas": 3}},
            [],
            id="what only keeps books",
        ),
        pytest.param(
            "ConfigMap",
            {},
            {"data": {"a\n::error::\x1b[0m": "x"}},
            [('data["a : :error::"]', None, "masked")],
            id="a hostile key",
        ),
        pytest.param(
            "Deployment",
            {"spec": {"replicas": 2}},
            {"spec": {"replicas": 3, "paused": True}},
            [("spec.paused", None, "true"), ("spec.replicas", "2", "3")],
            id="numbers and switches",
        ),
    ],
)
def test_what_changed_is_told_and_no_secret(
    kind: str, before: dict[str, Any], after: dict[str, Any], found: list[Change]
) -> None:
    """Paths of items by their keys; of what may be secret that it changed, and no more."""
    assert changes(kind, before, after) == found


@pytest.mark.contract("B567")
def test_there_is_a_most() -> None:
    """A page has an end."""
    before = {"data": {str(n): "a" for n in range(500)}}
    after = {"data": {str(n): "b" for n in range(500)}}
    assert len(changes("ConfigMap", before, after)) == MOST_PATHS
