"""Errors of the API server become one leaf each, with one clean line and the right reason.

The documents are what kube-apiserver 1.36 answered.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import urllib3
from urllib3.exceptions import ConnectTimeoutError, ProtocolError, ReadTimeoutError, SSLError

from gate.core.model.outcome import Reason
from gate.kube.answers import translation
from gate.kube.answers.failures import (
    AlreadyExists,
    ApiError,
    ContactBroken,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    Rejected,
    ResourceVersionConflict,
    ServerFailure,
    TimedOut,
    TlsFailure,
    TooManyRequests,
    UidMismatch,
    Unauthorized,
    Unreachable,
)

MODIFIED = (
    'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; '
    "please apply your changes to the latest version and try again"
)
GONE_UID = (
    'Operation cannot be fulfilled on deployments.apps "web": uid mismatch: the provided object '
    "specified uid 1, and no existing object was found"
)
OTHER_UID = (
    'Operation cannot be fulfilled on Deployment.apps "web": the UID in the precondition (1) does '
    "not match the UID in record (2). The object might have been deleted and then recreated"
)
IMMUTABLE_UID = {
    "reason": "FieldValueInvalid",
    "message": 'Invalid value: "1": field is immutable',
    "field": "metadata.uid",
}
TYPED_PATCH = (
    "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): "
    '.spec.template.spec.containers[name="c"].env: duplicate entries for key [name="A"]'
)
NOT_BASE64 = "failed to convert new object (shop/s; /v1, Kind=Secret): illegal base64 data"
NO_RIGHT = (
    'deployments.apps "web" is forbidden: User "dev" cannot patch resource "deployments" in API '
    'group "apps" in the namespace "default"'
)
NO_PATH = 'forbidden: User "dev" cannot get path "/version"'
NO_LIST = (
    'pods.metrics.k8s.io is forbidden: User "system:serviceaccount:shop:ci" cannot list resource '
    '"pods" in API group "metrics.k8s.io" at the cluster scope'
)
NO_GRANT = (
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "dev" (groups=["a" "system:b"]) is '
    'attempting to grant RBAC permissions not currently held: {APIGroups:[""], Resources:["pods"]}'
)
HOOK = 'admission webhook "validation.gatekeeper.sh" denied the request: '
POLICY = (
    "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'tags' with binding 'all' "
    "denied request: "
)
OWNER = 'pods "p" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>'
QUOTA = 'pods "web-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2'


def _status(code: int, message: str = "", reason: str = "", **details: Any) -> str:
    document = {"kind": "Status", "message": message, "reason": reason, "details": details}
    return json.dumps(document | {"code": code})


@pytest.mark.parametrize(
    ("code", "message", "reason", "causes", "leaf", "means"),
    [
        (401, "Unauthorized", "Unauthorized", [], Unauthorized, Reason.UNAUTHORIZED),
        (403, NO_RIGHT, "Forbidden", [], Forbidden, Reason.FORBIDDEN),
        (403, NO_PATH, "Forbidden", [], Forbidden, Reason.FORBIDDEN),
        (403, NO_LIST, "Forbidden", [], Forbidden, Reason.FORBIDDEN),
        (403, NO_GRANT, "Forbidden", [], Forbidden, Reason.FORBIDDEN),
        (403, QUOTA, "Forbidden", [], Rejected, Reason.REJECTED),
        (404, 'pods "x" not found', "NotFound", [], NotFound, Reason.NOT_FOUND),
        (409, MODIFIED, "Conflict", [], ResourceVersionConflict, Reason.CONFLICT),
        (409, GONE_UID, "Conflict", [], UidMismatch, Reason.DELETED),
        (409, OTHER_UID, "Conflict", [], UidMismatch, Reason.DELETED),
        (409, 'leases "x" already exists', "AlreadyExists", [], AlreadyExists, Reason.CONFLICT),
        (410, "too old resource version", "Expired", [], Gone, Reason.UNREACHABLE),
        (422, "is invalid", "Invalid", [IMMUTABLE_UID] * 2, UidMismatch, Reason.DELETED),
        (422, "is invalid", "Invalid", [], Invalid, Reason.REJECTED),
        (429, "shed", "TooManyRequests", [], TooManyRequests, Reason.UNREACHABLE),
        (500, TYPED_PATCH, "", [], Rejected, Reason.REJECTED),
        (500, NOT_BASE64, "", [], Rejected, Reason.REJECTED),
        (500, "etcd is down", "InternalError", [], ServerFailure, Reason.UNREACHABLE),
        (504, "timed out", "Timeout", [], ServerFailure, Reason.UNREACHABLE),
        (413, "too large", "RequestEntityTooLarge", [], Rejected, Reason.REJECTED),
    ],
)
def test_each_answer_has_its_leaf(
    code: int, message: str, reason: str, causes: list[Any], leaf: type[ApiError], means: Reason
) -> None:
    """Status and body decide the class, the reason and whether trying again is of use."""
    error = translation.from_answer(code, _status(code, message, reason, causes=causes), {})
    assert type(error) is leaf
    assert error.reason is means
    assert message in error.message
    assert error.transient is (leaf in (TooManyRequests, ServerFailure))
    assert error.untouched is (leaf is not ServerFailure)


def typed(place: str, expected: str, body: str) -> str:
    """Return what is said of a Secret that does not fit its schema."""
    head = "failed to create typed patch object (shop/s; /v1, Kind=Secret): "
    return f"{head}{place}: expected {expected}, got {body}"


JOB = '{"Spec":{"Env":[{"Name":"PW","Value":"987654321: x"}]}}'
NAME = 'metadata.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain'


@pytest.mark.contract("B1720")
@pytest.mark.parametrize(
    "said",
    [
        f"{HOOK}shop/web:1 cannot be deployed any more",
        f"{POLICY}shop/web:1 cannot be deployed any more",
        f"{HOOK}{NO_RIGHT}",
        f"{POLICY}{NO_RIGHT}",
        f"{HOOK}{NO_GRANT}",
        OWNER,
    ],
    ids=["webhook", "policy", "webhook's right", "policy's words", "webhook's grant", "owner"],
)
def test_what_admission_denies_is_no_missing_right(said: str) -> None:
    """Whatever its words are: no Role of ours mends it, also where a webhook lacks a right."""
    error = translation.from_answer(403, _status(403, said, "Forbidden"), {})
    assert type(error) is Rejected
    assert error.message == said


@pytest.mark.contract("B1720")
@pytest.mark.parametrize("said", ["you cannot come in", "not here", f"{HOOK}no"])
def test_a_read_that_is_refused_lacks_a_right(said: str) -> None:
    """No admission sees it: who refuses it stands before the server, or authorizes there."""
    answer = _status(403, said, "Forbidden")
    assert type(translation.from_answer(403, answer, {}, to_read=True)) is Forbidden
    document = {"code": 403, "message": said}
    assert type(translation.from_status(document, to_read=True)) is Forbidden


@pytest.mark.contract("B252")
@pytest.mark.parametrize(
    ("code", "message", "shown"),
    [
        (
            500,
            typed(".stringData.pw", "string", "&value.valueUnstructured{Value:987654321}"),
            ".stringData.pw: expected string, got something else",
        ),
        (
            500,
            typed(".stringData", "map", "&{[canary\n987654321]}"),
            ".stringData: expected map, got something else",
        ),
        (
            422,
            f'Job.batch "m" is invalid: spec.template: Invalid value: {JOB}: field is immutable',
            "spec.template: Invalid value: (not shown): field is immutable",
        ),
        (
            422,
            'spec.template: Invalid value: core.PodTemplateSpec{Value:"987654321"}: is immutable',
            "spec.template: Invalid value: (not shown): is immutable",
        ),
        (
            422,
            '[a: Invalid value: {"x": "987654321"}: no, b: Invalid value: {"y":"987654321"}: no]',
            "[a: Invalid value: (not shown): no]",
        ),
        (422, NAME, NAME),
    ],
)
def test_bodies_that_the_server_quotes_are_left_out(code: int, message: str, shown: str) -> None:
    """What an answer repeats of the body may be a secret; the path and the rule are enough."""
    cause = {"field": "spec.template", "message": message}
    error = translation.from_answer(code, _status(code, message, causes=[cause]), {})
    assert error.message.endswith(shown)
    assert isinstance(error, Rejected)
    assert "987654321" not in f"{error.message} {getattr(error, 'problems', '')}"


LABELS = {
    "field": "spec.template.metadata.labels",
    "message": 'Invalid value: {"app":"987654321"}: `selector` does not match template `labels`',
}
SELECTOR = {
    "field": "spec.selector",
    "message": 'Invalid value: {"matchLabels":{"app":"987654321"}}: field is immutable',
}


@pytest.mark.contract("B235", "B252")
def test_each_invalid_field_keeps_its_own_words() -> None:
    """The server lists them in one message, in which nobody can tell where a body ends."""
    listed = ", ".join(f"{cause['field']}: {cause['message']}" for cause in (LABELS, SELECTOR))
    said = f'Deployment.apps "web" is invalid: [{listed}]'
    causes = [LABELS, SELECTOR, LABELS]
    error = translation.from_answer(422, _status(422, said, causes=causes), {})
    assert isinstance(error, Invalid)
    assert [problem.path for problem in error.fields] == [
        "spec.template.metadata.labels",
        "spec.selector",
    ]
    assert error.message == (
        'Deployment.apps "web" is invalid: spec.template.metadata.labels: Invalid value: '
        "(not shown): `selector` does not match template `labels`; spec.selector: Invalid value: "
        "(not shown): field is immutable"
    )


@pytest.mark.contract("B235")
def test_a_message_that_says_more_than_its_causes_is_kept() -> None:
    """A webhook writes what it likes; its causes need not be the whole of it."""
    said = "web is invalid: ask the platform team"
    causes = [{"field": "a", "message": "no"}, {"field": "b", "message": "no"}]
    error = translation.from_answer(422, _status(422, said, causes=causes), {})
    assert error.message == said


@pytest.mark.contract("B1654")
def test_the_fields_of_a_conflict_stand_in_one_line() -> None:
    """The server gives each field a line of its own, and each manager one above them."""
    said = (
        'Apply failed with 3 conflicts: conflicts with "a" using apps/v1:\n- .spec.x\n- .spec.y\n'
        'conflicts with "b" using v1:\n- .data.z'
    )
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {by}", "field": field}
        for by, field in (
            ('"a" using apps/v1', ".spec.x"),
            ('"a" using apps/v1', ".spec.y"),
            ('"b" using v1', ".data.z"),
        )
    ]
    error = translation.from_answer(409, _status(409, said, "Conflict", causes=causes), {})
    assert error.message == (
        'Apply failed with 3 conflicts: conflict with "a" using apps/v1: .spec.x, .spec.y;'
        ' conflict with "b" using v1: .data.z'
    )


@pytest.mark.contract("B235", "B252")
def test_each_field_that_does_not_fit_the_schema_is_named() -> None:
    """The body that is quoted for the first one ends where the next one begins."""
    said = (
        "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): errors:\n"
        "  .spec.paused: expected boolean, got &{98765\n  .x: 4321}\n"
        "  .spec.foo: field not declared in schema\n"
        "  .spec.replicas: expected numeric (int or float), got &{987654321}"
    )
    error = translation.from_answer(500, _status(500, said), {})
    assert error.message.partition("errors:   ")[2].split("   ") == [
        ".spec.paused: expected boolean, got something else",
        ".spec.foo: field not declared in schema",
        ".spec.replicas: expected numeric (int or float), got something else",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b'{"kind": "Status", "code": "x", "details": [1]}',
        b'{"kind": "Status", "details": {"causes": 3, "retryAfterSeconds": "soon"}}',
    ],
)
def test_malformed_answers_are_no_surprise(body: bytes) -> None:
    """What is no Status as documented is named by its HTTP status."""
    assert type(translation.from_answer(422, body, {})) is Invalid
    assert type(translation.from_answer(503, body, {})) is ServerFailure
    document = json.loads(body) if body.startswith(b"{") else {}
    assert isinstance(translation.from_status(document), Rejected)


@pytest.mark.parametrize(
    ("headers", "details", "seconds"),
    [
        ({"Retry-After": "7"}, {}, 7.0),
        ({}, {"retryAfterSeconds": 3}, 3.0),
        ({"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}, {}, None),
        ({"Retry-After": "-5"}, {}, 0.0),
        ({"Retry-After": "inf"}, {}, 60.0),
        ({"Retry-After": "86400"}, {}, 60.0),
        ({}, {}, None),
    ],
)
def test_retry_after(
    headers: dict[str, str], details: dict[str, Any], seconds: float | None
) -> None:
    """What the server asks for is read from the header, else from the Status."""
    error = translation.from_answer(429, _status(429, **details), headers)
    assert error.retry_after_seconds == seconds


@pytest.mark.contract("B176")
def test_pages_of_proxies_are_cut_and_cleaned() -> None:
    """An HTML body becomes a few words on one line, without escapes and scripts."""
    page = "<html><script>x()</script><h1>Bad\x1b[31m Gateway</h1>\r\n" + "<p>word</p>" * 500
    error = translation.from_answer(502, page, {})
    assert type(error) is ServerFailure
    assert error.message.startswith("the server answered 502: Bad Gateway word word")
    assert len(error.message) < 200
    assert type(translation.from_answer(403, "<h1>blocked</h1>", {})) is Forbidden
    assert type(translation.from_answer(409, "", {})) is ResourceVersionConflict


NO_TRUST = "certificate verify failed: self-signed certificate (_x)"
NO_TLS = "[SSL: WRONG_VERSION_NUMBER] wrong version number"
RESET = ConnectionResetError(104, "reset by peer")
POOL = urllib3.HTTPConnectionPool("s")


@pytest.mark.parametrize(
    ("error", "leaf", "said"),
    [
        (SSLError(NO_TRUST), TlsFailure, "of https://s is not trusted: self-signed certificate"),
        (SSLError(NO_TLS), TlsFailure, "https://s does not speak TLS"),
        (ConnectTimeoutError(), Unreachable, "no connection in time"),
        (ReadTimeoutError(POOL, "/", "Read timed out."), TimedOut, "did not answer in time"),
        (
            ProtocolError("Connection aborted.", RESET),
            ContactBroken,
            "the connection to https://s broke: reset by peer",
        ),
        (OSError(24, "Too many open files"), ContactBroken, "broke"),
    ],
)
def test_transport_errors(error: Exception, leaf: type[ApiError], said: str) -> None:
    """Errors below HTTP say what happened, and whether the server can have acted."""
    named = translation.from_transport(error, "https://s")
    assert type(named) is leaf
    assert said in named.message
    assert named.untouched is (leaf in (Unreachable, TlsFailure))
