"""Request bodies, and what is said of those that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.api.api import PatchType
from sandbox.failure import ApiError
from sandbox.serving.bodies import (
    MOST_BODY_BYTES,
    check_size,
    decoded_object,
    decoded_options,
    decoded_patch,
)
from sandbox.serving.request import Request


def request(body: bytes, content_type: str = "application/json") -> Request:
    """Return a request with a body."""
    return Request("POST", "/", headers={"content-type": content_type}, body=body)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"kind": "Pod"}', "application/json"),
        (b'{"kind": "Pod"}', "application/json; charset=utf-8"),
        (b'{"kind": "Pod"}', ""),
        (b"kind: Pod", "application/yaml"),
    ],
)
def test_objects_come_as_json_or_yaml(body: bytes, content_type: str) -> None:
    """JSON is the default."""
    assert decoded_object(request(body, content_type), "v1", "Pod") == {"kind": "Pod"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "unexpected end of JSON input ({)"),
        (b"", "unexpected end of JSON input (<empty>)"),
        (b"[]", 'cannot unmarshal array into Go value of type struct { APIVersion string "json'),
        (b"{x}", "invalid character 'x' looking for beginning of object key string ({x})"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a": 1 "b"}', """invalid character '"' after object key:value pair"""),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"{}x", "invalid character 'x' after top-level value ({}x)"),
        (b"x", "invalid character 'x' looking for beginning of value (78)"),
        (b'{"a', "unexpected end of JSON input"),
        (b'{"kind": true}', "cannot unmarshal bool into Go struct field .kind of type string"),
        (b'{"apiVersion": 1}', "cannot unmarshal number into Go struct field .apiVersion"),
        (b"\xff{", "invalid UTF-8"),
        (b"NaN", "invalid character 'N'"),
        (b"[" * 100_000, "max depth"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "max depth"),
        (b'{"a":1e999}', "cannot unmarshal number 1e999 into Go value of type float64"),
    ],
)
def test_what_is_no_object_is_refused(body: bytes, why: str) -> None:
    """The words are the server's: which type it should be, and what Go's parser says."""
    with pytest.raises(ApiError) as refused:
        decoded_object(request(body), "apps/v1", "Deployment")
    assert refused.value.status == 400
    assert "must be of type Deployment" in refused.value.message
    assert why in refused.value.message


def test_metadata_is_an_object() -> None:
    """Everything else of an object is checked by its kind."""
    with pytest.raises(ApiError) as refused:
        decoded_object(request(b'{"metadata": []}'), "apps/v1", "Deployment")
    assert refused.value.message == (
        'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal'
        " array into Go struct field Deployment.metadata of type v1.ObjectMeta"
    )
    assert decoded_object(request(b"null"), "v1", "Pod") == {}


def test_other_encodings_are_refused() -> None:
    """An unknown type is answered with 415 and the types that there are."""
    with pytest.raises(ApiError, match="accepted media types include: application/json") as refused:
        decoded_object(request(b"x", "text/plain"), "v1", "Pod")
    assert refused.value.status == 415


@pytest.mark.parametrize(
    ("content_type", "raw", "body"),
    [
        ("application/merge-patch+json", b'{"a": null}', {"a": None}),
        ("application/strategic-merge-patch+json", b"{}", {}),
        ("application/json-patch+json", b'[{"op": "test"}]', [{"op": "test"}]),
        ("application/apply-patch+yaml", b"a: 2020-01-01T00:00:00Z", {"a": "2020-01-01T00:00:00Z"}),
        ("application/apply-patch+yaml", b'{"a": 1}', {"a": 1}),
    ],
)
def test_patches_are_told_apart_by_their_type(content_type: str, raw: bytes, body: Any) -> None:
    """Four media types, four kinds; applies are YAML."""
    patch = decoded_patch(request(raw, content_type), force=True)
    assert (patch.type, patch.body, patch.force) == (
        PatchType(content_type),
        body,
        content_type == PatchType.APPLY,
    )


@pytest.mark.parametrize(
    ("content_type", "raw", "status", "why"),
    [
        ("application/json", b"{}", 415, "415: Unsupported Media Type"),
        (
            "application/merge-patch+json",
            b"[]",
            400,
            (
                "error decoding patch: json: cannot unmarshal array into Go value of type"
                " map[string]interface {}"
            ),
        ),
        ("application/strategic-merge-patch+json", b"[]", 400, "json: cannot unmarshal array"),
        ("application/merge-patch+json", b"{", 400, "unexpected end"),
        (
            "application/json-patch+json",
            b"{}",
            400,
            "cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        ("application/apply-patch+yaml", b"a: [", 400, "error decoding YAML"),
        ("application/apply-patch+yaml", b"- a", 400, "cannot unmarshal array"),
    ],
)
def test_patches_that_cannot_be_read(content_type: str, raw: bytes, status: int, why: str) -> None:
    """What is no patch of its type is refused."""
    with pytest.raises(ApiError) as refused:
        decoded_patch(request(raw, content_type), force=False)
    assert refused.value.status == status
    assert why in refused.value.message


def test_large_bodies_are_refused() -> None:
    """Three MiB are the server's limit."""
    check_size(request(b" " * MOST_BODY_BYTES))
    with pytest.raises(ApiError, match="limit is 3145728") as refused:
        check_size(request(b" " * (MOST_BODY_BYTES + 1)))
    assert refused.value.status == 413


def test_delete_options_are_optional() -> None:
    """No body is no options; another kind is refused."""
    assert decoded_options(request(b"")) == {}
    with pytest.raises(ApiError, match='no kind "Foo" is registered'):
        decoded_options(request(b'{"kind": "Foo"}'))
    with pytest.raises(ApiError, match=r"^couldn't get version/kind; json parse error"):
        decoded_options(request(b"["))


def test_yaml_that_blows_itself_up_is_refused() -> None:
    """A few aliases of aliases are a document of millions."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(ApiError, match="document contains excessive aliasing"):
        decoded_object(request("\n".join(lines).encode(), "application/yaml"), "v1", "ConfigMap")
