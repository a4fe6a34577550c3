"""Leases as locks: what is sent, guarded by what, and what is read of what others wrote."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from math import inf
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import lock_of
from gate.core.model.lock_holder import Holder, Process
from gate.kube.answers.failures import (
    AlreadyExists,
    BadAnswer,
    ResourceVersionConflict,
    UidMismatch,
)
from gate.kube.client.client import Client
from gate.kube.locks.kept_secrets import KeptSecrets
from gate.kube.locks.lease import HISTORY, HOLDER, RECORD, Held, Leases
from tests.unit.kube.scripted import ScriptedServer, a_list, as_json, as_status

LOCK = lock_of(deployment_ref("shop", "web"))
ALL = "/apis/coordination.k8s.io/v1/namespaces/shop/leases"
PATH = f"{ALL}/rollout-gate.deployment.web"
SECRETS = "/api/v1/namespaces/shop/secrets"
NOW = datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC)
PROCESS = Process("runner", "boot", "pid:[1] time:[2]", 7, 99)
ME = Holder("ci/7 abc", "https://ci/7", (LOCK,), PROCESS, (LOCK,), held_last_by="ci/7 abc")


def a_lease(**spec: Any) -> dict[str, Any]:
    """Return a Lease as the server has it."""
    annotations = {
        HOLDER: json.dumps(
            {
                "identity": ME.identity,
                "released": False,
                "url": "https://ci/7",
                "locks": [["shop", LOCK.name]],
                "process": dataclasses.asdict(PROCESS),
                "records_in": [["shop", LOCK.name]],
            }
        ),
        RECORD: "record",
        HISTORY: "history",
    }
    metadata = {"name": LOCK.name, "namespace": "shop", "uid": "u1", "resourceVersion": "7"}
    given = {"holderIdentity": ME.identity, "renewTime": "then", "leaseTransitions": 2, **spec}
    return {"metadata": {**metadata, "annotations": annotations}, "spec": given}


@pytest.fixture
def leases(client: Client) -> Leases:
    """Return the locks of the scripted server."""
    return Leases(client)


def read(leases: Leases, server: ScriptedServer, lease: Any = None) -> Held:
    """Return the lock as it is read from a Lease."""
    server.on("GET", PATH, as_json(lease or a_lease()))
    held = leases.read(LOCK)
    assert held is not None
    return held


def holder_sent(server: ScriptedServer) -> dict[str, Any]:
    """Return what the last request says of a holder."""
    found: dict[str, Any] = json.loads(server.seen[-1].json()["metadata"]["annotations"][HOLDER])
    return found


@pytest.mark.contract("B548")
def test_a_holder_of_an_older_version_says_not_where_records_stand(
    leases: Leases, server: ScriptedServer
) -> None:
    """All else that it says is taken; what is written today is read as it was."""
    lease = a_lease()
    said = json.loads(lease["metadata"]["annotations"][HOLDER])
    del said["records_in"]
    lease["metadata"]["annotations"][HOLDER] = json.dumps(said)
    held = read(leases, server, lease)
    assert held.holder == dataclasses.replace(ME, records_in=())
    server.on("PATCH", PATH, as_json(a_lease()))
    leases.claim(held, ME, NOW)
    assert holder_sent(server) == {**said, "records_in": [["shop", LOCK.name]]}


@pytest.mark.contract("B539")
def test_who_is_put_into_the_spec_alone_has_not_the_process_of_the_one_before(
    leases: Leases, server: ScriptedServer
) -> None:
    """That one's end proves nothing of them, and its page is not theirs."""
    holder = read(leases, server, a_lease(holderIdentity="somebody/else")).holder
    assert (holder.process, holder.url) == (None, "")
    assert (holder.held_last_by, holder.locks) == (ME.identity, (LOCK,))


@pytest.mark.contract("B790")
def test_who_gives_a_lock_back_for_its_holder_says_so(
    leases: Leases, server: ScriptedServer
) -> None:
    """The next one to take it writes that away; a holder that gives it back does not write it."""
    server.on("PATCH", PATH, as_json(a_lease(holderIdentity="")))
    held = read(leases, server)
    leases.release_for(held, NOW)
    sent = server.seen[-1].json()
    assert (sent["spec"]["holderIdentity"], holder_sent(server)["released"]) == ("", True)
    released = a_lease(holderIdentity="")
    released["metadata"]["annotations"] |= sent["metadata"]["annotations"]
    left = read(leases, server, released)
    assert left.holder.was_released
    assert (left.holder.held_last_by, left.is_free) == (ME.identity, True)
    leases.claim(left, ME, NOW)
    assert not holder_sent(server)["released"]
    leases.release(held, {}, NOW)
    assert HOLDER not in server.seen[-1].json()["metadata"].get("annotations", {})


