"""Discovery, OpenAPI, health and version."""

from __future__ import annotations

from sandbox.access.authorizer import REVIEWS
from sandbox.kinds import RESOURCES
from tests.unit.sandbox.serving.client import Client, document

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def test_the_version_is_the_played_one_and_marked(client: Client) -> None:
    """Clients see a supported version, people see that it is a sandbox."""
    version = client.json("GET", "/version")
    assert (version["major"], version["minor"]) == ("1", "36")
    assert version["gitVersion"].startswith("v1.36.")
    assert "sandbox" in version["gitVersion"]


def test_all_groups_in_one_document(client: Client) -> None:
    """The aggregated form holds every kind that is served."""
    found: list[tuple[str, str]] = []
    for path in ("/api", "/apis"):
        answer = client.ask("GET", path, accept=f"{AGGREGATED},application/json")
        assert answer.headers["content-type"] == AGGREGATED
        for group in document(answer)["items"]:
            name = group["metadata"].get("name", "")
            kinds = group["versions"][0]["resources"]
            found += [(name, kind["resource"]) for kind in kinds]
    assert sorted(found) == sorted((each.group, each.plural) for each in (*RESOURCES, *REVIEWS))


def test_openapi_tells_what_a_patch_takes(client: Client) -> None:
    """Clients look there whether dry runs and field validation are supported."""
    index = client.json("GET", "/openapi/v3")["paths"]
    path, _, _ = index["apis/apps/v1"]["serverRelativeURL"].partition("?")
    found = document(client.ask("GET", path))
    patch = found["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {"dryRun", "fieldValidation"} <= {each["name"] for each in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Deployment"
    assert client.ask("GET", "/openapi/v3/apis/nosuch/v1").status == 404
