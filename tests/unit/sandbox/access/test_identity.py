"""Tokens: who is behind a request."""

from __future__ import annotations

import pytest

from sandbox.access.identity import (
    ADMIN,
    ANONYMOUS,
    Tokens,
    service_account,
    user,
)
from sandbox.failure import ApiError


def test_a_token_stands_for_its_identity() -> None:
    """Until it is revoked."""
    tokens = Tokens()
    tokens.add("abc", ADMIN)
    assert tokens.identify({"authorization": "Bearer abc"}) is ADMIN
    assert tokens.identify({"authorization": "bearer abc"}) is ADMIN
    tokens.revoke("abc")
    with pytest.raises(ApiError):
        tokens.identify({"authorization": "Bearer abc"})


@pytest.mark.parametrize("header", ["Bearer nope", "Bearer ", "Basic abc"])
def test_unknown_credentials_are_401(header: str) -> None:
    """In the server's one word."""
    tokens = Tokens()
    tokens.add("abc", ADMIN)
    with pytest.raises(ApiError) as caught:
        tokens.identify({"authorization": header})
    body = caught.value.body()
    assert (body["code"], body["reason"], body["message"]) == (401, "Unauthorized", "Unauthorized")
    assert "details" not in body


def test_no_credentials_are_anonymous() -> None:
    """Which is an identity like any other, with few rights."""
    assert Tokens().identify({}) is ANONYMOUS


def test_a_service_account_has_its_groups() -> None:
    """All service accounts, those of its namespace, and the authenticated."""
    found = service_account("ci", "gate")
    assert found.user == "system:serviceaccount:ci:gate"
    assert found.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:ci",
        "system:authenticated",
    )


def test_a_user_is_authenticated() -> None:
    """Beside the groups that are named."""
    assert user("alice", "devs").groups == ("devs", "system:authenticated")


def test_tokens_do_not_show_themselves() -> None:
    """A representation holds no secret."""
    tokens = Tokens()
    tokens.add("abc", ADMIN)
    assert "abc" not in repr(tokens)
