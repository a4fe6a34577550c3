"""The address of a Pushgateway, and the keys of its groups."""

from __future__ import annotations

import pytest

from gate.errors import UsageError
from gate.metrics.gateway_url import GatewayUrl

WEB = ("shop", "web")


@pytest.mark.contract("B614")
@pytest.mark.parametrize(
    ("url", "group"),
    [
        (
            "http://gw:9091",
            "http://gw:9091/metrics/job/rollout-gate/namespace/shop/deployment/web",
        ),
        (
            "https://gw/pushed/",
            "https://gw/pushed/metrics/job/rollout-gate/namespace/shop/deployment/web",
        ),
        (
            "http://gw/metrics/job/deploys/cluster/eu%20west/",
            "http://gw/metrics/job/deploys/cluster/eu%20west/namespace/shop/deployment/web",
        ),
        (
            "http://gw/metrics/job@base64/ZGVw/cluster/eu",
            "http://gw/metrics/job%40base64/ZGVw/cluster/eu/namespace/shop/deployment/web",
        ),
    ],
)
def test_a_group_is_keyed_by_namespace_and_deployment(url: str, group: str) -> None:
    """And by the labels in which the URL ends."""
    assert GatewayUrl.parse(url).group(WEB) == group


def test_a_manifest_without_a_deployment_has_the_group_of_its_namespace() -> None:
    """An empty label is none."""
    group = GatewayUrl.parse("http://gw").group(("shop", ""))
    assert group == "http://gw/metrics/job/rollout-gate/namespace/shop"


@pytest.mark.contract("B624")
@pytest.mark.parametrize(
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


@pytest.mark.contract("B614")
def test_labels_are_kept_as_a_pushgateway_writes_them() -> None:
    """A value that a path cannot hold is in base64."""
    url = GatewayUrl.parse("http://gw/metrics/job/deploys/cluster@base64/ZXUvd2VzdA")
    assert url.group(("shop", "")).startswith("http://gw/metrics/job/deploys/cluster%40base64/ZXU")
