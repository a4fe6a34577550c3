"""The door: statuses, forms, refusals, in the words of a real server (v1.36.3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from sandbox.json import JSON
from tests.unit.sandbox.serving.client import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    Client,
    document,
)

Make = Callable[..., JSON]
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def test_an_object_goes_through_its_life(client: Client, config_map: Make) -> None:
    """Created 201, read, replaced, patched, deleted 200, and then not found 404."""
    one = f"{CONFIG_MAPS}/settings"
    assert client.ask("POST", CONFIG_MAPS, config_map(a="1")).status == 201
    assert client.json("GET", one)["data"] == {"a": "1"}
    assert client.json("PUT", one, config_map(a="2"))["data"] == {"a": "2"}
    patched = client.json("PATCH", one, {"data": {"b": "3"}}, content_type=MERGE)
    assert patched["data"] == {"a": "2", "b": "3"}
    deleted = client.json("DELETE", one)
    assert (deleted["kind"], deleted["status"]) == ("Status", "Success")
    gone = client.ask("GET", one)
    assert gone.status == 404
    assert document(gone) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "settings" not found',
        "reason": "NotFound",
        "details": {"name": "settings", "kind": "configmaps"},
        "code": 404,
    }


def test_an_apply_creates_and_then_changes(client: Client, config_map: Make) -> None:
    """The status tells which of both it was; the manager is kept."""
    path = f"{CONFIG_MAPS}/settings?fieldManager=gate"
    made = client.ask("PATCH", path, config_map(a="1"), content_type=APPLY)
    again = client.ask("PATCH", path, b"kind: ConfigMap\napiVersion: v1\n", content_type=APPLY)
    assert (made.status, again.status) == (201, 200)
    assert document(made)["metadata"]["managedFields"][0]["manager"] == "gate"


def test_the_manager_comes_from_the_program(client: Client, config_map: Make) -> None:
    """Without `fieldManager`, managedFields name what stands before the slash."""
    made = client.json("POST", CONFIG_MAPS, config_map(a="1"))
    assert made["metadata"]["managedFields"][0]["manager"] == "kubectl"


def test_a_dry_run_keeps_nothing(client: Client, config_map: Make) -> None:
    """It answers as if."""
    assert client.ask("POST", f"{CONFIG_MAPS}?dryRun=All", config_map()).status == 201
    assert client.ask("GET", f"{CONFIG_MAPS}/settings").status == 404


def test_collections_are_listed_and_deleted(client: Client, config_map: Make) -> None:
    """Items carry no kind; selectors narrow down; a collection is deleted as a whole."""
    for name in ("a", "b"):
        client.ask("POST", CONFIG_MAPS, config_map(name))
    found = client.json("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name=b")
    assert found["kind"] == "ConfigMapList"
    assert [item["metadata"]["name"] for item in found["items"]] == ["b"]
    assert "kind" not in found["items"][0]
    page = client.json("GET", f"{CONFIG_MAPS}?limit=1")
    assert page["metadata"]["remainingItemCount"] == 1
    rest = client.json("GET", f"{CONFIG_MAPS}?limit=1&continue={page['metadata']['continue']}")
    assert [item["metadata"]["name"] for item in rest["items"]] == ["b"]
    assert len(client.json("DELETE", CONFIG_MAPS)["items"]) == 2
    assert client.json("GET", CONFIG_MAPS)["items"] == []


def test_scale_is_read_and_written(client: Client, deployment: Make) -> None:
    """The scale subresource changes the replicas and nothing else."""
    client.ask("POST", DEPLOYMENTS, deployment(replicas=1))
    path = f"{DEPLOYMENTS}/web/scale"
    assert client.json("GET", path)["kind"] == "Scale"
    client.ask("PATCH", path, {"spec": {"replicas": 3}}, content_type=MERGE)
    assert client.json("GET", f"{DEPLOYMENTS}/web")["spec"]["replicas"] == 3


def test_a_pod_is_bound_and_evicted(client: Client) -> None:
    """Subresources that act answer 201."""
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    client.ask("POST", PODS, pod)
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "sandbox-0"}}
    assert client.ask("POST", f"{PODS}/p/binding", binding).status == 201
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}
    assert client.ask("POST", f"{PODS}/p/eviction", eviction).status == 201
    assert "deletionTimestamp" in client.json("GET", f"{PODS}/p")["metadata"]


def test_delete_options_come_by_query_or_body(client: Client, deployment: Make) -> None:
    """Propagation, preconditions and dry run are heard; what they cannot be is refused."""
    client.ask("POST", DEPLOYMENTS, deployment())
    path = f"{DEPLOYMENTS}/web"
    refused = client.ask("DELETE", f"{path}?propagationPolicy=Foo")
    assert refused.status == 422
    assert document(refused)["message"] == (
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo":'
        ' supported values: "Foreground", "Background", "Orphan", "nil"'
    )
    assert client.ask("DELETE", path, {"preconditions": {"uid": "other"}}).status == 409
    assert client.ask("DELETE", path, {"dryRun": ["All"]}).status == 200
    both = client.json("DELETE", path, {"orphanDependents": True, "propagationPolicy": "Orphan"})
    assert "orphanDependents and deletionPropagation cannot be both set" in both["message"]
    no_number = client.json("DELETE", path, {"gracePeriodSeconds": "x"})
    assert "into Go struct field DeleteOptions.gracePeriodSeconds" in no_number["message"]
    orphaned = client.json("DELETE", f"{path}?orphanDependents=true&dryRun=All")
    assert orphaned["metadata"]["finalizers"] == ["orphan"]
    held = client.json("DELETE", f"{path}?propagationPolicy=Foreground")
    assert held["metadata"]["finalizers"] == ["foregroundDeletion"]


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "/nosuch", 404, "404 page not found"),
        ("GET", "/apis/nosuch", 404, "404 page not found"),
        ("GET", "/apis/nosuch/v1/foos", 404, "404 page not found"),
        ("GET", f"/{DEPLOYMENTS}", 404, "404 page not found"),
        ("GET", "/apis/apps/v2", 404, "could not find the requested resource"),
        ("GET", "/apis/apps/v1/foos", 404, "could not find the requested resource"),
        ("GET", "/api/v1/pods/x", 404, "could not find the requested resource"),
        ("GET", f"{PODS}/x/nosub", 404, "could not find the requested resource"),
        ("GET", "/api/v1/namespaces/default/nodes", 404, "could not find the requested resource"),
        ("PATCH", DEPLOYMENTS, 405, "does not allow this method"),
        ("POST", f"{DEPLOYMENTS}/x", 405, "does not allow this method"),
        ("POST", f"{DEPLOYMENTS}/x/status", 405, "does not allow this method"),
        ("POST", "/api/v1/pods", 405, "does not allow this method"),
        ("OPTIONS", f"{DEPLOYMENTS}/x", 405, "does not allow this method"),
        ("HEAD", f"{DEPLOYMENTS}/x", 405, "does not allow this method"),
        ("POST", "/version", 405, "does not allow this method"),
        ("DELETE", "/api/v1/namespaces", 405, "does not allow this method"),
    ],
)
def test_ways_that_lead_nowhere(
    client: Client, method: str, path: str, status: int, message: str
) -> None:
    """Unknown groups get a plain page, what a known group lacks a Status with details."""
    answer = client.ask(method, path)
    assert isinstance(answer.body, bytes)
    assert answer.status == status
    assert message in answer.body.decode()
    if "page" not in message:
        assert document(answer)["details"] == {}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("?limit=x", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("?timeoutSeconds=x&watch=1", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("?labelSelector=a b", "unable to parse requirement"),
        ("?fieldSelector=spec.foo=b", '"spec.foo" is not a known field selector'),
        ("?resourceVersion=x", "invalid resource version"),
    ],
)
def test_queries_that_cannot_be_read(client: Client, path: str, message: str) -> None:
    """400, in the words of the server's parsers."""
    answer = client.ask("GET", f"{DEPLOYMENTS}{path}")
    assert answer.status == 400
    assert message in document(answer)["message"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("dryRun=foo", 'dryRun: Unsupported value: ["foo"]: supported values: "All"'),
        (
            "fieldValidation=foo",
            (
                'fieldValidation: Unsupported value: "foo":'
                ' supported values: "", "Ignore", "Strict", "Warn"'
            ),
        ),
        (
            "fieldManager=\n",
            'fieldManager: Invalid value: "\\n": invalid character U+000A (at position 0)',
        ),
        (
            "fieldManager=" + "x" * 129,
            "fieldManager: Too long: may not be more than 128 bytes",
        ),
    ],
)
def test_options_of_a_write_are_checked(
    client: Client, config_map: Make, query: str, message: str
) -> None:
    """422 that names the option type, as a real server does."""
    answer = client.ask("POST", f"{CONFIG_MAPS}?{query}", config_map())
    assert answer.status == 422
    told = document(answer)
    assert told["message"] == f'CreateOptions.meta.k8s.io "" is invalid: {message}'
    assert told["details"]["group"] == "meta.k8s.io"
    assert "name" not in told["details"]


