"""Requests: what their path asks for, what their body holds, and who sends them."""

from __future__ import annotations

import pytest

from sandbox.failure import ApiError
from sandbox.serving.options import MOST_BODY_BYTES, check_size, decoded_object
from sandbox.serving.request import Request
from sandbox.serving.routing import target_of
from tests.unit.sandbox.serving.client import CONFIG_MAPS, Client

DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"


def asked(method: str, path: str, **query: str) -> tuple[str, ...]:
    """Return verb, group, version, namespace, resource, name and subresource."""
    found = target_of(Request(method, path, tuple(query.items())))
    place = (found.group, found.version, found.namespace)
    return (found.verb, *place, found.resource, found.name, found.subresource)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("DELETE", DEPLOYMENTS, ("deletecollection", "apps", "v1", "shop", "deployments", "", "")),
        ("HEAD", f"{DEPLOYMENTS}/web", ("get", "apps", "v1", "shop", "deployments", "web", "")),
        ("GET", "/api/v1/namespaces", ("list", "", "v1", "", "namespaces", "", "")),
        ("GET", "/api/v1/namespaces/shop", ("get", "", "v1", "shop", "namespaces", "shop", "")),
        (
            "PUT",
            "/api/v1/namespaces/shop/finalize",
            ("update", "", "v1", "shop", "namespaces", "shop", "finalize"),
        ),
        ("GET", "/version", ("get", "", "", "", "", "", "")),
        ("POST", "/apis/apps/v1", ("post", "", "", "", "", "", "")),
        ("GET", "//apis/apps/v1/deployments", ("get", "", "", "", "", "", "")),
    ],
)
def test_method_and_path_make_a_verb_on_a_resource(
    method: str, path: str, expected: tuple[str, ...]
) -> None:
    """Paths are read as the API server's RequestInfo reads them."""
    assert asked(method, path) == expected


def request(body: bytes, content_type: str = "application/json") -> Request:
    """Return a request with a body."""
    return Request("POST", "/", headers={"content-type": content_type}, body=body)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"[]",
        b"{}x",
        b'{"kind": true}',
        b'{"apiVersion": 1}',
        b'{"metadata": "x"}',
        b"\xff{",
        b"NaN",
        b"[" * 100_000,
        b'{"a":1e999}',
        b'{"a":"\\ud800"}',
    ],
)
def test_what_is_no_object_is_refused(body: bytes) -> None:
    """400, whatever is sent: neither depth nor half a character takes the server down."""
    with pytest.raises(ApiError, match="must be of type Deployment") as refused:
        decoded_object(request(body), "apps/v1", "Deployment")
    assert refused.value.status == 400


@pytest.mark.parametrize("content_type", ["text/plain", "application/yaml"])
def test_other_encodings_are_refused(content_type: str) -> None:
    """415 says that it is the sandbox that does not serve them."""
    with pytest.raises(ApiError, match="the sandbox does not serve this") as refused:
        decoded_object(request(b"kind: Pod", content_type), "v1", "Pod")
    assert refused.value.status == 415


def test_large_bodies_are_refused() -> None:
    """Three MiB are the server's limit."""
    check_size(request(b" " * MOST_BODY_BYTES))
    with pytest.raises(ApiError, match="limit is 3145728") as refused:
        check_size(request(b" " * (MOST_BODY_BYTES + 1)))
    assert refused.value.status == 413


RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"


@pytest.fixture
def dev(client: Client) -> Client:
    """Return a user who may read Deployments of the namespace, and no more."""
    client.cluster.add_user("dev", "dev-token")
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]}
    client.ask("POST", f"{RBAC}/roles", {"metadata": {"name": "reader"}, "rules": [rule]})
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "dev"}],
    }
    assert client.ask("POST", f"{RBAC}/rolebindings", binding).status == 201
    return Client(client.cluster, client.entries, "dev-token")


def test_a_renewed_token_replaces_the_one_before(client: Client) -> None:
    """A served cluster does not know the well-known token any more."""
    client.cluster.renew_admin_token("secret")
    assert client.ask("GET", CONFIG_MAPS).status == 401
    assert Client(client.cluster, client.entries, "secret").ask("GET", CONFIG_MAPS).status == 200


def test_anonymous_requests_see_health_and_no_more(client: Client) -> None:
    """Without a token one may ask how the server is, and for its version."""
    nobody = Client(client.cluster, client.entries, "")
    assert [nobody.ask("GET", path).status for path in ("/readyz", "/version", "/api")] == [
        200,
        200,
        403,
    ]
    refused = nobody.json("GET", "/api/v1/pods")
    assert refused["message"] == (
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group ""'
        " at the cluster scope"
    )


def test_the_audit_hears_every_request(client: Client, dev: Client) -> None:
    """Who asked what, what was sent, and how it ended; dry runs are no writes."""
    client.entries.clear()
    body = {"metadata": {"name": "a"}}
    client.ask("POST", f"{CONFIG_MAPS}?dryRun=All", body)
    client.ask("POST", CONFIG_MAPS, body)
    dev.ask("POST", CONFIG_MAPS, body)
    Client(client.cluster, client.entries, "nobody").ask("GET", "/version")
    tried, made, refused, unknown = client.entries
    assert [entry.is_write for entry in client.entries] == [False, True, True, False]
    assert [entry.status for entry in client.entries] == [201, 201, 403, 401]
    assert [entry.user for entry in client.entries] == ["admin", "admin", "dev", ""]
    assert made.request_body == b'{"metadata": {"name": "a"}}'
    assert b'"resourceVersion"' in made.answer_body
    assert tried.uri == f"{CONFIG_MAPS}?dryRun=All"
    assert (refused.target.verb, refused.target.resource) == ("create", "configmaps")
    assert unknown.user_agent == "kubectl/v1.36 (linux)"
    assert made.at == client.cluster.timers.now()
