"""What an apply changed: paths that people know, and no secret."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.body import Body
from gate.report.document.changes import MOST_PATHS, changed_paths
from tests.unit.report.results import told

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


@pytest.mark.contract("B567")
def test_the_value_of_a_variable_is_masked() -> None:
    """That it changed is told, and nothing of what it is."""
    env = [{"name": "TOKEN", "value": "canary-one"}, {"name": "B", "value": "canary-two"}]
    other = [{"name": "TOKEN", "value": "canary-three"}, {"name": "C", "value": "canary-four"}]
    found = changes("Deployment", template(env=env), template(env=other))
    assert found == [
        (f"{PLACE}.env[name=TOKEN].value", "masked", "masked"),
        (f"{PLACE}.env[name=C].name", None, "C"),
        (f"{PLACE}.env[name=C].value", None, "masked"),
        (f"{PLACE}.env[name=B].name", "B", None),
        (f"{PLACE}.env[name=B].value", "masked", None),
    ]
    assert "canary" not in str(found)


@pytest.mark.contract("B567")
@pytest.mark.parametrize("kind", ["Secret", "ConfigMap", "Widget"])
def test_the_data_of_a_kind_that_may_hold_secrets_is_masked(kind: str) -> None:
    """The keys are told."""
    found = changes(kind, {"data": {"a.b": "canary"}}, {"data": {"a.b": "canary2", "c": "canary"}})
    assert found == [('data["a.b"]', "masked", "masked"), ("data.c", None, "masked")]


@pytest.mark.contract("B567")
def test_a_command_line_is_masked_item_by_item() -> None:
    """Arguments can hold passwords."""
    found = changes("Deployment", template(args=["-p", "canary"]), template(args=["-p", "other"]))
    assert found == [(f"{PLACE}.args[1]", "masked", "masked")]


@pytest.mark.contract("B567")
def test_what_only_keeps_books_is_no_change() -> None:
    """Status, versions, managed fields, and kubectl's copy of the manifest."""
    last = "kubectl.kubernetes.io/last-applied-configuration"
    before = {"metadata": {"name": "web", "resourceVersion": "1", "annotations": {last: "{}"}}}
    after = {"metadata": {"name": "web", "resourceVersion": "2", "annotations": {last: "{1}"}},
             "status": {"replicas": 3}}  # fmt: skip
    assert changes("Deployment", before, after) == []


@pytest.mark.contract("B567")
def test_there_is_a_most() -> None:
    """A page has an end."""
    before = {"data": {str(n): "a" for n in range(500)}}
    after = {"data": {str(n): "b" for n in range(500)}}
    assert len(changes("ConfigMap", before, after)) == MOST_PATHS


@pytest.mark.contract("B567")
def test_hostile_keys_stand_on_one_line() -> None:
    """A key of a ConfigMap may be anything."""
    ((path, _, _),) = changes("ConfigMap", {}, {"data": {"a\n::error::\x1b[0m": "x"}})
    assert path == 'data["a : :error::"]'


@pytest.mark.contract("B567")
def test_the_document_has_them() -> None:
    """Also after the way back: it is what was tried."""
    objects = {item["kind"]: item["changes"] for item in told("rolled-back")["objects"]}
    assert [one["path"] for one in objects["ConfigMap"]] == ["data.mode"]
    assert [one["after"] for one in objects["Deployment"]] == ["shop/web:2"]
    assert all(not item["changes"] for item in told("first-failed")["objects"])


@pytest.mark.contract("B567")
def test_numbers_and_switches_are_shown() -> None:
    """As JSON writes them; what is new has no before."""
    before, after = {"spec": {"replicas": 2}}, {"spec": {"replicas": 3, "paused": True}}
    assert changes("Deployment", before, after) == [
        ("spec.paused", None, "true"), ("spec.replicas", "2", "3"),
    ]  # fmt: skip
