"""The door: statuses, forms, refusals, in the words of a real server (v1.36.3)."""

from __future__ import annotations

import pytest

from sandbox.json import JSON
from tests.unit.sandbox.bed import web
from tests.unit.sandbox.serving.client import CONFIG_MAPS, DEPLOYMENTS, PODS, Client, document

MERGE = "application/merge-patch+json"


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "/nosuch", 404, "404 page not found"),
        ("GET", "/apis", 501, "the sandbox does not serve this: discovery in parts"),
        ("GET", "/apis/nosuch/v1/foos", 404, "404 page not found"),
        ("GET", "/apis/apps/v1/foos", 404, "could not find the requested resource"),
        ("GET", "/api/v1/pods/x", 404, "could not find the requested resource"),
        ("POST", f"{PODS}/x/exec", 501, "the sandbox does not serve this: pods/exec"),
        ("DELETE", PODS, 501, "the sandbox does not serve this"),
        ("GET", f"{PODS}/x/log?sinceSeconds=1", 501, "the sandbox does not serve this: a log"),
        ("GET", "/apis/apps/v1", 501, "the sandbox does not serve this: discovery in parts"),
        ("GET", "/api/v1/namespaces/default/nodes", 404, "could not find the requested resource"),
        ("PATCH", DEPLOYMENTS, 405, "does not allow this method"),
        ("POST", f"{DEPLOYMENTS}/x/status", 405, "does not allow this method"),
        ("POST", "/api/v1/pods", 405, "does not allow this method"),
        ("HEAD", f"{DEPLOYMENTS}/x", 405, "does not allow this method"),
        ("POST", "/version", 405, "does not allow this method"),
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
    if status == 405:
        assert document(answer)["details"] == {}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("?continue=x", "the sandbox does not serve this: a list in pages"),
        ("?timeoutSeconds=x&watch=1", 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("?labelSelector=a b", "unable to parse requirement"),
        ("?labelSelector=a>1", "the sandbox does not serve this: a label selector that compares"),
        ("?fieldSelector=spec.foo=b", "field label not supported: spec.foo"),
        ("?resourceVersion=x", "invalid resource version"),
        (f"?resourceVersion={'9' * 5000}", "invalid resource version"),
        (f"?timeoutSeconds={'9' * 5000}&watch=1", "value out of range"),
    ],
)
def test_queries_that_cannot_be_read(client: Client, path: str, message: str) -> None:
    """400, or 501 for what the sandbox does not do."""
    answer = client.ask("GET", f"{DEPLOYMENTS}{path}")
    assert answer.status == (501 if "serve" in message else 400)
    assert message in document(answer)["message"]


@pytest.mark.parametrize(
    "query", ["dryRun=foo", "fieldValidation=foo", "fieldManager=\n", "fieldManager=" + "x" * 129]
)
def test_options_of_a_write_are_checked(client: Client, query: str) -> None:
    """400, and nothing is written."""
    answer = client.ask("POST", f"{CONFIG_MAPS}?{query}", {"metadata": {"name": "settings"}})
    assert answer.status == 400
    assert document(client.ask("GET", CONFIG_MAPS))["items"] == []


@pytest.mark.parametrize(("asked", "status"), [("", 201), ("Warn", 201), ("Strict", 400)])
def test_unknown_fields_are_told_or_refused(client: Client, asked: str, status: int) -> None:
    """They are warned about unless strictness is asked for; both name the field."""
    path = f"{DEPLOYMENTS}?fieldValidation={asked}"
    answer = client.ask("POST", path, web(speed=3))
    assert answer.status == status
    if status == 201:
        assert answer.headers["warning"] == '299 - "unknown field \\"spec.speed\\""'
    else:
        assert 'strict decoding error: unknown field "spec.speed"' in document(answer)["message"]
        assert "warning" not in answer.headers


def test_a_form_that_is_not_there_is_refused(client: Client) -> None:
    """The refusal itself comes as JSON."""
    answer = client.ask("GET", DEPLOYMENTS, accept="text/plain")
    assert (answer.status, document(answer)["reason"]) == (406, "NotAcceptable")


@pytest.mark.parametrize("deep", [b'{"metadata":' * 900, b'{"a":' * 300 + b"1" + b"}" * 300])
def test_a_body_that_is_too_deep_is_answered(client: Client, deep: bytes) -> None:
    """It is refused, or what is not known of it is left out; the door does not fall."""
    for method, path, kind in (
        ("POST", CONFIG_MAPS, "application/json"),
        ("PATCH", f"{CONFIG_MAPS}/x?fieldManager=m", "application/apply-patch+yaml"),
    ):
        assert client.ask(method, path, deep, content_type=kind).status in (400, 422)


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
