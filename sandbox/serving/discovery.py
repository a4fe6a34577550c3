"""Which kinds there are: discovery as one document, and their schemas (OpenAPI v3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache

from sandbox.access.authorizer import REVIEWS
from sandbox.json import JSON
from sandbox.kinds import RESOURCES, Resource
from sandbox.schema import (
    definition_name,
    definitions,
    reference_of,
    server_version,
)
from sandbox.serving.request import JSON_TYPE, Answer, Request, text_answer, to_json

GROUPS = (
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "coordination.k8s.io",
)
"""The named groups in the server's order, by which clients resolve what two groups call alike."""

AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_READ_WRITE = ["get", "patch", "update"]
_SUBRESOURCES: Mapping[str, JSON] = {
    "eviction": {"group": "policy", "version": "v1", "kind": "Eviction", "verbs": ["create"]},
    "finalize": {"verbs": ["update"]},
    "log": {"verbs": ["get"]},
    "scale": {"group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": _READ_WRITE},
    "status": {"verbs": _READ_WRITE},
}
"""What differs from the kind itself; the rest is as the kind says."""


def list_served_kinds(group: str, version: str) -> list[Resource]:
    """Return the kinds of a group's version by their plurals, empty where it is not served."""
    found = [each for each in _all() if (each.group, each.version) == (group, version)]
    return sorted(found, key=lambda each: each.plural)


def is_group(group: str) -> bool:
    """Whether a group is served, in whatever version; the core group is the empty name."""
    return any(each.group == group for each in _all())


def subresource_verbs(subresource: str) -> list[str]:
    """Return what can be done with a subresource."""
    return list(_SUBRESOURCES[subresource]["verbs"])


def aggregate_groups(names: Iterable[str]) -> JSON:
    """Return `APIGroupDiscoveryList` of groups: all that discovery knows in one document."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(name) for name in names],
    }


def _all() -> tuple[Resource, ...]:
    return (*RESOURCES, *REVIEWS)


def _aggregated_group(name: str) -> JSON:
    served = sorted({each.version for each in _all() if each.group == name}, reverse=True)
    versions = [
        {
            "version": version,
            "resources": [_aggregate_kind(each) for each in list_served_kinds(name, version)],
            "freshness": "Current",
        }
        for version in served
    ]
    return {"metadata": {"name": name} if name else {}, "versions": versions}


def _aggregate_kind(resource: Resource) -> JSON:
    row: JSON = {
        "resource": resource.plural,
        "responseKind": _kind({}, resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)
    if resource.subresources:
        row["subresources"] = [
            {
                "subresource": name,
                "responseKind": _kind(_SUBRESOURCES[name], resource),
                "verbs": list(_SUBRESOURCES[name]["verbs"]),
            }
            for name in sorted(resource.subresources)
        ]
    return row


def _kind(shown: JSON, resource: Resource) -> JSON:
    return {
        "group": shown.get("group", ""),
        "version": shown.get("version", ""),
        "kind": shown.get("kind", resource.kind),
    }


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
    return Answer(200, found, {"content-type": JSON_TYPE, "cache-control": "public, immutable"})


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
    parts = [schema.get(name) for name in ("items", "additionalProperties")]
    inner += [part for part in parts if isinstance(part, dict)]
    nested = [name for each in inner for name in _references(each)]
    return [direct, *nested] if direct else nested


def _hash(document: bytes) -> str:
    return hashlib.sha512(document).hexdigest().upper()
