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
    (1, "1"),
    (0.5, "500m"),
    (1e22, "10e21"),
    ("60s", "1m0s"),
    ("1h", "1h0m0s"),
    ("-1m", "-1m0s"),
    ("0", "0s"),
    ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
    ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z"),
    ("80", 80),
    (80.0, 80),
    ("", "10.0.0.1"),
    ("", None),
    (0, None),
    (None, "anything"),
    (False, None),
    ([], None),
    ({}, None),
    ({}, {"added": 1}),
    ([{"port": 80}], [{"port": 80, "protocol": "TCP"}]),
    ({"limits": {"cpu": "1000m"}, "dropped": ""}, {"limits": {"cpu": "1"}, "added": "2"}),
]
OTHER = [
    ("shop/web:2", "shop/web:1"),
    ("60s", "2m0s"),
    ("60s", "60"),
    ("-1m", "1m0s"),
    ("2026-01-01", "2026-01-02"),
    ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:01Z"),
    ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z"),
    ("1.10", "1.1"),
    ("010", "10"),
    ("1e3", "1000"),
    ("YWJj\n", "YWJj"),
    (0, 3),
    (1, "2"),
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
POD = "spec.template.spec"
QUANTITIES = [
    "PersistentVolumeClaim.spec.resources.requests.storage",
    "ResourceQuota.spec.hard.limits.memory",
    f"Deployment.{POD}.containers.resources.limits.cpu",
    f"Deployment.{POD}.volumes.emptyDir.sizeLimit",
    f"Deployment.{POD}.containers.env.valueFrom.resourceFieldRef.divisor",
    "HorizontalPodAutoscaler.spec.metrics.external.target.value",
]
TEXTS = [
    "ConfigMap.data.mode",
    "ConfigMap.data.limits",
    "Deployment.metadata.annotations.requests",
    f"Deployment.{POD}.nodeSelector.cpu",
    f"Deployment.{POD}.containers.env.value",
    f"Deployment.{POD}.containers.args",
    "StorageClass.parameters.size",
]


def names(path: str) -> tuple[str, ...]:
    """Return the kind and the names that lead to a field."""
    return tuple(path.split("."))


@pytest.mark.contract("B1692")
@pytest.mark.parametrize(("sent", "kept"), SAME)
def test_the_same_in_another_form_is_no_other_value(sent: Any, kept: Any) -> None:
    """Durations and times have many forms; empty fields may be dropped or filled."""
    assert means_same(sent, kept)


@pytest.mark.contract("B1692")
@pytest.mark.parametrize(("sent", "kept"), OTHER)
def test_another_value_is_one(sent: Any, kept: Any) -> None:
    """What is removed is kept otherwise, too; where no field is known, a text is no quantity."""
    assert not means_same(sent, kept)


@pytest.mark.contract("B1692", "B1721")
@pytest.mark.parametrize("path", QUANTITIES)
def test_a_quantity_has_many_forms(path: str) -> None:
    """The server writes each in the shortest of them."""
    for sent, kept in (
        ("1000m", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.1Gi", "1181116006400m"),
        ("1e3", "1k"),
        ("0", "0"),
    ):
        assert means_same(sent, kept, names(path)), (sent, kept)
    assert not means_same("1000m", "2", names(path))
    assert not means_same("0", "1", names(path))
    assert not means_same("1m", "60", names(path))


@pytest.mark.contract("B1721")
@pytest.mark.parametrize("path", TEXTS)
def test_a_text_has_one_form(path: str) -> None:
    """What reads it may tell `1.10` from `1.1`: nothing but the same is the same."""
    for sent, kept in (
        ("1.10", "1.1"),
        ("010", "10"),
        ("1m", "60s"),
        ("60s", "1m0s"),
        ("a b", "ab"),
        ("", "x"),
        ("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"),
    ):
        assert not means_same(sent, kept, names(path)), (sent, kept)
    assert means_same("1.10", "1.10", names(path))


@pytest.mark.contract("B1721")
def test_an_empty_text_of_a_map_is_not_dropped() -> None:
    """A map keeps it; a field of its own is left out where it is empty."""
    assert not means_same("", None, names("ConfigMap.data.mode"))
    assert means_same("", None, names(f"Deployment.{POD}.containers.env.value"))
    assert means_same({}, None, names("ConfigMap.data"))


@pytest.mark.contract("B1721")
@pytest.mark.parametrize("path", ["Secret.data.key", "ConfigMap.binaryData.key", "X.spec.caBundle"])
def test_bytes_may_be_sent_in_several_lines(path: str) -> None:
    """Base64 has line breaks where a program wrapped it, and the server writes none."""
    assert means_same("YW\r\nJj\n", "YWJj", names(path))
    assert not means_same("YWJj", "YWJk", names(path))
    assert not means_same("YW Jj", "YWJj", names(path))


@pytest.mark.contract("B1721")
@pytest.mark.parametrize(
    ("path", "sent", "kept", "is_same"),
    [
        ("Service.spec.ports.nodePort", 0, 30001, True),
        ("Service.spec.ports.targetPort", 0, 80, True),
        (f"Deployment.{POD}.containers.livenessProbe.periodSeconds", 0, 10, True),
        ("Service.spec.clusterIP", "", "10.0.0.1", True),
        ("Deployment.spec.replicas", 0, 3, False),
        (f"Deployment.{POD}.securityContext.runAsUser", 0, 1000, False),
        (f"Deployment.{POD}.terminationGracePeriodSeconds", 0, 30, False),
        (f"Deployment.{POD}.containers.resources.requests.cpu", 0, "100m", False),
        ("PersistentVolumeClaim.spec.storageClassName", "", "fast", False),
    ],
)
def test_an_empty_value_is_filled_in_only_where_it_means_nothing(
    path: str, sent: Any, kept: Any, is_same: bool
) -> None:
    """The server chooses a port for 0; 0 replicas are 0."""
    assert means_same(sent, kept, names(path)) is is_same


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


@pytest.mark.contract("B1721")
def test_the_fields_that_lead_to_a_value_tell_its_type() -> None:
    """A key of a ConfigMap is no field of the API, whatever it is called."""
    sent = {
        "kind": "ConfigMap",
        "data": {"limits": "1000m", "version": "1.10"},
        "spec": {"limits": [{"name": "a", "cpu": "1000m", "replicas": 0}]},
    }
    kept = {
        "data": {"limits": "1", "version": "1.1"},
        "spec": {"limits": [{"name": "a", "cpu": "1", "replicas": 3}]},
    }
    owned = {key: value for key, value in sent.items() if key != "kind"}
    found = find_altered(Body.of(sent), live(kept, owned), "rollout-gate")
    assert found == ("data.limits", "data.version", 'spec.limits[name="a"].replicas')
