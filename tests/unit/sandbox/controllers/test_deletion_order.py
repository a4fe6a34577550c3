"""Which pods go first: `ActivePodsWithRanks`, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.controllers.replicaset.pods import DELETION_COST, in_deletion_order
from sandbox.json import JSON
from sandbox.times import since_epoch

NOW = since_epoch("2026-01-01T01:00:00Z")
LONG_AGO = "2026-01-01T00:00:00Z"
JUST_NOW = "2026-01-01T00:59:50Z"


def pod(name: str, **facts: Any) -> JSON:
    """Return a pod that runs and is ready since long ago on a node of its own, but for `facts`."""
    ready = facts.get("ready", LONG_AGO)
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "lastTransitionTime": ready or LONG_AGO,
    }
    return {
        "metadata": {
            "name": name,
            "uid": facts.get("uid", name),
            "creationTimestamp": facts.get("created", LONG_AGO),
            "annotations": {DELETION_COST: facts["cost"]} if "cost" in facts else {},
        },
        "spec": {"nodeName": facts.get("node", f"node-{name}")},
        "status": {
            "phase": facts.get("phase", "Running"),
            "conditions": [condition],
            "containerStatuses": [{"name": "web", "restartCount": facts.get("restarts", 0)}],
        },
    }


@pytest.mark.parametrize(
    "first",
    [
        {"node": ""},
        {"phase": "Pending"},
        {"ready": None},
        {"cost": "-5"},
        {"node": "shared"},
        {"ready": JUST_NOW},
        {"restarts": 3},
        {"created": JUST_NOW},
    ],
    ids="-".join,
)
def test_the_cheaper_loss_goes_first(first: JSON) -> None:
    """Unassigned, pending, not ready, cheap, doubled up, young and restarting pods go first."""
    cheap, dear = pod("z", **first), pod("a")
    crowd = [pod("x", node="shared"), pod("y", node="shared")]
    ordered = in_deletion_order([dear, cheap], [cheap, dear, *crowd], NOW)
    assert [each["metadata"]["name"] for each in ordered] == ["z", "a"]


def test_earlier_rules_count_more_than_later_ones() -> None:
    """A pod that is not ready goes before a ready one of lower cost."""
    ordered = in_deletion_order([pod("ready", cost="-9"), pod("not", ready=None)], [], NOW)
    assert ordered[0]["metadata"]["name"] == "not"


def test_ages_of_the_same_power_of_two_are_ordered_by_uid() -> None:
    """A second more or less is no reason: not always the youngest go."""
    older = pod("b", uid="1", ready="2026-01-01T00:00:00Z")
    younger = pod("a", uid="2", ready="2026-01-01T00:00:10Z")
    assert in_deletion_order([younger, older], [], NOW)[0] is older


def test_a_cost_that_is_no_number_counts_as_none() -> None:
    """The API refuses such an annotation; one that is there all the same breaks nothing."""
    ordered = in_deletion_order([pod("a", cost="cheap"), pod("b", cost="-1")], [], NOW)
    assert ordered[0]["metadata"]["name"] == "b"
