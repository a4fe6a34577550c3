"""One effect is one request, and every answer of a server becomes one event.

The answers are what kube-apiserver 1.36 gave; `tests/e2e` asks it again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import WriteConflicted, WriteRejected, WriteUncertain, Written
from gate.kube.client.client import Client
from gate.kube.paths.resources import Resources
from gate.kube.writes.writes import Writer
from gate.virtual_time import VirtualClock
from tests.unit.kube.scripted import Answer, Drop, Reply, ScriptedServer, as_json, as_status

WEB = deployment_ref("shop", "web")
PATH = "/apis/apps/v1/namespaces/shop/deployments/web"
META: dict[str, Any] = {"name": "web", "namespace": "shop"}
BODY: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": META,
    "spec": {"replicas": 2},
}
LIVE = BODY | {
    "metadata": META
    | {
        "uid": "u1",
        "resourceVersion": "8",
        "managedFields": [{"manager": "m", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {"replicas": 2, "template": {"spec": {"containers": []}}},
}
CONFLICT = {"reason": "FieldManagerConflict", "message": 'conflict with "hpa"', "field": ".spec.x"}


@pytest.fixture
def writer(client: Client, resources: Resources) -> Writer:
    """Return a writer to the scripted server."""
    return Writer(client, resources, VirtualClock(5.0))


def _write(verb: Verb = Verb.APPLY, body: Any = BODY, **more: Any) -> Write:
    guards = {"uid": "u1", "resource_version": "7"} | more
    return Write(3, WEB, verb, Body.of(body), **guards)


APPLIED = BODY | {"metadata": META | {"uid": "u1", "resourceVersion": "7"}}
GUARDS = {"uid": "u1", "resourceVersion": "7"}
STRICT = {"fieldManager": "rollout-gate", "fieldValidation": "Strict"}


@pytest.mark.contract("B16", "B125")
@pytest.mark.parametrize(
    ("write", "content_type", "query", "body"),
    [
        (
            (Verb.APPLY, BODY),
            "application/apply-patch+yaml",
            STRICT | {"force": "false"},
            APPLIED,
        ),
        (
            (Verb.MERGE, {"spec": {"paused": True}}),
            "application/merge-patch+json",
            STRICT,
            {"spec": {"paused": True}, "metadata": GUARDS},
        ),
        (
            (Verb.TAKE_OVER, {"managedFields": [{"manager": "rollout-gate"}]}),
            "application/json-patch+json",
            {"fieldManager": "rollout-gate"},
            [
                {
                    "op": "replace",
                    "path": "/metadata/managedFields",
                    "value": [{"manager": "rollout-gate"}],
                },
                {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "replace", "path": "/metadata/uid", "value": "u1"},
            ],
        ),
        (
            (Verb.DELETE, {}),
            "application/json",
            {},
            {
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": GUARDS,
                "propagationPolicy": "Background",
            },
        ),
    ],
    ids=["apply", "merge", "take over", "delete"],
)
def test_each_write_is_one_guarded_request(
    writer: Writer,
    server: ScriptedServer,
    write: tuple[Verb, Any],
    content_type: str,
    query: dict[str, str],
    body: Any,
) -> None:
    """Strict where it can be, and with uid and resourceVersion as the verb carries them."""
    for method in ("PATCH", "DELETE"):
        server.on(method, PATH, as_json(LIVE))
    answer = writer.perform(_write(*write))
    [seen] = server.seen
    assert (seen.header("Content-Type"), seen.query, seen.json()) == (content_type, query, body)
    assert isinstance(answer, Written)
    assert (answer.at, answer.effect_id) == (5.0, 3)
    assert (answer.live and answer.live.resource_version) == (
        None if write[0] is Verb.DELETE else "8"
    )


@pytest.mark.contract("B125")
def test_what_is_gone_is_deleted(writer: Writer, server: ScriptedServer) -> None:
    """Somebody else was quicker."""
    server.on("DELETE", PATH, as_status(404, "not found"))
    assert writer.perform(_write(Verb.DELETE, {})) == Written(5.0, 3, None)


@pytest.mark.contract("B129")
@pytest.mark.parametrize(("status", "is_created"), [(201, True), (200, False)])
def test_a_creating_apply_goes_into_nothing_that_exists(
    writer: Writer, server: ScriptedServer, status: int, is_created: bool
) -> None:
    """No object has that version, and the answer says whether one was made."""
    server.on("PATCH", PATH, as_json(LIVE, status))
    create = _write(uid=None, resource_version=None, force=True, field_manager="other")
    answer = writer.perform(create)
    assert isinstance(answer, Written)
    assert answer.is_created is is_created
    [seen] = server.seen
    assert seen.json() == BODY | {"metadata": META | {"resourceVersion": "1"}}
    assert (seen.query["force"], seen.query["fieldManager"]) == ("true", "other")


@pytest.mark.contract("B126")
@pytest.mark.parametrize("verb", list(Verb))
def test_a_changed_object_is_a_conflict(writer: Writer, server: ScriptedServer, verb: Verb) -> None:
    """A 409 of the resourceVersion says to read again, whatever the write was."""
    for method in ("PATCH", "DELETE"):
        server.on(method, PATH, as_status(409, "the object has been modified", "Conflict"))
    body = {"managedFields": []} if verb is Verb.TAKE_OVER else BODY
    assert writer.perform(_write(verb, body)) == WriteConflicted(5.0, 3)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (as_status(409, "Apply failed", "Conflict", causes=[CONFLICT]), Reason.CONFLICT),
        (as_status(404, "not found", "NotFound"), Reason.DELETED),
        (as_status(422, "invalid", causes=[{"field": "spec.replicas"}]), Reason.REJECTED),
        (as_status(401, "Unauthorized"), Reason.UNAUTHORIZED),
    ],
)
def test_refusals_for_good(
    writer: Writer, server: ScriptedServer, answer: Reply, reason: Reason
) -> None:
    """With the right reason, once; a 404 of what never existed is no deleted object."""
    server.on("PATCH", PATH, answer)
    rejected = writer.perform(_write())
    assert isinstance(rejected, WriteRejected)
    assert rejected.reason is reason
    assert rejected.paths == ((".spec.x",) if reason is Reason.CONFLICT else ())
    assert len(server.seen) == 1
    if reason is Reason.DELETED:
        created = writer.perform(_write(uid=None, resource_version=None))
        assert isinstance(created, WriteRejected)
        assert created.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    "answer",
    [
        as_status(500, "etcdserver: request timed out"),
        as_status(504),
        Drop(),
        Reply(body=b"<html>"),
        as_json([]),
    ],
)
def test_lost_answers_are_uncertain(writer: Writer, server: ScriptedServer, answer: Answer) -> None:
    """A write of which nobody knows whether it was done is sent once and called that."""
    server.on("PATCH", PATH, answer)
    assert isinstance(writer.perform(_write()), WriteUncertain)
    assert len(server.seen) == 1


@pytest.mark.contract("B518")
def test_what_the_server_wants_outlasts_the_budget(writer: Writer, server: ScriptedServer) -> None:
    """Whoever sends it again is told for how long it is not to be."""
    server.on("PATCH", PATH, replace(as_status(429), headers={"Retry-After": "50"}))
    answer = writer.perform(_write())
    assert isinstance(answer, WriteUncertain)
    assert 50.0 <= answer.retry_after_seconds < 50.0 * 1.2
    assert len(server.seen) == 1


@pytest.mark.contract("B160")
def test_an_object_is_written_ever_less_often_while_its_writes_fail(
    writer: Writer, server: ScriptedServer
) -> None:
    """The pause doubles from 0.2 s to 5 s, by object, until an answer says what became of one."""
    down = as_status(500, 'failed calling webhook "policy.example": connection refused')
    server.on("PATCH", PATH, *[down] * 7, as_json(LIVE), down)
    answers = [writer.perform(_write()) for _ in range(9)]
    pauses = [one.pause_seconds for one in answers if isinstance(one, WriteUncertain)]
    longest = [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2]
    assert len(pauses) == len(longest)
    for pause, most in zip(pauses, longest, strict=True):
        assert most / 2 <= pause <= most
    first = answers[0]
    assert isinstance(first, WriteUncertain)
    assert first.answer == "500 Internal Server Error"
    assert 'failed calling webhook "policy.example"' in first.why


DENIED = as_status(409, 'admission webhook "policy.example" denied the request', "Conflict")


@pytest.mark.contract("B1804", "B126")
@pytest.mark.parametrize("version", ["7", None], ids=["changed", "created"])
def test_a_conflict_over_an_object_that_stays_the_same_is_a_refusal_in_the_end(
    writer: Writer, server: ScriptedServer, version: str | None
) -> None:
    """As of a webhook that answers so: the first may be a real one, and what is denied is said."""
    server.on("PATCH", PATH, DENIED)
    answers = [writer.perform(_write(resource_version=version)) for _ in range(6)]
    assert answers[0] == WriteConflicted(5.0, 3)
    again = [one.pause_seconds for one in answers if isinstance(one, WriteConflicted)][1:]
    for pause, most in zip(again, (0.2, 0.4, 0.8, 1.6), strict=True):
        assert most / 2 <= pause <= most
    message = 'admission webhook "policy.example" denied the request'
    assert answers[-1] == WriteRejected(5.0, 3, Reason.REJECTED, CleanText(message))


@pytest.mark.contract("B1825", "B1804")
@pytest.mark.parametrize("tries", [1, 2])
def test_conflicts_over_an_object_that_changes_come_ever_later_and_are_no_refusal(
    writer: Writer, server: ScriptedServer, tries: int
) -> None:
    """A controller writes it before each try, or each second one; no version has many."""
    server.on("PATCH", PATH, DENIED)
    answers = [writer.perform(_write(resource_version=str(one // tries))) for one in range(8)]
    pauses = [one.pause_seconds for one in answers if isinstance(one, WriteConflicted)]
    for pause, most in zip(pauses, (0.0, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0), strict=True):
        assert most / 2 <= pause <= most


@pytest.mark.contract("B1804", "B1825")
def test_one_that_stays_the_same_waits_the_longer_of_both_pauses(
    writer: Writer, server: ScriptedServer
) -> None:
    """Whether its conflicts come first, or after those over a busy one."""
    server.on("PATCH", PATH, DENIED)
    versions = ("1", "2", "3", "3", "3", "3", "3")
    answers = [writer.perform(_write(resource_version=one)) for one in versions]
    pauses = [one.pause_seconds for one in answers if isinstance(one, WriteConflicted)]
    assert pauses == [0.0, 0.2, 0.4, 0.8, 1.0, 1.0, 1.6], "the longest of each by chance"


@pytest.mark.contract("B1804")
def test_a_write_that_is_done_ends_the_count_of_conflicts(
    writer: Writer, server: ScriptedServer
) -> None:
    """Creation after creation: no object has no version to tell them by."""
    server.on("PATCH", PATH, *[DENIED] * 5, as_json(LIVE, 201), DENIED)
    answers = [writer.perform(_write(uid=None, resource_version=None)) for _ in range(7)]
    assert isinstance(answers[5], Written)
    assert answers[6] == WriteConflicted(5.0, 3)


def test_other_kinds_are_written_where_they_live(writer: Writer, server: ScriptedServer) -> None:
    """The path is that of the object's kind; an unknown kind is rejected, not a bug."""
    path = "/api/v1/namespaces/shop/configmaps/settings"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    server.on("PATCH", path, as_json(config))
    ref = Ref("v1", "ConfigMap", "shop", "settings")
    assert isinstance(
        writer.perform(Write(1, ref, Verb.APPLY, Body.of(config), None, None)), Written
    )
    odd = Ref("example.com/v1", "Widget", "shop", "w")
    rejected = writer.perform(Write(1, odd, Verb.APPLY, Body.of({}), None, None))
    assert isinstance(rejected, WriteRejected)
    assert "no kind Widget" in rejected.message
