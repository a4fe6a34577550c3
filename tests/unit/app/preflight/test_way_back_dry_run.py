"""What could not return is told before the first write: by a table, and by the server itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.app.bodies import settings, web
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import Server
from tests.unit.kube.scripted import as_status

DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"
DENIED = 'deployments.apps "web" is forbidden: the policy denies shop/web:1'
BY_WEBHOOK = (
    'admission webhook "validation.gatekeeper.sh" denied the request: [old-images] shop/web:1 '
    "cannot be deployed any more"
)
BY_POLICY = (
    "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'old-images' with binding "
    "'all' denied request: shop/web:1 cannot be deployed any more"
)
NO_RIGHT = 'deployments.apps "web" is forbidden: User "ci" cannot patch resource "deployments"'


def denying(server: Server, code: int, said: str, reason: str) -> Callable[[Any], None]:
    """Return a hook by which the server refuses every dry run of version 1."""

    def answered(seen: Any) -> None:
        if seen.query.get("dryRun") == "All" and '"shop/web:1"' in str(seen.body):
            server.on("PATCH", DEPLOYMENT, as_status(code, said, reason))
        elif seen.method == "PATCH":
            server.forget("PATCH", DEPLOYMENT)

    return answered


@pytest.mark.contract("B146")
@pytest.mark.parametrize("command", ["apply", "preflight"])
def test_a_way_back_that_the_server_denies_is_refused(
    gate: Gate, server: Server, manifest: Manifest, command: str
) -> None:
    """A policy that came after the version that serves would keep it from returning."""
    server.put(web())
    server.on_request = denying(server, 422, DENIED, "Invalid")
    ended = gate(command, file=[manifest(web("2"))])
    assert (ended.code, ended.document["reason"]) == (3, "Irreversible")
    assert DENIED in ended.err
    assert "--allow-irreversible" in ended.err
    assert not server.writes()


@pytest.mark.contract("B146", "B1720")
@pytest.mark.parametrize("command", ["apply", "preflight"])
@pytest.mark.parametrize("said", [BY_WEBHOOK, BY_POLICY], ids=["webhook", "policy"])
def test_what_admission_says_that_one_cannot_do_is_no_missing_right(
    gate: Gate, server: Server, manifest: Manifest, command: str, said: str
) -> None:
    """Its 403 is read as a denial in any other words: the object, and how to go on all the same."""
    server.put(web())
    server.on_request = denying(server, 403, said, "Forbidden")
    ended = gate(command, file=[manifest(web("2"))])
    assert (ended.code, ended.document["reason"]) == (3, "Irreversible")
    assert f"deployment/web: {said}" in ended.err
    assert "--allow-irreversible" in ended.err
    assert "print the Role" not in ended.err


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    "options", [{"observe": True}, {"on_failure": "keep"}, {"on_failure": "pause"}]
)
def test_where_nothing_is_promised_nothing_is_refused(
    gate: Gate, server: Server, manifest: Manifest, options: dict[str, Any]
) -> None:
    """Whoever takes nothing back need not be able to."""
    server.put(web(), settings())
    server.on_request = denying(server, 422, DENIED, "Invalid")
    bodies = (web("2"), {**settings("two"), "immutable": True})
    ended = gate("apply", file=[manifest(*bodies)], **options)
    assert ended.code == 0
    assert "a failure cannot take" not in str(ended.document["warnings"])


@pytest.mark.contract("B146", "B6")
def test_a_webhook_that_takes_no_dry_run_tells_nothing_of_the_way_back(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """It was warned of on the way out; the attempt goes on."""
    server.put(web())
    said = 'admission webhook "audit.example.test" does not support dry run'
    server.on_request = denying(server, 400, said, "BadRequest")
    assert gate("apply", file=[manifest(web("2"))]).code == 0


@pytest.mark.contract("B1712")
@pytest.mark.parametrize("command", ["apply", "preflight"])
def test_a_right_that_goes_before_the_way_back_is_tried_is_asked_for(
    gate: Gate, server: Server, manifest: Manifest, command: str
) -> None:
    """Somebody took it between the dry run of the way out and that of the way back."""
    server.put(web())
    server.on_request = denying(server, 403, NO_RIGHT, "Forbidden")
    ended = gate(command, file=[manifest(web("2"))])
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden")
    assert NO_RIGHT in ended.err
    assert "print the Role that a manifest needs" in ended.err
    assert "rreversible" not in ended.err
    assert not server.writes()


@pytest.mark.contract("B1712")
def test_a_right_that_is_missing_for_the_way_back_is_warned_of_where_that_is_allowed(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Whoever needs no way back goes on, as after any other refusal of it."""
    server.put(web())
    server.on_request = denying(server, 403, NO_RIGHT, "Forbidden")
    ended = gate("apply", file=[manifest(web("2"))], allow_irreversible=True)
    assert ended.code == 0
    assert NO_RIGHT in str(ended.document["warnings"])
