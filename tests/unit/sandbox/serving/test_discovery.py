"""Discovery, OpenAPI, health and version."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.kinds import RESOURCES
from sandbox.serving.discovery import GROUPS, REVIEWED
from tests.unit.sandbox.serving.client import Client, document

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz", "/readyz/ping", "/readyz/"])
def test_the_server_is_well(client: Client, path: str) -> None:
    """Health checks say ok."""
    answer = client.ask("GET", path)
    assert (answer.status, answer.body) == (200, b"ok")


def test_the_version_is_the_played_one_and_marked(client: Client) -> None:
    """Clients see a supported version, people see that it is a sandbox."""
    version = client.json("GET", "/version")
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")
    assert "sandbox" in version["gitVersion"]


def test_every_group_is_listed_once() -> None:
    """The order of groups names all that are served, and no other."""
    served = {each.group for each in (*RESOURCES, *REVIEWED)} - {""}
    assert set(GROUPS) == served
    assert len(GROUPS) == len(served)


def test_groups_one_by_one(client: Client) -> None:
    """The roots name the versions, the versions their kinds, with subresources and short names."""
    assert client.json("GET", "/api")["versions"] == ["v1"]
    groups = client.json("GET", "/apis")["groups"]
    assert [group["name"] for group in groups] == list(GROUPS)
    assert client.json("GET", "/apis/apps")["preferredVersion"]["groupVersion"] == "apps/v1"
    listed = client.json("GET", "/apis/apps/v1")
    rows = {row["name"]: row for row in listed["resources"]}
    assert rows["deployments"]["shortNames"] == ["deploy"]
    assert rows["deployments"]["categories"] == ["all"]
    assert rows["deployments/scale"] == {
        "name": "deployments/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }
    core = client.json("GET", "/api/v1")
    assert "apiVersion" not in core
    assert core["groupVersion"] == "v1"
    assert "/apis/apps/v1" in client.json("GET", "/")["paths"]


def test_all_groups_in_one_document(client: Client) -> None:
    """The aggregated form holds the same kinds, and is not sent twice."""
    found: list[tuple[str, str]] = []
    for path in ("/api", "/apis"):
        answer = client.ask("GET", path, accept=f"{AGGREGATED},application/json")
        assert answer.headers["content-type"] == AGGREGATED
        for group in document(answer)["items"]:
            name = group["metadata"].get("name", "")
            kinds = group["versions"][0]["resources"]
            found += [(name, kind["resource"]) for kind in kinds]
        tag = {"if_none_match": answer.headers["etag"]}
        again = client.ask("GET", path, accept=AGGREGATED, **tag)
        assert (again.status, again.body) == (304, b"")
    assert sorted(found) == sorted((each.group, each.plural) for each in (*RESOURCES, *REVIEWED))


def test_an_unknown_member_of_a_known_root(client: Client) -> None:
    """Roots are served, what is below them has to be known."""
    assert client.ask("GET", "/apis/nosuch/v1").status == 404
    assert client.ask("GET", "/openapi/v2").status == 404
    assert client.ask("PUT", "/nosuch").status == 404


def test_openapi_tells_what_a_patch_takes(client: Client) -> None:
    """Clients look there whether dry runs and field validation are supported."""
    index = client.json("GET", "/openapi/v3")["paths"]
    path, _, _ = index["apis/apps/v1"]["serverRelativeURL"].partition("?")
    answer = client.ask("GET", path)
    found = document(answer)
    patch = found["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {"dryRun", "fieldValidation"} <= {each["name"] for each in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Deployment"
    assert client.ask("GET", path, if_none_match=answer.headers["etag"]).status == 304
    assert client.ask("GET", "/openapi/v3/apis/nosuch/v1").status == 404


def test_openapi_documents_are_closed(client: Client) -> None:
    """Everything that a document refers to is in it."""
    for entry in client.json("GET", "/openapi/v3")["paths"].values():
        found = client.json("GET", entry["serverRelativeURL"])
        schemas = found["components"]["schemas"]
        named = {name.rpartition("/")[2] for name in _references(schemas)}
        assert named <= set(schemas)


def _references(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for item in value for name in _references(item)}
    if not isinstance(value, dict):
        return set()
    own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
    return own | {name for item in value.values() for name in _references(item)}
