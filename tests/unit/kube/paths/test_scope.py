"""Selectors are written as the API reads them, and watches are as few as can be."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import DEPLOYMENT, REPLICA_SET, deployment_ref
from gate.core.rollout.observations import Kind
from gate.kube.paths.scope import Scope, does_select, query_of, scopes_of

WEB, API = deployment_ref("shop", "web"), deployment_ref("shop", "api")


@pytest.mark.parametrize(
    ("selector", "query"),
    [
        ({}, ""),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {"matchExpressions": [{"key": "t", "operator": "In", "values": ["x", "y"]}]},
            "t in (x,y)",
        ),
        ({"matchExpressions": [{"key": "t", "operator": "NotIn", "values": ["x"]}]}, "t notin (x)"),
        ({"matchExpressions": [{"key": "t", "operator": "Exists"}]}, "t"),
        ({"matchExpressions": [{"key": "t", "operator": "DoesNotExist"}]}, "!t"),
    ],
)
def test_a_selector_as_a_query(selector: dict[str, object], query: str) -> None:
    """All four operators and labels become terms of labelSelector."""
    assert query_of(selector) == query


def test_a_query_selects_by_all_of_its_terms() -> None:
    """As the API server takes them."""
    labels = {"app": "web", "t": "x"}
    for query in ("", "app=web", "app in (api,web),t", "t notin (y),!other"):
        assert does_select(query, labels), query
    for query in ("app=api", "app in (api)", "app=web,!t", "t notin (x)", "other"):
        assert not does_select(query, labels), query


def test_one_deployment_is_watched_by_name_and_selector() -> None:
    """Four watches: the Deployment by name, its parts by label, warnings of the namespace."""
    scopes = scopes_of({WEB: {"matchLabels": {"app": "web"}}})
    assert scopes == (
        Scope(DEPLOYMENT, "shop", (WEB,), field_selector="metadata.name=web"),
        Scope(REPLICA_SET, "shop", (WEB,), "app=web"),
        Scope(Kind.POD, "shop", (WEB,), "app=web"),
        Scope(Kind.EVENT, "shop", (WEB,), field_selector="type=Warning"),
    )


def test_several_deployments_share_their_watches() -> None:
    """What all selectors match by value bounds the lists; nothing that one selects is left out."""
    web = {"matchLabels": {"app": "web", "part-of": "shop", "tier": "front"}}
    api = {"matchLabels": {"app": "api", "part-of": "shop"}}
    scopes = scopes_of({WEB: web, API: api})
    assert [scope.kind for scope in scopes] == [DEPLOYMENT, REPLICA_SET, Kind.POD, Kind.EVENT]
    assert {scope.about for scope in scopes} == {(API, WEB)}
    assert scopes[0].field_selector == ""
    assert scopes[1].label_selector == "app in (api,web),part-of in (shop)"
