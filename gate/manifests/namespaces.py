"""Fill in the namespace of objects that name none, as kubectl does."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet

from gate.manifests.manifest import Manifest, ManifestObject, refuse_duplicates
from gate.manifests.source import ManifestError

NO_KINDS: AbstractSet[tuple[str, str]] = frozenset()


def in_namespace(
    manifest: Manifest,
    namespace: str,
    *,
    enforced: bool,
    cluster_scoped: AbstractSet[tuple[str, str]] = NO_KINDS,
) -> Manifest:
    """Return the manifest with `namespace` in each namespaced object that names none.

    If `enforced` (the namespace is from a flag, not just the context's default), an object that
    names another one is a ManifestError, as with kubectl. `cluster_scoped` are the (group, kind)
    pairs of custom kinds that the server says have no namespace; other custom kinds are taken to
    have one.
    """
    objects = tuple(
        _with_namespace(item, namespace, enforced=enforced)
        if _is_namespaced(item, cluster_scoped)
        else item
        for item in manifest.objects
    )
    refuse_duplicates(objects)
    return dataclasses.replace(manifest, objects=objects)


def _is_namespaced(item: ManifestObject, cluster_scoped: AbstractSet[tuple[str, str]]) -> bool:
    if item.known_kind is not None:
        return item.known_kind.namespaced
    return (item.group, item.kind) not in cluster_scoped


def _with_namespace(item: ManifestObject, namespace: str, *, enforced: bool) -> ManifestObject:
    if item.namespace is None:
        metadata = {**item.body["metadata"], "namespace": namespace}
        return dataclasses.replace(
            item, namespace=namespace, body={**item.body, "metadata": metadata}
        )
    if enforced and item.namespace != namespace:
        problem = f"{item} belongs to namespace {item.namespace}, not to {namespace}"
        hint = f"use --namespace {item.namespace}, or take metadata.namespace out of the manifest"
        raise ManifestError(item.source, problem, hint=hint)
    return item
