"""Request bodies, and what is said of those that cannot be read."""

from __future__ import annotations

import pytest

from sandbox.failure import ApiError
from sandbox.serving.bodies import (
    MOST_BODY_BYTES,
    check_size,
    decoded_object,
)
from sandbox.serving.request import Request


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
