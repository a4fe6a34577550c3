"""What a restored object is held against at the end."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.body import Body
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.live_object import LiveObject
from gate.core.rollout.baseline import Baseline
from gate.core.versions.judged_version import RESTARTED_AT
from gate.core.writes.results import find_sent
from tests.unit.core.world import WEB, config_ref, deployment, template

SENT = Body.of({"spec": {"replicas": 2, "template": {"spec": {"containers": []}}}})
KEPT = template("shop/web:1", annotations={RESTARTED_AT: "2026-01-01T00:00:00Z"})
NOTHING_MANAGED = Body.of({"managedFields": []})


def live_with(replicas: int) -> LiveObject:
    """Return a Deployment of the template `KEPT`."""
    spec: dict[str, Any] = {"replicas": replicas, "template": KEPT.body.thaw()}
    workload = deployment(template=KEPT)
    return LiveObject(WEB, "uid", "1", Body.of({"spec": spec}), NOTHING_MANAGED, workload=workload)


def served(image: str) -> Fact[Baseline]:
    """Return a baseline of an image."""
    return Known(Baseline("web-1", 1, template(image), "hash"))


@pytest.mark.contract("B1691")
@pytest.mark.parametrize("baseline", [served("shop/web:2"), Absent()])
def test_a_workload_is_held_against_the_template_that_was_sent(baseline: Fact[Baseline]) -> None:
    """The rest of it is held against the answer."""
    found = find_sent(baseline, SENT, live_with(5))
    assert found == Body.of({"spec": {"replicas": 5, "template": {"spec": {"containers": []}}}})


@pytest.mark.contract("B1691")
def test_the_template_that_served_is_the_version_before_however_it_was_sent() -> None:
    """The time of a restart is no part of it."""
    assert find_sent(served("shop/web:1"), SENT, live_with(5)) is None


@pytest.mark.contract("B143")
def test_another_object_is_held_against_all_that_was_sent() -> None:
    """A ConfigMap has no template."""
    settings = LiveObject(config_ref(), "uid", "1", Body.of({"data": {}}), NOTHING_MANAGED)
    assert find_sent(Absent(), SENT, settings) == SENT