def test_an_apply_needs_a_manager_and_alone_may_force(client: Client, config_map: Make) -> None:
    """`fieldManager` is required of applies, `force` forbidden to all others."""
    path = f"{CONFIG_MAPS}/settings"
    unnamed = client.json("PATCH", path, config_map(), content_type=APPLY)
    assert "fieldManager: Required value: is required for apply patch" in unnamed["message"]
    forced = client.json("PATCH", f"{path}?force=true", {}, content_type=MERGE)
    assert "force: Forbidden: may not be specified for non-apply patch" in forced["message"]


@pytest.mark.parametrize(("asked", "status"), [("", 201), ("Warn", 201), ("Strict", 400)])
def test_unknown_fields_are_told_or_refused(
    client: Client, deployment: Make, asked: str, status: int
) -> None:
    """They are warned about unless strictness is asked for; both name the field."""
    path = f"{DEPLOYMENTS}?fieldValidation={asked}"
    answer = client.ask("POST", path, deployment(speed=3))
    assert answer.status == status
    if status == 201:
        assert answer.headers["warning"] == '299 - "unknown field \\"spec.speed\\""'
    else:
        assert 'strict decoding error: unknown field "spec.speed"' in document(answer)["message"]
        assert "warning" not in answer.headers


def test_a_large_body_is_refused(client: Client) -> None:
    """Three MiB are the limit."""
    answer = client.ask("POST", CONFIG_MAPS, b" " * (3 * 1024 * 1024 + 1))
    assert (answer.status, document(answer)["reason"]) == (413, "RequestEntityTooLarge")


