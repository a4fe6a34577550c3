"""What the schemas say of the served kinds."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from sandbox.schema import server_version
from tests.cluster.schemas import text

DATA = files("sandbox.schema").joinpath("openapi.json")


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
