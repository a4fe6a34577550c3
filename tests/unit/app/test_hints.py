"""Hints of refusals: a command in one leads to the cluster of the run, wherever it is pasted."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from gate.cli.catalog import COMMANDS, PROGRAM
from tests.unit.app.bodies import marked, web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.server import Server
from tests.unit.kube.scripted import as_status


def command_in(hint: str) -> list[str]:
    """Return the words of the command in which the first line of a hint ends."""
    found = re.search(rf"(?:^|(?<= ))(?:{PROGRAM}|kubectl) .*", hint)
    assert found is not None, hint
    return shlex.split(found[0])


def managed(gate: Gate, server: Server, manifest: Manifest) -> Ended:
    """Helm has it: `verify` is pointed to."""
    server.put(marked(web(), annotations={"meta.helm.sh/release-name": "shop"}))
    return gate("apply", file=[manifest(web("2"))])


def paused(gate: Gate, server: Server, _: Manifest) -> Ended:
    """A restart would start nothing: `resume` is pointed to."""
    server.put(web(paused=True))
    return gate("restart", "web")


def without_earlier_revision(gate: Gate, server: Server, _: Manifest) -> Ended:
    """There is nothing to go back to: `history` is pointed to."""
    server.put(web())
    return gate("undo", "web")


def locked(gate: Gate, server: Server, manifest: Manifest) -> Ended:
    """Somebody works on it: `locks --release` is pointed to."""
    name = "rollout-gate.deployment.web"
    spec = {"holderIdentity": "ci/7", "leaseDurationSeconds": 60}
    spec |= {"renewTime": "2026-01-01T00:00:00.000000Z"}
    server.objects.create("leases", {"metadata": {"name": name}, "spec": spec})
    return gate("apply", file=[manifest(web())], lock_wait=0)


def without_the_right_to_lock(gate: Gate, server: Server, manifest: Manifest) -> Ended:
    """The Role is to be printed."""
    server.limit()
    return gate("apply", file=[manifest(web())], require_lock=True)


def forbidden(gate: Gate, server: Server, _: Manifest) -> Ended:
    """Nor may it be read."""
    server.put(web())
    said = 'pods is forbidden: User "ci" cannot list resource "pods" in API group ""'
    server.on("GET", "/api/v1/namespaces/shop/pods", as_status(403, said, "Forbidden"))
    return gate("status", "web")


def without_lock(gate: Gate, server: Server, _: Manifest) -> Ended:
    """There is none to be given back: `locks` is pointed to."""
    server.put(web())
    return gate("locks", release="web")


def without_namespace(gate: Gate, _: Server, manifest: Manifest) -> Ended:
    """It can be made."""
    return gate("apply", file=[manifest(web(namespace="nowhere"))])


REFUSALS: dict[Any, str] = {
    managed: "verify web -n shop",
    paused: "resume web -n shop",
    without_earlier_revision: "history web -n shop",
    locked: "locks --release deployment/web -n shop",
    without_the_right_to_lock: "preflight --rbac -f PATH -n shop",
    forbidden: "preflight --rbac -f PATH -n shop",
    without_lock: "locks -n shop",
    without_namespace: "create namespace nowhere",
}


@pytest.mark.contract("B653")
@pytest.mark.parametrize("refuse", REFUSALS, ids=lambda refuse: refuse.__name__)
def test_a_command_of_a_hint_names_the_cluster(
    gate: Gate, server: Server, manifest: Manifest, refuse: Any
) -> None:
    """The context that was chosen, as in a report."""
    ended = refuse(gate, server, manifest)
    assert ended.code == 3, ended.err
    program, *words = command_in(ended.err.partition("hint: ")[2])
    assert words == [*REFUSALS[refuse].split(), "--context", "sandbox"]
    assert program == "kubectl" or words[0] in COMMANDS


@pytest.mark.contract("B1407")
def test_who_may_not_read_is_told_of_the_role_that_only_reads(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Beside the one for an apply, which grants writes; a missing write has that one alone."""
    said = "or, only to look at a workload: rollout-gate verify NAME --rbac -n shop"
    assert said in forbidden(gate, server, manifest).err
    assert said not in without_the_right_to_lock(gate, server, manifest).err
