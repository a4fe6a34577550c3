"""Hooks: they are asked before a write is stored, and may refuse or change it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.api.api import (
    Admission,
    Api,
    ApiError,
    Key,
    Operation,
    Patch,
    PatchType,
    Writer,
)
from sandbox.failure import forbidden
from sandbox.json import JSON

ME = Writer("alice", "kubectl")
CONFIG = Key("configmaps", "default", "c")


def test_a_hook_hears_of_every_write(api: Api) -> None:
    """What, where, by whom, from what to what, and whether for good."""
    heard: list[tuple[Operation, str, str, bool, bool, bool]] = []

    def hear(asked: Admission) -> None:
        heard.append(
            (
                asked.operation,
                asked.name,
                asked.by.user,
                asked.before is not None,
                asked.body is not None,
                asked.dry_run,
            )
        )

    api.admissions.append(hear)
    api.create("configmaps", "default", {"metadata": {"name": "c"}}, ME, dry_run=True)
    api.create("configmaps", "default", {"metadata": {"name": "c"}}, ME)
    api.patch(CONFIG, Patch(PatchType.MERGE, {"data": {"a": "b"}}), ME)
    api.delete(CONFIG, ME)
    assert heard == [
        (Operation.CREATE, "c", "alice", False, True, True),
        (Operation.CREATE, "c", "alice", False, True, False),
        (Operation.UPDATE, "c", "alice", True, True, False),
        (Operation.DELETE, "c", "alice", True, False, False),
    ]


def test_a_hook_refuses(api: Api) -> None:
    """What it raises is the answer, and nothing is stored."""

    def refuse(asked: Admission) -> None:
        raise forbidden(asked.resource.plural, asked.resource.group, asked.name, "quota")

    api.admissions.append(refuse)
    with pytest.raises(ApiError, match='configmaps "c" is forbidden: quota'):
        api.create("configmaps", "default", {"metadata": {"name": "c"}}, ME)
    assert api.store.get(CONFIG) is None


def test_a_mutation_changes_its_own_copy(api: Api, pod: Callable[..., JSON]) -> None:
    """What it adds gets its defaults, and nobody owns it; what was sent stays as it was."""

    def inject(asked: Admission) -> None:
        if asked.operation is Operation.CREATE and asked.body is not None:
            asked.body["spec"]["containers"].append({"name": "proxy", "image": "proxy:1"})

    api.mutations.append(inject)
    sent = pod()
    made = api.create("pods", "default", sent, ME)
    names = [container["name"] for container in made["spec"]["containers"]]
    assert names == ["web", "proxy"]
    assert made["spec"]["containers"][1]["terminationMessagePath"] == "/dev/termination-log"
    assert len(sent["spec"]["containers"]) == 1
    owned = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:containers"]
    assert set(owned) == {'k:{"name":"web"}'}


def test_a_mutation_does_not_touch_what_is_stored(
    api: Api, web: Key, deployment: Callable[..., JSON]
) -> None:
    """A hook gets a copy, also where the write shares nearly all with the live object."""
    live = api.create("deployments.apps", "default", deployment(), ME)

    def spoil(asked: Admission) -> None:
        if asked.body is not None:
            asked.body["spec"]["template"]["spec"]["nodeName"] = "spoilt"

    api.mutations.append(spoil)
    api.patch(web, Patch(PatchType.MERGE, {"spec": {"replicas": 5}}), ME, subresource="scale")
    assert "nodeName" not in live["spec"]["template"]["spec"]
    assert api.get(web)["spec"]["template"]["spec"]["nodeName"] == "spoilt"
