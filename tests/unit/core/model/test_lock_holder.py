"""When a holder is dead: its Lease has run out, or this machine proves it; never by its job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.model.lock_holder import NOBODY, Holder, Process, Sighting, free_at, is_proven_dead

THEIRS = Process("runner", "boot", "pid:[1] time:[2]", 40, 1000)
OURS = replace(THEIRS, pid=41, start_ticks=2000)
HOLDER, ME = Holder("ci/7 one", process=THEIRS), Holder("ci/7 two", process=OURS)


def ended(_: Process) -> bool:
    """Say that there is no such process."""
    return True


def runs(_: Process) -> bool:
    """Say that there is one."""
    return False


@pytest.mark.contract("B539")
def test_a_process_of_this_machine_that_is_gone_is_proof() -> None:
    """It was in the same PID namespace of the same boot."""
    assert is_proven_dead(HOLDER, ME, ended)
    assert not is_proven_dead(HOLDER, ME, runs)


@pytest.mark.contract("B539")
@pytest.mark.parametrize(
    "theirs",
    [
        None,
        replace(THEIRS, host="another"),
        replace(THEIRS, boot_id="later"),
        replace(THEIRS, namespaces="pid:[3] time:[2]"),
    ],
)
def test_what_cannot_be_seen_from_here_is_no_proof(theirs: Process | None) -> None:
    """Another machine, an earlier boot, another container, or no /proc."""
    assert not is_proven_dead(replace(HOLDER, process=theirs), ME, ended)
    assert not is_proven_dead(replace(ME, process=THEIRS), replace(ME, process=None), ended)


@pytest.mark.contract("B522", "B539")
def test_when_a_lock_may_be_taken() -> None:
    """At once from nobody, from ourselves and from the dead; else when the Lease runs out."""
    seen = Sighting(HOLDER.identity, "then", 60.0, seen_at=5.0)
    assert free_at(NOBODY, seen, ME, runs, 9.0) == 9.0
    assert free_at(ME, seen, ME, runs, 9.0) == 9.0
    assert free_at(HOLDER, seen, ME, ended, 9.0) == 9.0
    assert free_at(HOLDER, seen, ME, runs, 9.0) == 65.0


@pytest.mark.contract("B522")
def test_a_renewal_begins_the_wait_again() -> None:
    """So does another holder; the same again does not."""
    seen = Sighting("one", "then", 60.0, 5.0)
    assert seen.again("one", "then", 60.0, 9.0) is seen
    assert seen.again("one", "later", 60.0, 9.0).runs_out_at == 69.0
    assert seen.again("two", "then", 30.0, 9.0).runs_out_at == 39.0