@pytest.mark.contract("B539")
@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"locks": 7}', '{"locks": [], "url": "javascript:x"}', None, 3000 * "["],
)
def test_what_others_say_of_themselves_is_not_believed(
    leases: Leases, server: ScriptedServer, text: str | None
) -> None:
    """A holder without readable particulars is a holder; its text is clean, its URL is one."""
    lease = a_lease(holderIdentity="some\x1b[31mbody", leaseDurationSeconds=10**9)
    lease["metadata"]["annotations"][HOLDER] = text
    held = read(leases, server, lease)
    assert "\x1b" not in held.holder.identity
    assert (held.holder.url, held.holder.locks, held.holder.process) == ("", (), None)
    assert held.seconds <= 600


@pytest.mark.contract("B539")
@pytest.mark.parametrize(
    "wrong", [None, 7, {"pid": None}, {"pid": "seven"}, {"pid": inf}, {"boot_id": ""}, {"host": 7}]
)
def test_what_describes_no_process_is_none(
    leases: Leases, server: ScriptedServer, wrong: Any
) -> None:
    """Of such a holder there is no proof; the rest of what it says counts."""
    lease = a_lease()
    holder = json.loads(lease["metadata"]["annotations"][HOLDER])
    holder["process"] = {**holder["process"], **wrong} if isinstance(wrong, dict) else wrong
    lease["metadata"]["annotations"][HOLDER] = json.dumps(holder)
    assert read(leases, server, lease).holder == dataclasses.replace(ME, process=None)


def test_a_lease_that_changed_hands_most_often_is_taken_all_the_same(
    leases: Leases, server: ScriptedServer
) -> None:
    """`leaseTransitions` is an int32: it stays at its maximum."""
    most = 2**31 - 1
    server.on("PATCH", PATH, as_json(a_lease(leaseTransitions=most)))
    leases.claim(read(leases, server, a_lease(leaseTransitions=most)), ME, NOW)
    assert server.seen[-1].json()["spec"]["leaseTransitions"] == most


def test_what_is_no_lease_is_an_error(leases: Leases, server: ScriptedServer) -> None:
    """An answer that the API does not promise is BadAnswer."""
    server.on("GET", PATH, as_json({"metadata": {}}))
    with pytest.raises(BadAnswer):
        leases.read(LOCK)
    server.on("GET", ALL, as_json({"items": 7}))
    with pytest.raises(BadAnswer):
        leases.all("shop")


def test_a_new_lock(leases: Leases, server: ScriptedServer) -> None:
    """It is created with its holder and read as it was; where somebody else just did, none is."""
    server.on("GET", PATH, as_status(404, "none", "NotFound"))
    assert leases.read(LOCK) is None
    server.on("POST", ALL, as_json(a_lease(), 201))
    assert leases.create(LOCK, ME, NOW) is not None
    assert holder_sent(server) == json.loads(a_lease()["metadata"]["annotations"][HOLDER])
    assert server.seen[-1].json()["spec"] == {
        "holderIdentity": "ci/7 abc",
        "leaseDurationSeconds": 60,
        "acquireTime": "2026-01-02T03:04:05.000600Z",
        "renewTime": "2026-01-02T03:04:05.000600Z",
        "leaseTransitions": 0,
    }
    held = read(leases, server)
    assert (held.holder, held.is_free, held.seconds) == (ME, False, 60)
    assert (held.record, held.history, held.transitions) == ("record", "history", 2)
    server.on("POST", ALL, as_status(409, "it is there", "AlreadyExists"))
    assert leases.create(LOCK, ME, NOW) is None


@pytest.mark.contract("B522", "B523")
def test_every_change_is_guarded(leases: Leases, server: ScriptedServer) -> None:
    """Taking over, renewing, recording and giving back carry uid and resourceVersion."""
    held = read(leases, server)
    server.on("PATCH", PATH, as_json(a_lease()))
    leases.claim(held, ME, NOW)
    leases.renew(held, NOW)
    leases.save(held, "more", NOW)
    leases.release(held, {RECORD: None, HISTORY: "new"}, NOW)
    claimed, renewed, saved, released = (seen.json() for seen in server.seen[1:])
    for body in (claimed, renewed, saved, released):
        assert body["metadata"]["uid"] == "u1"
        assert body["metadata"]["resourceVersion"] == "7"
    assert claimed["spec"]["leaseTransitions"] == 3
    assert set(renewed["spec"]) == {"renewTime"}
    assert saved["metadata"]["annotations"] == {RECORD: "more"}
    assert released["spec"]["holderIdentity"] == ""
    assert released["metadata"]["annotations"] == {RECORD: None, HISTORY: "new"}
    server.on("PATCH", PATH, as_status(409, "the object has been modified", "Conflict"))
    with pytest.raises(ResourceVersionConflict):
        leases.claim(held, ME, NOW)


