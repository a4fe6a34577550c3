"""Hints of refusals: a command in one leads to the cluster of the run, wherever it is pasted."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from gate.cli.catalog import COMMANDS, PROGRAM
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.server import Server
from tests.unit.kube.scripted import as_status


def command_in(hint: str) -> list[str]:
    """Return the words of the command in which the first line of a hint ends."""
    found = re.search(rf"(?:^|(?<= )){PROGRAM} .*", hint)
    assert found is not None, hint
    return shlex.split(found[0])


def paused(gate: Gate, server: Server) -> Ended:
    """A restart would start nothing: `resume` is pointed to."""
    server.put(web(paused=True))
    return gate("restart", "web")


def without_the_right_to_lock(gate: Gate, server: Server) -> Ended:
    """The Role is to be printed."""
    server.limit()
    return gate.apply(web(), require_lock=True)


def forbidden(gate: Gate, server: Server) -> Ended:
    """Nor may it be read."""
    server.put(web())
    said = 'pods is forbidden: User "ci" cannot list resource "pods" in API group ""'
    server.on("GET", "/api/v1/namespaces/shop/pods", as_status(403, said, "Forbidden"))
    return gate("status", "web")


def without_lock(gate: Gate, server: Server) -> Ended:
    """There is none to be given back: `locks` is pointed to."""
    server.put(web())
    return gate("locks", release="web")


REFUSALS: dict[Any, str] = {
    paused: "resume web -n shop",
    without_the_right_to_lock: "preflight --rbac -f PATH -n shop",
    forbidden: "preflight --rbac -f PATH -n shop",
    without_lock: "locks -n shop",
}


@pytest.mark.contract("B653")
@pytest.mark.parametrize("refuse", REFUSALS, ids=lambda refuse: refuse.__name__)
def test_a_command_of_a_hint_names_the_cluster(gate: Gate, server: Server, refuse: Any) -> None:
    """The context that was chosen, as in a report."""
    ended = refuse(gate, server)
    assert ended.code == 3, ended.err
    _, *words = command_in(ended.err.partition("hint: ")[2])
    assert words == [*REFUSALS[refuse].split(), "--context", "sandbox"]
    assert words[0] in COMMANDS


@pytest.mark.contract("B1407")
def test_who_may_not_read_is_told_of_the_role_that_only_reads(gate: Gate, server: Server) -> None:
    """Beside the one for an apply, which grants writes; a missing write has that one alone."""
    said = "or, only to look at a workload: rollout-gate verify NAME --rbac -n shop"
    assert said in forbidden(gate, server).err
    assert said not in without_the_right_to_lock(gate, server).err
