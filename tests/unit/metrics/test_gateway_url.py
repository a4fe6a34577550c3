"""The address of a Pushgateway, and the keys of its groups."""

from __future__ import annotations

import pytest

from gate.errors import UsageError
from gate.metrics.gateway_url import GatewayUrl
from gate.metrics.run import Place
from tests.table import each


@pytest.mark.contract("B614")
@pytest.mark.parametrize(
    ("url", "group"),
    [
        ("http://gw:9091", "http://gw:9091/metrics/job/rollout-gate"),
        ("https://gw/pushed/", "https://gw/pushed/metrics/job/rollout-gate"),
        *(
            (f"http://gw/metrics/job{given}", f"http://gw/metrics/job{kept}")
            for given, kept in (
                ("/deploys/cluster/eu%20west/", "/deploys/cluster/eu%20west"),
                ("@base64/ZGVw/cluster/eu", "%40base64/ZGVw/cluster/eu"),
                ("/a/cluster@base64/ZXUvd2VzdA", "/a/cluster%40base64/ZXUvd2VzdA"),
            )
        ),
    ],
)
def test_a_group_is_keyed_by_namespace_and_deployment(url: str, group: str) -> None:
    """And by the labels in which the URL ends; an empty label is none."""
    found = GatewayUrl.parse(url)
    assert (
        found.group(Place("shop", "Deployment", "web")) == f"{group}/namespace/shop/deployment/web"
    )
    other = "workload/web/workload_kind/StatefulSet"
    assert found.group(Place("shop", "StatefulSet", "web")) == f"{group}/namespace/shop/{other}"
    assert found.group(Place("shop")) == f"{group}/namespace/shop"


@pytest.mark.contract("B624")
@each(
    ("path", "wrong"),
    [
        ("job", "the label 'job' has no value in the URL"),
        ("job/", "the label 'job' has no value in the URL"),
        ("job/a/cluster", "the label 'cluster' has no value in the URL"),
        ("job/a/cluster/", "the label 'cluster' has no value in the URL"),
        ("job//cluster/b", "the label 'job' has no value in the URL"),
        ("job/a/cluster/eu%2Fwest", "the label 'west' has no value in the URL"),
        ("job/a//b", "not the name of a label: ''"),
        ("job/a/my-cluster/b", "not the name of a label: 'my-cluster'"),
        ("job/a/__c/b", "not the name of a label: '__c'"),
        ("job/a/%C3%BC/b", "not the name of a label: '\\xfc'"),
        ("job/a/c/d/c/e", "the label 'c' stands twice in the URL"),
        ("job/a/c/d/c@base64/ZQ", "the label 'c@base64' stands twice in the URL"),
        ("job/a/c@base64/!!!", "the value of the label 'c@base64' is no base64"),
        ("job/a/c@base64/ZXUvd", "the value of the label 'c@base64' is no base64"),
        ("job@base64", "the label 'job@base64' has no value in the URL"),
        ("job/a/namespace/b", "the metrics have the label 'namespace' themselves"),
        ("job/a/deployment@base64/Yg", "the metrics have the label 'deployment@base64' themselves"),
        ("job/a/outcome/b", "the metrics have the label 'outcome' themselves"),
    ],
)
def test_labels_that_are_none_are_refused(path: str, wrong: str) -> None:
    """What a Pushgateway does not take, and what it would write over the metrics' own."""
    with pytest.raises(UsageError) as caught:
        GatewayUrl.parse(f"http://gw/metrics/{path}")
    assert caught.value.message == wrong
    assert "/metrics/job/rollout-gate/cluster/production" in caught.value.hint
