"""Who asks, and what they may."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.serving.client import CONFIG_MAPS, Client

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
    assert (refused.target.verb, refused.target.key) == ("create", "configmaps")
    assert unknown.user_agent == "kubectl/v1.36 (linux)"
    assert made.at == client.cluster.timers.now()
