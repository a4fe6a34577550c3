"""Discovery: which kinds there are, as one document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from sandbox.access.reviews import REVIEWS
from sandbox.json import JSON
from sandbox.kinds import RESOURCES, Resource
from sandbox.serving.request import to_json

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

REVIEWED = tuple(
    Resource(
        group=review.api_version.partition("/")[0],
        version=review.api_version.partition("/")[2],
        plural=review.plural,
        kind=review.kind,
        namespaced=False,
        verbs=("create",),
    )
    for review in REVIEWS
)
"""Kinds that are answered and not kept."""

_READ_WRITE = ["get", "patch", "update"]
_SUBRESOURCES: Mapping[str, JSON] = {
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


def etag(document: JSON) -> str:
    """Return what a client's cache compares."""
    return f'"{hashlib.sha512(to_json(document)).hexdigest().upper()}"'


def _all() -> tuple[Resource, ...]:
    return (*RESOURCES, *REVIEWED)


def _versions(name: str) -> list[str]:
    return sorted({each.version for each in _all() if each.group == name}, reverse=True)


def _aggregated_group(name: str) -> JSON:
    versions = [
        {
            "version": version,
            "resources": [_aggregate_kind(each) for each in list_served_kinds(name, version)],
            "freshness": "Current",
        }
        for version in _versions(name)
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
