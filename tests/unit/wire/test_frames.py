"""Lines of a watch, pages of a list, whole objects: what they hold, and which are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import DEPLOYMENT, deployment_ref
from gate.core.rollout.observations import Kind
from gate.wire import decode
from gate.wire.decode import DecodeError
from gate.wire.frames import WatchType
from gate.wire.kinds.registry import WATCHED
from tests.decoded import decode_deployment, decode_pod
from tests.unit.wire.api_objects import POD, REPLICA_SET, line, text, without


@pytest.mark.contract("B156")
@pytest.mark.parametrize("kind", list(WATCHED))
def test_a_bookmark_is_a_version_and_no_object(kind: Kind) -> None:
    """A bookmark's object is of the kind, with nothing in it."""
    empty = {"kind": kind, "metadata": {"resourceVersion": "99"}, "spec": {"containers": None}}
    event = decode.watch_line(line("BOOKMARK", empty))
    assert (event.type, event.resource_version, event.object) == (WatchType.BOOKMARK, "99", None)


@pytest.mark.contract("B157")
def test_an_error_comes_with_its_code() -> None:
    """The Status of an ERROR says what HTTP would have said."""
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old\x1b[1m"}
    event = decode.watch_line(line("ERROR", status))
    assert event.type is WatchType.ERROR
    assert event.error == decode.ServerError(410, text("Expired"), text("too old"))
    assert (event.object, event.resource_version) == (None, "")


def test_a_list_has_objects_version_and_token() -> None:
    """Items of a list do not say their kind; a page says where the next begins."""
    page = {
        "metadata": {"resourceVersion": "50", "continue": "abc"},
        "items": [without(POD, "kind")],
    }
    assert decode.listing(Kind.POD, json.dumps(page).encode()) == decode.Listing(
        (decode_pod(POD),), "50", "abc"
    )
    last = decode.listing(DEPLOYMENT, b'{"metadata":{"resourceVersion":"51"},"items":[]}')
    assert last == decode.Listing((), "51", "")


@pytest.mark.contract("B254")
def test_lines_and_bodies_have_their_caps() -> None:
    """One byte more than the cap is refused before it is read."""
    just = line("ADDED", POD).ljust(decode.MAX_LINE_BYTES)
    assert decode.watch_line(just).object is not None
    with pytest.raises(DecodeError, match="longer than 4194304 bytes"):
        decode.watch_line(just + b" ")
    with pytest.raises(DecodeError, match="longer than 67108864 bytes"):
        decode.listing(Kind.POD, bytes(decode.MAX_BODY_BYTES + 1))


DEEP = b'{"type":"ADDED","object":{"kind":"Pod","x":' + b"[" * 9000 + b"]" * 9000 + b"}}"


@pytest.mark.contract("B156")
@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":null}',
        b'{"type":"ADDED","object":{}}',
        b'{"type":"ADDED","object":{"kind":"Secret","metadata":{}}}',
        b'{"type":"ADDED","object":{"kind":"Pod"}}',
        b'{"type":"ADDED","object":{"kind":"Pod","metadata":[]}}',
        b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":3}}}',
        b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"\xff"}}}',
        b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"\\ud800"}}}',
        b'{"type":"ADDED","object":{"kind":"Deployment","metadata":{},"spec":{}}}',
        b'{"type":"ADDED","object":{"kind":"Deployment","metadata":{},"spec":{"template":3}}}',
        b'{"type":"ADDED","object":{"kind":"Deployment","metadata":{},"spec":{"replicas":1e999}}}',
        line("ADDED", {**REPLICA_SET, "spec": {"template": {"metadata": "text"}}}),
        line("ADDED", {**REPLICA_SET, "spec": {"template": {"metadata": {"labels": ["a"]}}}}),
        b'{"type":"RENAMED","object":{"kind":"Pod","metadata":{}}}',
        line("ADDED", POD)[:-20],
        line("ADDED", POD)[:-2] + b"\x00}",
        DEEP,
    ],
)
def test_a_broken_line_is_a_decode_error(broken: bytes) -> None:
    """Cut, malformed, mistyped, unknown or too deep: one clean line says so."""
    with pytest.raises(DecodeError) as caught:
        decode.watch_line(broken)
    assert str(caught.value).isprintable()


def test_a_live_object_is_body_and_managed_fields(deployment: dict[str, Any]) -> None:
    """Its body is all but status and managed fields, which stand beside it."""
    live = decode.live_object(json.dumps(deployment).encode())
    expected = without(without(deployment, "status"), "metadata", "managedFields")
    assert live.body.thaw() == expected
    assert live.managed.thaw() == {"managedFields": deployment["metadata"]["managedFields"]}
    assert (live.ref, live.uid, live.resource_version) == (
        deployment_ref("shop", "web"),
        "d-1",
        "17",
    )
    assert live.workload == decode_deployment(deployment)


def nested(levels: int) -> dict[str, Any]:
    """Make a tree of fields that many levels deep."""
    return {"f:a": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    "managed", ["x", [3], [{"fieldsV1": {"f:a": 3}}], [{"fieldsV1": nested(200)}]]
)
def test_managed_fields_that_are_no_trees_are_refused(managed: object) -> None:
    """What core walks is what the API promises, and not deeper than any schema."""
    body = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "managedFields": managed}}
    with pytest.raises(DecodeError):
        decode.live_object(body)


@pytest.mark.parametrize("name", ["apiVersion", "kind", "metadata"])
def test_a_live_object_has_to_say_what_it_is(deployment: dict[str, Any], name: str) -> None:
    """Without version, kind or name it is no object."""
    with pytest.raises(DecodeError):
        decode.live_object(without(deployment, name))
