"""Giving somebody's lock back is asked about on a terminal, and nowhere else."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from gate.app.commands.locks import ask_for_consent
from gate.app.runtime.world import Streams, outside
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import lock_of
from gate.core.model.lock_holder import Holder
from gate.errors import UsageError
from gate.kube.locks.lease import Held
from tests.unit.app.conftest import Gate
from tests.unit.app.locks.test_lock_state import HERE, ThisMachine

ELSEWHERE = Holder("ci/7 abc", url="https://ci/7")


class Terminal(io.BytesIO):
    """What is typed on a terminal."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


def asked(stdin: io.BytesIO, holder: Holder = ELSEWHERE) -> tuple[bool, str]:
    """Ask whether a lock of somebody may go; return the answer, and what was shown."""
    shown = io.StringIO()
    streams = Streams(stdin, io.StringIO(), shown)
    world = replace(outside(), streams=streams, processes=ThisMachine())
    held = Held(lock_of(deployment_ref("shop", "web")), "u1", "1", holder)
    return ask_for_consent(world, held), shown.getvalue()


@pytest.mark.contract("B528")
@pytest.mark.parametrize(
    ("typed", "answer"), [(b"y\n", True), (b"YES\n", True), (b"\n", False), (b"", False)]
)
def test_a_terminal_is_asked(typed: bytes, answer: bool) -> None:
    """The question says whose lock it is; anything but a yes is a no."""
    found, shown = asked(Terminal(typed))
    assert found is answer
    said = "deployment/web is held by ci/7 abc (https://ci/7), whose process may still run. Release"
    assert said in shown


@pytest.mark.contract("B528")
def test_of_a_holder_on_this_machine_it_is_said_that_it_runs() -> None:
    """Its process is there, and the question names it."""
    found, shown = asked(Terminal(b"\n"), Holder("me", process=HERE))
    assert not found
    assert "held by me, whose process 7 still runs on this machine" in shown


@pytest.mark.contract("B528")
def test_elsewhere_it_takes_a_flag() -> None:
    """A pipeline cannot be asked."""
    with pytest.raises(UsageError, match="confirmation"):
        asked(io.BytesIO(b"y\n"))


@pytest.mark.contract("B216")
@pytest.mark.parametrize(("command", "names"), [("locks", ()), ("recover", ((),))])
def test_a_namespace_that_does_not_exist_is_refused(
    gate: Gate, command: str, names: tuple[tuple[str, ...], ...]
) -> None:
    """A typing error is no "nothing is locked"."""
    ended = gate(command, *names, namespace="nosuch")
    assert (ended.code, ended.document["reason"]) == (3, "NotFound"), ended.err
    assert "namespace nosuch does not exist" in ended.err
    assert "create namespace" not in ended.err
    assert gate(command, *names).code == 0
