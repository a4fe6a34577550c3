"""Which groups are stale: what is surely ours and surely gone, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.metrics.run import Place
from gate.metrics.stale import MARGIN_SECONDS, Existing, stale_groups

NOW = 1_800_000_000.0
JOB = {"job": "rollout-gate"}
OLD = Place("shop", "Deployment", "old")
NAMES = {("shop", "Deployment"): {"web"}, ("shop", "StatefulSet"): {"db"}}
EXISTING = Existing("uid-1", NOW, NAMES)


def group(
    labels: dict[str, str] | None = None,
    *,
    uid: str | None = "uid-1",
    pushed_at: float | str = NOW - 3600,
) -> dict[str, Any]:
    """Return a group as the Pushgateway's API lists it: that of a Deployment that is gone."""
    info = {"metrics": [{"labels": {"cluster_uid": uid}, "value": "1"}]}
    return {
        "labels": {**JOB, "namespace": "shop", "deployment": "old", **(labels or {})},
        "push_time_seconds": {"metrics": [{"labels": {}, "value": str(pushed_at)}]},
        **({"rollout_gate_last_attempt_info": info} if uid is not None else {}),
    }


def other_kind(kind: str = "StatefulSet") -> dict[str, Any]:
    """Return the group of a workload that is no Deployment."""
    found = group()
    found["labels"] = {**JOB, "namespace": "shop", "workload": "db", "workload_kind": kind}
    return found


def listed(*groups: Any) -> bytes:
    """Return the answer that lists groups."""
    return json.dumps({"status": "success", "data": groups}).encode()


@pytest.mark.contract("B615")
@pytest.mark.parametrize(
    "spared",
    [
        pytest.param(group({"deployment": "web"}), id="still there"),
        pytest.param(group({"namespace": "bank"}), id="a namespace that was not looked at"),
        pytest.param(group({"job": "backup"}), id="another job"),
        pytest.param(group({"cluster": "b"}), id="more labels than ours"),
        pytest.param(group({"deployment": ""}), id="no Deployment"),
        pytest.param(other_kind("DaemonSet"), id="a kind that was not looked at"),
        pytest.param(group({"workload": "old", "workload_kind": "StatefulSet"}), id="of two kinds"),
        pytest.param(group(uid="uid-2"), id="another cluster"),
        pytest.param(group(uid=""), id="a cluster without a name"),
        pytest.param(group(uid=None), id="pushed by somebody else"),
        pytest.param(group(pushed_at=NOW), id="pushed a moment ago"),
        pytest.param(group(pushed_at=NOW - MARGIN_SECONDS), id="pushed while clocks differ"),
        pytest.param(group(pushed_at="soon"), id="no time"),
        pytest.param({"labels": None}, id="no labels"),
        pytest.param("group", id="no group"),
    ],
)
def test_everything_else_is_left_alone(spared: Any) -> None:
    """A metric that is deleted is gone: in doubt it stays."""
    assert stale_groups(listed(spared, group()), JOB, EXISTING) == (OLD,)
    unknown = Existing("", NOW, {("shop", "Deployment"): {"web"}})
    assert stale_groups(listed(group(uid="")), JOB, unknown) == ()


@pytest.mark.contract("B1033")
def test_a_group_of_another_kind_is_stale_by_its_own_kind() -> None:
    """A Deployment of that name keeps no StatefulSet's group, nor the other way round."""
    known = Existing("uid-1", NOW, {("shop", "Deployment"): {"db"}, ("shop", "StatefulSet"): ()})
    gone = stale_groups(listed(other_kind(), group({"deployment": "db"})), JOB, known)
    assert gone == (Place("shop", "StatefulSet", "db"),)


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", b'{"data": {}}', b"[" * 100_000])
def test_an_answer_that_is_no_list_is_said(answer: bytes) -> None:
    """As one of a proxy, say."""
    with pytest.raises(ValueError, match="no list of groups"):
        stale_groups(answer, JOB, EXISTING)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*group()]), JSON))
def test_whatever_is_listed_is_read_or_left(bent: dict[str, Any]) -> None:
    """Who answers there is not known."""
    found = stale_groups(listed({**group(), **bent}), JOB, EXISTING)
    assert found in ((), (OLD,))
