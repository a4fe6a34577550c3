"""What an object of a manifest needs of the others."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.objects import Ref
from gate.core.plan.phases import Phase, find_needs, order_by_phase
from gate.core.readiness.needs import find_own_needs

NAMESPACE = Ref("v1", "Namespace", "", "shop")
DEFINITION = Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com")
WIDGET = Ref("example.com/v1", "Widget", "shop", "one")
METRIC = Ref("metrics.example.com/v1", "Metric", "other", "one")
API = Ref("apiregistration.k8s.io/v1", "APIService", "", "v1.metrics.example.com")
BACKEND = Ref("v1", "Service", "metrics", "server")
BODIES: dict[Ref, dict[str, Any]] = {
    NAMESPACE: {},
    DEFINITION: {"spec": {"group": "example.com", "names": {"kind": "Widget"}}},
    WIDGET: {},
    METRIC: {},
    API: {
        "spec": {
            "group": "metrics.example.com",
            "version": "v1",
            "service": {"namespace": "metrics", "name": "server"},
        }
    },
}


@pytest.mark.contract("B982")
def test_objects_need_their_definition_their_namespace_and_their_api() -> None:
    """An API that the manifest itself serves is none to wait for: it is there only later."""
    assert find_own_needs(BODIES) == {WIDGET: (NAMESPACE, DEFINITION), METRIC: (API,)}
    assert METRIC not in find_own_needs({**BODIES, BACKEND: {}})


@pytest.mark.contract("B980", "B982")
def test_what_is_needed_is_written_first() -> None:
    """An APIService stands behind everything in the order of application; what is last, stays so.

    A workload that comes before the others holds up all behind it, but not what stands before.
    """
    first, web, last = (Ref("apps/v1", "Deployment", "shop", name) for name in "abc")
    phases = {first: Phase.BEFORE, web: Phase.MAIN, last: Phase.AFTER}
    own = find_own_needs(BODIES)
    order = order_by_phase((last, NAMESPACE, METRIC, first, WIDGET, web, API), phases, own)
    assert order == (NAMESPACE, API, METRIC, first, WIDGET, web, last)
    assert find_needs(order, phases, own) == {
        NAMESPACE: (),
        API: (),
        METRIC: (API,),
        first: (),
        WIDGET: (NAMESPACE, first),
        web: (first,),
        last: (first, web),
    }
