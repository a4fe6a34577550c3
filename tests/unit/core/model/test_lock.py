"""Locks: their names, one a Deployment and in one order; and when a holder is dead."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.registry import locks_of
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import NOBODY, Holder, Process, Sighting, free_at, is_proven_dead
from gate.core.model.objects import Ref

CONFIG = Ref("v1", "ConfigMap", "shop", "settings")
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


@pytest.mark.contract("B520")
def test_several_are_in_one_order() -> None:
    """Whatever the order of the manifest, so that no two attempts ever wait for each other."""
    refs = [deployment_ref("shop", "web"), CONFIG, deployment_ref("shop", "api")]
    names = ["rollout-gate.deployment.api", "rollout-gate.deployment.web"]
    expected = tuple(Lock("shop", name) for name in names)
    assert locks_of(refs, "else") == locks_of(refs[::-1], "else") == expected
    assert [str(lock) for lock in expected] == ["deployment/api", "deployment/web"]


@pytest.mark.contract("B529")
def test_a_long_name_is_cut_and_told_apart() -> None:
    """Two names that differ in their last character have locks of their own."""
    names = [lock_of(deployment_ref("shop", "a" * 252 + last)).name for last in "bc"]
    assert len(set(names)) == 2
    for name in names:
        assert len(name) <= 253
        assert NAME.fullmatch(name)


@pytest.mark.contract("B529")
def test_a_manifest_without_a_deployment() -> None:
    """It is named by its objects, and stands in the namespace of one of them."""
    service = Ref("v1", "Service", "shop", "web")
    [lock] = locks_of([CONFIG, service], "else")
    assert locks_of([service, CONFIG], "else") == (lock,)
    assert lock.namespace == "shop"
    assert locks_of([CONFIG], "else") != (lock,)
    [of_cluster] = locks_of([Ref("v1", "Namespace", "", "shop")], "else")
    assert of_cluster.namespace == "else"


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