def test_answers_come_as_tables(client: Client, deployment: Make) -> None:
    """A Table has the page's metadata, and rows with the metadata of their objects."""
    client.ask("POST", DEPLOYMENTS, deployment())
    client.pass_seconds(5)
    found = client.json("GET", DEPLOYMENTS, accept=TABLE)
    assert found["kind"] == "Table"
    [row] = found["rows"]
    assert row["cells"] == ["web", "2/2", 2, 2, "5s", "web", "shop/web:1", "app=web"]
    assert row["object"]["kind"] == "PartialObjectMetadata"
    one = client.json("GET", f"{DEPLOYMENTS}/web?includeObject=Object", accept=TABLE)
    assert one["rows"][0]["object"]["kind"] == "Deployment"
    assert one["metadata"] == {
        "resourceVersion": one["rows"][0]["object"]["metadata"]["resourceVersion"]
    }
    scale = client.json("GET", f"{DEPLOYMENTS}/web/scale", accept=TABLE)
    assert scale["rows"][0]["cells"] == ["web", 2, 2, "5s"]


def test_answers_come_as_metadata(client: Client, config_map: Make) -> None:
    """Clients that want no content get none."""
    client.ask("POST", CONFIG_MAPS, config_map(a="1"))
    one = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    many = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    found = client.json("GET", f"{CONFIG_MAPS}/settings", accept=one)
    assert set(found) == {"kind", "apiVersion", "metadata"}
    listed = client.json("GET", CONFIG_MAPS, accept=many)
    assert listed["kind"] == "PartialObjectMetadataList"
    assert [set(item) for item in listed["items"]] == [{"kind", "apiVersion", "metadata"}]
    misfit = client.ask("GET", CONFIG_MAPS, accept=one)
    assert misfit.status == 406
    assert document(misfit)["message"] == (
        "you requested PartialObjectMetadata, but the requested object is a list"
        " (*core.ConfigMapList)"
    )


