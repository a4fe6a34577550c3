"""ResourceQuota: what is refused, in which words, and what is counted."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.failure import ApiError
from sandbox.json import JSON
from tests.unit.sandbox.bed import NAMESPACE, TEAM, Bed


def pod(name: str = "p", *, init: JSON | None = None, **resources: JSON) -> JSON:
    """Return a pod that asks for resources."""
    spec: JSON = {"containers": [{"name": "web", "image": "a", "resources": resources}]}
    if init is not None:
        spec["initContainers"] = [{"name": "init", "image": "a", "resources": init}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def create(bed: Bed, body: JSON, **options: Any) -> None:
    """Create a pod."""
    bed.api.create("pods", NAMESPACE, body, TEAM, **options)


def used(bed: Bed) -> JSON:
    """Return what the quota says is used."""
    found: JSON = bed.get("resourcequotas", "full")["status"]["used"]
    return found


def test_requests_and_limits_are_added_up(bed: Bed) -> None:
    """In the form in which they were written."""
    bed.limit(**{"requests.cpu": "1", "limits.memory": "2Gi"})
    asked = {"requests": {"cpu": "300m"}, "limits": {"memory": "768Mi"}}
    create(bed, pod("a", **asked))
    create(bed, pod("b", **asked))
    assert used(bed) == {"requests.cpu": "600m", "limits.memory": "1536Mi"}
    with pytest.raises(ApiError) as refused:
        create(bed, pod("c", **asked))
    assert refused.value.message.endswith(
        "exceeded quota: full, requested: limits.memory=768Mi,"
        " used: limits.memory=1536Mi, limited: limits.memory=2Gi"
    )


def test_an_init_container_that_needs_more_counts(bed: Bed) -> None:
    """They run one after the other: the larger of both."""
    bed.limit(**{"requests.cpu": "4"})
    create(bed, pod("a", init={"requests": {"cpu": "2"}}, requests={"cpu": "500m"}))
    assert used(bed) == {"requests.cpu": "2"}


def test_a_pod_that_leaves_out_what_is_limited_is_refused(bed: Bed) -> None:
    """A quota of requests makes requests required."""
    bed.limit(**{"requests.cpu": "1", "limits.memory": "2Gi"})
    with pytest.raises(ApiError) as refused:
        create(bed, pod())
    assert refused.value.message == (
        'pods "p" is forbidden: failed quota: full:'
        " must specify limits.memory for: web; requests.cpu for: web"
    )


def test_a_pod_that_is_gone_frees_its_share(bed: Bed) -> None:
    """So does one that has failed, while it is kept."""
    bed.limit(pods="2", count_pods="5")
    create(bed, pod("a"))
    create(bed, pod("b"))
    bed.run(1)
    bed.delete("pods", "a")
    bed.run(1)
    assert used(bed) == {"pods": "1", "count/pods": "1"}
    bed.kubelet.evict(NAMESPACE, "b")
    bed.run(1)
    assert used(bed) == {"pods": "0", "count/pods": "1"}
