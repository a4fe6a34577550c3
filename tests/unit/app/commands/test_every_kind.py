"""The commands about one workload, for every kind that they take."""

from __future__ import annotations

import pytest
import yaml

from gate.core.model.objects import SUBDOMAIN
from tests.cluster.workloads import daemon_set, job, stateful_set
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.server import Server

LASTING = ("web", "deploy/web", "sts/db", "daemonset/agent")
ONE_NAME = {
    "undo": LASTING,
    "restart": LASTING,
    "pause": ("web", "job/migrate"),
    "resume": ("web", "job/migrate"),
}
RUNNER = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "system:Runner", "namespace": "shop"},
    "rules": [],
}


def assert_names_are_valid(text: str) -> None:
    """Each Role and binding of a printed text has a name that any object may have."""
    printed = list(yaml.safe_load_all(text[text.index("apiVersion: rbac") :]))
    assert printed
    for one in printed:
        assert SUBDOMAIN.fullmatch(one["metadata"]["name"]), one["metadata"]["name"]


def assert_forbidden(ended: Ended) -> None:
    """It is refused, with a Role that kubectl takes."""
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden"), ended.err
    assert_names_are_valid(ended.err)


@pytest.mark.contract("B1195")
@pytest.mark.parametrize(
    ("command", "name"), [(command, name) for command, names in ONE_NAME.items() for name in names]
)
@pytest.mark.parametrize("may_read", [False, True])
def test_the_role_of_a_refused_command_has_a_valid_name(
    gate: Gate, server: Server, command: str, name: str, may_read: bool
) -> None:
    """Whatever the kind, and however it was written; kubectl takes no slash in a name."""
    server.put(web(), stateful_set(), daemon_set(), job())
    every = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    server.limit(*([every] if may_read else []))
    assert_forbidden(gate(command, name))


@pytest.mark.contract("B1195")
@pytest.mark.parametrize("name", [*LASTING, "job/migrate"])
def test_the_role_of_a_refused_verify_has_a_valid_name(
    gate: Gate, server: Server, name: str
) -> None:
    """It may read nothing, or asks for the Role itself."""
    server.put(web(), stateful_set(), daemon_set(), job())
    server.limit()
    assert_forbidden(gate("verify", (name,)))
    assert_names_are_valid(gate("verify", (name,), rbac=True).out)


@pytest.mark.contract("B1195")
@pytest.mark.parametrize(
    "body",
    [web(), stateful_set(), daemon_set(), job(), RUNNER, web(name=".".join(["a" * 62] * 4))],
    ids=["Deployment", "StatefulSet", "DaemonSet", "Job", "Role", "the longest name"],
)
def test_the_role_for_a_manifest_has_a_valid_name(
    gate: Gate, server: Server, manifest: Manifest, body: dict[str, object]
) -> None:
    """Also where it is called after an object whose own name is wider, or as long as can be."""
    server.limit()
    path = manifest(body)
    roles = ("Role",)
    assert_forbidden(gate("apply", file=[path], allow_kind=roles))
    assert_names_are_valid(gate("preflight", file=[path], allow_kind=roles, rbac=True).out)
