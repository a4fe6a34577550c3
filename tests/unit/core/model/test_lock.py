"""The names of locks: one a Deployment, in one order, each of which fits a Lease."""

from __future__ import annotations

import re

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.registry import locks_of
from gate.core.model.lock import Lock, lock_of
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
