"""Namespaces: those of every cluster, and the way out of one."""

from __future__ import annotations

import pytest

from sandbox.api.api import Api, ApiError, Key, Patch, PatchType, Writer
from sandbox.json import JSON

ME = Writer("alice", "kubectl")
SHOP = Key("namespaces", "", "shop")


@pytest.fixture
def shop(api: Api) -> JSON:
    """Return a namespace."""
    return api.create("namespaces", "", {"metadata": {"name": "shop"}}, ME)


def config(api: Api, namespace: str) -> JSON:
    """Create a ConfigMap."""
    return api.create("configmaps", namespace, {"metadata": {"name": "c"}}, ME)


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_stay(api: Api, name: str) -> None:
    """403."""
    with pytest.raises(ApiError) as caught:
        api.delete(Key("namespaces", "", name), ME)
    assert (caught.value.status, caught.value.message) == (
        403,
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


def test_a_terminating_namespace_takes_nothing_in(api: Api, shop: JSON) -> None:
    """403 with the cause that clients look for; what is there may be changed."""
    there = Key("configmaps", "shop", "c")
    config(api, "shop")
    api.delete(SHOP, ME)
    with pytest.raises(ApiError) as caught:
        api.create("configmaps", "shop", {"metadata": {"name": "d"}}, ME)
    assert caught.value.status == 403
    assert caught.value.message == (
        'configmaps "d" is forbidden: unable to create new content in namespace shop because it is'
        " being terminated"
    )
    assert caught.value.details["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace shop is being terminated",
            "field": "metadata.namespace",
        }
    ]
    changed = api.patch(there, Patch(PatchType.MERGE, {"data": {"a": "b"}}), ME)
    assert changed["data"] == {"a": "b"}