def test_answers_come_as_yaml(client: Client) -> None:
    """Objects and refusals alike."""
    path = "/api/v1/namespaces/default"
    answer = client.ask("GET", path, accept="application/yaml")
    assert isinstance(answer.body, bytes)
    assert answer.headers["content-type"] == "application/yaml"
    assert yaml.safe_load(answer.body)["kind"] == "Namespace"
    refused = client.ask("GET", f"{path}x", accept="application/yaml")
    assert isinstance(refused.body, bytes)
    assert yaml.safe_load(refused.body)["code"] == 404


def test_a_form_that_is_not_there_is_refused(client: Client) -> None:
    """The refusal itself comes as JSON."""
    answer = client.ask("GET", DEPLOYMENTS, accept="text/plain")
    assert (answer.status, document(answer)["reason"]) == (406, "NotAcceptable")


def test_bodies_come_as_yaml(client: Client) -> None:
    """A manifest can be posted as it is."""
    raw = b"metadata:\n  name: settings\ndata: {a: '1'}\n"
    assert client.ask("POST", CONFIG_MAPS, raw, content_type="application/yaml").status == 201


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"dryRun": 1}, "DeleteOptions.dryRun of type []string"),
        ({"dryRun": [1]}, "DeleteOptions.dryRun of type string"),
        ({"preconditions": 3}, "DeleteOptions.preconditions of type v1.Preconditions"),
    ],
)
def test_delete_options_have_types(client: Client, body: JSON, message: str) -> None:
    """400 in the words of the decoder, and nothing is deleted."""
    found = client.json("DELETE", "/api/v1/namespaces/default", body)
    assert found["code"] == 400
    assert found["message"] == f"json: cannot unmarshal number into Go struct field {message}"


@pytest.mark.parametrize("number", ["²", "9" * 5000, "1" * 30])
def test_a_number_that_is_none_is_refused(client: Client, number: str) -> None:
    """400 for the options of a list, its version among them."""
    assert client.ask("GET", f"{PODS}?limit={number}").status == 400
    assert client.ask("GET", f"{PODS}?resourceVersion={number}").status == 400


def test_half_a_surrogate_pair_is_a_replacement_character(client: Client, config_map: Make) -> None:
    """As Go's decoder has it, so that every answer can be encoded."""
    made = client.json("POST", CONFIG_MAPS, config_map(key="\ud800x"))
    assert made["data"] == {"key": "\ufffdx"}


def test_warnings_fit_into_a_header(client: Client, config_map: Make) -> None:
    """Where there are too many, the first ones are told, each in part."""
    odd = {f"{number}-{'x' * 1000}": 1 for number in range(50)}
    answer = client.ask("POST", CONFIG_MAPS, {**config_map(), **odd})
    assert answer.status == 201
    told = answer.headers["warning"].split(", ")
    assert told[0].startswith('299 - "unknown field \\"0-xxx')
    assert len(told) == 16
    assert len(answer.headers["warning"]) < 5000
