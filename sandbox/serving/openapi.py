"""The OpenAPI v3 documents: an index, and one document a group version."""

from __future__ import annotations

import hashlib
from functools import cache

from sandbox.json import JSON
from sandbox.kinds import RESOURCES, Resource
from sandbox.schema.definitions import (
    definition_name,
    definitions,
    reference_of,
    server_version,
)
from sandbox.serving.request import JSON_TYPE, Answer, Request, text_answer, to_json

ROOT = "/openapi/v3"

_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")
"""What a patch takes beside its body: clients look for it before they use it."""


def openapi_answer(request: Request) -> Answer:
    """Answer a path below `/openapi/v3`."""
    path = request.path.rstrip("/").removeprefix(ROOT).strip("/")
    if not path:
        return Answer(200, _index(), {"content-type": JSON_TYPE})
    found = _documents().get(path)
    if found is None:
        return text_answer(404, "404 page not found\n")
    tag = f'"{_hash(found)}"'
    if request.headers.get("if-none-match") == tag:
        return Answer(304, b"", {"etag": tag})
    headers = {"content-type": JSON_TYPE, "etag": tag, "cache-control": "public, immutable"}
    return Answer(200, found, headers)


@cache
def _index() -> bytes:
    paths = {
        path: {"serverRelativeURL": f"{ROOT}/{path}?hash={_hash(document)}"}
        for path, document in _documents().items()
    }
    return to_json({"paths": paths})


@cache
def _documents() -> dict[str, bytes]:
    places: dict[str, list[Resource]] = {}
    for resource in RESOURCES:
        places.setdefault(_place(resource), []).append(resource)
    return {place: to_json(_document(kinds)) for place, kinds in sorted(places.items())}


def _place(resource: Resource) -> str:
    return f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"


def _document(kinds: list[Resource]) -> JSON:
    names = [definition_name(each.group, each.version, each.kind) for each in kinds]
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": server_version()},
        "paths": {path: item for each in kinds for path, item in _paths(each).items()},
        "components": {"schemas": _collect_definitions([name for name in names if name])},
    }


def _paths(resource: Resource) -> JSON:
    scope = "namespaces/{namespace}/" if resource.namespaced else ""
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    patch = {
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": kind,
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
            for name in _PARAMETERS
        ],
        "responses": {"200": {"description": "OK"}},
    }
    path = f"/{_place(resource)}/{scope}{resource.plural}"
    return {f"{path}/{{name}}": {"patch": patch}}


def _collect_definitions(names: list[str]) -> JSON:
    """Return the definitions with everything that they refer to."""
    found: JSON = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = definitions()[name]
            waiting += _references(found[name])
    return dict(sorted(found.items()))


def _references(schema: JSON) -> list[str]:
    direct = reference_of(schema)
    inner = [*schema.get("properties", {}).values()]
    inner += [
        schema[name] for name in ("items", "additionalProperties") if _is_schema(schema, name)
    ]
    nested = [name for each in inner for name in _references(each)]
    return [direct, *nested] if direct else nested


def _is_schema(schema: JSON, name: str) -> bool:
    return isinstance(schema.get(name), dict)


def _hash(document: bytes) -> str:
    return hashlib.sha512(document).hexdigest().upper()
