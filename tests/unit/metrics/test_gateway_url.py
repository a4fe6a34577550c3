"""The address of a Pushgateway, and the keys of its groups."""

from __future__ import annotations

import pytest

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
    ],
)
def test_a_group_is_keyed_by_namespace_and_deployment(url: str, group: str) -> None:
    """And by the labels in which the URL ends."""
    assert GatewayUrl.parse(url).group(WEB) == group


def test_a_manifest_without_a_deployment_has_the_group_of_its_namespace() -> None:
    """An empty label is none."""
    group = GatewayUrl.parse("http://gw").group(("shop", ""))
    assert group == "http://gw/metrics/job/rollout-gate/namespace/shop"


def test_the_groups_are_listed_beside_them() -> None:
    """Below the same prefix."""
    url = GatewayUrl.parse("http://gw/pushed/metrics/job/deploys")
    assert url.groups == "http://gw/pushed/api/v1/metrics"


@pytest.mark.parametrize(
    "path",
    ["job", "job/", "job/a/cluster", "job//cluster/b", "job/a/namespace/b", "job/a/c/d/c/e"],
)
def test_labels_that_are_none_are_refused(path: str) -> None:
    """A name without a value, and what the groups themselves say."""
    url = f"http://gw/metrics/{path}"
    if path == "job":
        assert GatewayUrl.parse(url).labels == {"job": "rollout-gate"}
        return
    with pytest.raises(ValueError, match="behind /metrics/job/"):
        GatewayUrl.parse(url)
