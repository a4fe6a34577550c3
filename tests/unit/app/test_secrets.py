"""Secrets on their way in: what is sent has to be what can be restored."""

from __future__ import annotations

from typing import Any

import pytest

from gate.app.preflight.server_dry_run import prepare
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.ssa.managed_fields import restoration

SECRET = Ref("v1", "Secret", "shop", "db")


def secret(**fields: Any) -> dict[str, Any]:
    """Return a Secret's body."""
    metadata = {"name": "db", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **fields}


@pytest.mark.contract("B133")
def test_string_data_is_sent_as_data() -> None:
    """It wins over `data`, as on the server, and is itself never sent."""
    body = secret(data={"a": "b2xk", "b": "a2VwdA=="}, stringData={"a": "new"})
    sent = prepare(SECRET, body, Absent()).body
    assert sent == secret(data={"a": "bmV3", "b": "a2VwdA=="})


@pytest.mark.contract("B67")
def test_string_data_of_another_manager_still_conflicts() -> None:
    """Sent as `data` it would overwrite what somebody else applied, without a word."""
    other = {"manager": "other", "operation": "Apply", "fieldsV1": {"f:stringData": {"f:a": {}}}}
    live = LiveObject(
        SECRET, "u", "1", Body.of(secret(data={"a": "b2xk"})), Body.of({"managedFields": [other]})
    )
    body = secret(stringData={"a": "new"})
    assert prepare(SECRET, body, Known(live)).body == body
    taken = prepare(SECRET, body, Known(live), take_over=["other"])
    assert taken.body == secret(data={"a": "bmV3"})


def test_what_the_server_would_refuse_is_left_to_it() -> None:
    """A number is no text: the server's own message names the field."""
    body = secret(stringData={"port": 5432})
    assert prepare(SECRET, body, Absent()).body == body


def test_other_kinds_keep_their_fields() -> None:
    """Only a v1 Secret has stringData."""
    body = {**secret(stringData={"a": "b"}), "apiVersion": "example.com/v1"}
    assert prepare(SECRET, body, Absent()).body == body


@pytest.mark.contract("B133")
def test_a_value_that_nobody_owned_is_put_back() -> None:
    """Data written through stringData is owned by nobody; left out, a rollback would remove it."""
    before = secret(data={"a": "b2xk"})
    after = secret(data={"a": "bmV3"})
    owner = {"manager": "rollout-gate", "operation": "Apply", "apiVersion": "v1"}
    was = {**owner, "fieldsV1": {"f:stringData": {"f:a": {}}}}
    became = {**owner, "fieldsV1": {"f:data": {"f:a": {}}}}
    body = restoration(before, [was], [became], forced=False, live_after=after)
    assert body == before
