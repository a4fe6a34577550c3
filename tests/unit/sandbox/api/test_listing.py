"""List and watch: which version is asked for, and what the server says where it cannot be had."""

from __future__ import annotations

import pytest

from sandbox.api.api import Api, Key, ListOptions, Writer

ME = Writer("alice", "kubectl")


@pytest.fixture(autouse=True)
def _configs(api: Api) -> None:
    """Have three ConfigMaps there."""
    for index, name in enumerate("abc"):
        body = {"metadata": {"name": name, "labels": {"i": str(index)}}, "data": {"x": "1"}}
        api.create("configmaps", "default", body, ME)


def test_a_list_has_a_type_and_its_items_have_none(api: Api) -> None:
    """As the server writes it, with the version at which it was read."""
    found = api.list("configmaps")
    assert (found["kind"], found["apiVersion"]) == ("ConfigMapList", "v1")
    assert found["metadata"] == {"resourceVersion": str(api.store.version)}
    assert set(found["items"][0]) == {"metadata", "data"}


def test_a_list_can_be_narrowed(api: Api) -> None:
    """By labels and by fields."""
    found = api.list("configmaps", labels="i in (0,1)", fields="metadata.name!=a")
    assert [item["metadata"]["name"] for item in found["items"]] == ["b"]
    assert api.list("configmaps", "kube-system")["items"] == []
    assert api.list("configmaps", "nowhere")["items"] == []


def test_a_watch_tells_writes_through_the_api(api: Api) -> None:
    """From the list's version on."""
    version = api.list("configmaps")["metadata"]["resourceVersion"]
    watch = api.watch("configmaps", "default", options=ListOptions(resource_version=version))
    api.delete(Key("configmaps", "default", "a"), ME)
    (event,) = watch.take()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "a")
    assert event["object"]["metadata"]["resourceVersion"] == str(api.store.version)