def test_a_lock_is_deleted_as_it_was_read(leases: Leases, server: ScriptedServer) -> None:
    """Not one that somebody else has made or changed since."""
    held = read(leases, server)
    server.on("DELETE", PATH, as_json({"kind": "Status"}))
    leases.delete(held)
    assert server.seen[-1].json()["preconditions"] == {"uid": "u1", "resourceVersion": "7"}


def test_only_our_own_leases_are_locks(leases: Leases, server: ScriptedServer) -> None:
    """Those of leader elections in the same namespace are nobody's business here."""
    other = a_lease()
    other["metadata"]["name"] = "my-controller"
    server.on("GET", ALL, a_list(a_lease(), following="more"), a_list(other))
    assert [held.lock for held in leases.all("shop")] == [LOCK]


SECRET_PATH = f"{SECRETS}/{LOCK.name}"


@pytest.mark.contract("B542")
def test_a_secret_belongs_to_its_lease(client: Client, server: ScriptedServer) -> None:
    """What another attempt left is replaced, by its uid."""
    held = read(Leases(client), server)
    secrets = KeptSecrets(client)
    server.on("POST", SECRETS, as_json({"metadata": {"uid": "s1"}}, 201))
    assert secrets.write(held, "ci/6 abc", "former") == "s1"
    former = server.seen[-1].json()
    assert former["metadata"]["ownerReferences"][0]["uid"] == "u1"
    former["metadata"]["uid"] = "s1"
    server.on("GET", SECRET_PATH, as_json(former))
    stored = secrets.read(LOCK)
    assert stored is not None
    assert (stored.uid, stored.attempt_id, stored.text) == ("s1", "ci/6 abc", "former")
    exists = as_status(409, "it is there", "AlreadyExists")
    server.on("POST", SECRETS, exists, as_json({"metadata": {"uid": "s2"}}, 201))
    server.on("DELETE", SECRET_PATH, as_json({}))
    assert secrets.write(held, "ci/7 abc", "text") == "s2"
    deleted = next(seen for seen in server.seen if seen.method == "DELETE")
    assert deleted.json()["preconditions"] == {"uid": "s1"}
    server.on("GET", SECRET_PATH, as_status(404, "none", "NotFound"))
    assert secrets.read(LOCK) is None


@pytest.mark.contract("B542")
def test_a_secret_of_somebody_else_is_never_replaced(
    client: Client, server: ScriptedServer
) -> None:
    """One that has the name and is none of a record is neither read nor deleted."""
    held = read(Leases(client), server)
    server.on("POST", SECRETS, as_status(409, "it is there", "AlreadyExists"))
    server.on("GET", SECRET_PATH, as_json({"metadata": {"uid": "x"}, "type": "Opaque"}))
    with pytest.raises(AlreadyExists):
        KeptSecrets(client).write(held, "ci/7 abc", "text")
    assert all(seen.method != "DELETE" for seen in server.seen)


@pytest.mark.contract("B542")
def test_a_secret_is_deleted_as_the_one_it_was(client: Client, server: ScriptedServer) -> None:
    """What is gone is deleted; another of its name is not."""
    secrets = KeptSecrets(client)
    server.on("DELETE", SECRET_PATH, as_status(404, "none", "NotFound"))
    secrets.delete(LOCK, "s1")
    message = "the UID in the precondition (s1) does not match the UID in record (s2)"
    server.on("DELETE", SECRET_PATH, as_status(409, message, "Conflict"))
    with pytest.raises(UidMismatch):
        secrets.delete(LOCK, "s1")


@pytest.mark.parametrize("answer", [{"metadata": {}}, {"type": "rollout-gate/record"}, []])
def test_what_is_no_kept_secret_is_an_error(
    client: Client, server: ScriptedServer, answer: Any
) -> None:
    """An answer that the API does not promise is BadAnswer, unless it is somebody else's."""
    server.on("GET", SECRET_PATH, as_json(answer))
    if answer == {"metadata": {}}:
        assert KeptSecrets(client).read(LOCK) is None
        return
    with pytest.raises(BadAnswer):
        KeptSecrets(client).read(LOCK)
