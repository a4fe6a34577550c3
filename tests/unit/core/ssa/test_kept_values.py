"""Whether a server keeps what was sent: the same in another form, or another value."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.ssa.kept_values import find_altered, means_same
from tests.unit.core.leaves import tree_of
from tests.unit.core.world import config_ref

SAME = [
    ("1000m", "1"),
    (1, "1"),
    ("0.5", "500m"),
    (".5", "500m"),
    ("1024Mi", "1Gi"),
    ("1e3", "1k"),
    ("60s", "1m0s"),
    ("1h", "1h0m0s"),
    ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
    ("80", 80),
    (80.0, 80),
    ("YWJj\n", "YWJj"),
    ("", "10.0.0.1"),
    (0, 30001),
    (None, "anything"),
    (False, None),
    ([], None),
    ({}, None),
    ({}, {"added": 1}),
    ([{"port": 80}], [{"port": 80, "protocol": "TCP"}]),
    ({"cpu": "1000m", "dropped": ""}, {"cpu": "1", "added": "2"}),
]
OTHER = [
    ("shop/web:2", "shop/web:1"),
    ("1000m", "2"),
    ("60s", "2m0s"),
    ("60s", "60"),
    ("2026-01-01", "2026-01-02"),
    (True, False),
    (False, True),
    ("one", None),
    (3, 5),
    ([1, 2], [2, 1]),
    ([1], [1, 2]),
    ({"cpu": "1"}, {"memory": "1"}),
    ({"cpu": "1"}, "1"),
    ([1], "1"),
]


@pytest.mark.contract("B1692")
@pytest.mark.parametrize(("sent", "kept"), SAME)
def test_the_same_in_another_form_is_no_other_value(sent: Any, kept: Any) -> None:
    """Quantities, durations and times have many forms; empty fields may be dropped or filled."""
    assert means_same(sent, kept)


@pytest.mark.contract("B1692")
@pytest.mark.parametrize(("sent", "kept"), OTHER)
def test_another_value_is_one(sent: Any, kept: Any) -> None:
    """What is removed is kept otherwise, too."""
    assert not means_same(sent, kept)


def live(body: dict[str, Any], owned: dict[str, Any]) -> LiveObject:
    """Return a ConfigMap of which our manager owns a part."""
    entry = {"manager": "rollout-gate", "operation": "Apply", "fieldsV1": tree_of(owned)}
    managed = Body.of({"managedFields": [entry]})
    return LiveObject(config_ref(), "uid", "1", Body.of(body), managed)


@pytest.mark.contract("B1692")
def test_only_what_was_sent_and_is_still_ours_counts() -> None:
    """`theirs` was left to another manager, `added` was not sent, `stringData` is never read."""
    sent = {"data": {"ours": "1", "same": "1", "theirs": "1"}, "stringData": {"key": "1"}}
    kept = {"data": {"ours": "2", "same": "1", "theirs": "2", "added": "2"}}
    owned = {"data": {"ours": "1", "same": "1", "added": "1"}, "stringData": {"key": "1"}}
    found = find_altered(Body.of(sent), live(kept, owned), "rollout-gate")
    assert found == ("data.ours",)
    assert find_altered(Body.of(sent), live(kept, {}), "rollout-gate") == ()
    assert find_altered(Body.of(sent), live(kept, owned), "kubectl") == ()
