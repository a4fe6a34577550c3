"""What the schemas say of the served kinds."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from sandbox.kinds import BY_KEY
from sandbox.schema import Field, Shape, schema_of
from sandbox.schema.types import server_version
from tests.cluster.schemas import text

DATA = files("sandbox.schema").joinpath("openapi.json")


def at(resource: str, *path: str) -> Field:
    """Return the field at a path of names; lists are passed through."""
    kind = schema_of(BY_KEY[resource]).type
    for name in path[:-1]:
        below = kind.fields[name].type
        kind = below.element if below.shape is Shape.LIST and below.element else below
    return kind.fields[path[-1]]


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (("spec", "template", "spec", "containers"), ("name",)),
        (("spec", "template", "spec", "containers", "ports"), ("containerPort", "protocol")),
        (("spec", "template", "spec", "volumes"), ("name",)),
        (("metadata", "finalizers"), ()),
        (("status", "conditions"), ("type",)),
    ],
)
def test_an_associative_list_has_its_keys(path: tuple[str, ...], keys: tuple[str, ...]) -> None:
    """Lists of maps say what tells their items apart; a set's items are told by themselves."""
    found = at("deployments.apps", *path).type
    assert not found.is_atomic
    assert found.keys == keys


@pytest.mark.parametrize(
    "path",
    [
        ("spec", "selector"),
        ("spec", "template", "spec", "tolerations"),
        ("spec", "template", "spec", "nodeSelector"),
        ("spec", "template", "spec", "containers", "command"),
        ("spec", "template", "spec", "containers", "env", "valueFrom", "secretKeyRef"),
    ],
)
def test_what_is_atomic_is_one_value(path: tuple[str, ...]) -> None:
    """Selectors, tolerations and references have one owner as a whole."""
    assert at("deployments.apps", *path).type.is_atomic


def test_the_data_file_is_compact_and_deterministic() -> None:
    """The file has no prose, is small, and is what the generator writes of its content."""
    raw = DATA.read_text(encoding="utf-8")
    document = json.loads(raw)
    assert raw == text(document)
    assert len(raw) < 300_000
    assert server_version().startswith("v1.")
    assert not list(_prose(document["schemas"].values()))


def _prose(schemas: Any) -> Any:
    """Yield the descriptions of schemas; a property may be called so."""
    for schema in schemas:
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        yield from _prose(schema.get("properties", {}).values())
        yield from _prose(schema[name] for name in ("items",) if name in schema)
