"""Whom a printed Role is bound to."""

from __future__ import annotations

import re

import pytest

from gate.errors import UsageError
from gate.rbac_subject import FORM, PATTERN, Subject, parse_subject, subject_of

pytestmark = pytest.mark.contract("B200")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user:jane@shop.example", Subject("User", "jane@shop.example")),
        ("group:system:masters", Subject("Group", "system:masters")),
        ("serviceaccount:ci/deployer", Subject("ServiceAccount", "deployer", "ci")),
    ],
)
def test_a_subject_is_read(text: str, expected: Subject) -> None:
    """As the help has it, and as the schema does."""
    assert parse_subject(text) == expected
    assert re.search(PATTERN, text)


@pytest.mark.parametrize(
    "text", ["", "jane", "user:", "robot:r", "serviceaccount:ci", "serviceaccount:/x", "User:jane"]
)
def test_what_is_no_subject_is_refused(text: str) -> None:
    """With the forms there are."""
    with pytest.raises(UsageError) as refused:
        parse_subject(text)
    assert refused.value.hint == FORM
    assert not re.search(PATTERN, text)


def test_a_name_of_the_server_is_that_subject() -> None:
    """Service accounts have a name of their own."""
    assert subject_of("system:serviceaccount:ci:deployer") == Subject(
        "ServiceAccount", "deployer", "ci"
    )
    assert subject_of("jane") == Subject("User", "jane")
    assert subject_of("").document("shop")["namespace"] == "shop"
