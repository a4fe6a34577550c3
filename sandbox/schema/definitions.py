"""The definitions of the API's types, read once from the data file.

`openapi.json` is written by `python -m tests.cluster.schemas` from a real server. It holds
`server` (its version) and `schemas`: the OpenAPI v3 definitions by name, as `components.schemas` of
the server's documents has them, without descriptions. A property that refers to a definition is
`{"allOf": [{"$ref": "#/components/schemas/NAME"}], ...}` with its own default and extensions beside
it. A kind's definition carries `x-kubernetes-group-version-kind`, one entry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sandbox.json import JSON

REFERENCE = "#/components/schemas/"
KINDS = "x-kubernetes-group-version-kind"


@cache
def _document() -> JSON:
    text = files("sandbox.schema").joinpath("openapi.json").read_text(encoding="utf-8")
    document: JSON = json.loads(text)
    return document


def server_version() -> str:
    """Return the version of the server that the definitions are of, as `v1.36.3`."""
    version: str = _document()["server"]
    return version


def definitions() -> Mapping[str, JSON]:
    """Return every definition by its name; nobody may change them."""
    found: Mapping[str, JSON] = _document()["schemas"]
    return found


@cache
def _by_kind() -> Mapping[tuple[str, str, str], str]:
    return {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, schema in definitions().items()
        for kind in schema.get(KINDS, ())
    }


def definition_name(group: str, version: str, kind: str) -> str | None:
    """Return the definition of a kind, None for a kind that is not served."""
    return _by_kind().get((group, version, kind))


def reference_of(schema: Mapping[str, Any]) -> str | None:
    """Return the name of the definition that a property or an item refers to."""
    inner = schema["allOf"][0] if len(schema.get("allOf", ())) == 1 else schema
    reference: str | None = inner.get("$ref")
    return reference.removeprefix(REFERENCE) if reference else None
