"""What could not return is told before the first write: by a table, and by the server itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.app.bodies import settings, web
from tests.unit.app.conftest import Gate, assert_refused
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
NO_DRY_RUN = 'admission webhook "audit.example.test" does not support dry run'
ANSWERS = {
    DENIED: (422, "Invalid"),
    BY_WEBHOOK: (403, "Forbidden"),
    BY_POLICY: (403, "Forbidden"),
    NO_RIGHT: (403, "Forbidden"),
    NO_DRY_RUN: (400, "BadRequest"),
}
HINTS = {
    "Irreversible": "--allow-irreversible",
    "Forbidden": "print the Role that a manifest needs",
}


def denying(server: Server, said: str) -> Callable[[Any], None]:
    """Return a hook by which the server refuses every dry run of version 1."""
    status, reason = ANSWERS[said]

    def answered(seen: Any) -> None:
        if seen.query.get("dryRun") == "All" and '"shop/web:1"' in str(seen.body):
            server.on("PATCH", DEPLOYMENT, as_status(status, said, reason))
        elif seen.method == "PATCH":
            server.forget("PATCH", DEPLOYMENT)

    return answered


@pytest.mark.contract("B146", "B1712", "B1720")
@pytest.mark.parametrize("command", ["apply", "preflight"])
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param(DENIED, "Irreversible", id="invalid"),
        pytest.param(BY_WEBHOOK, "Irreversible", id="webhook"),
        pytest.param(BY_POLICY, "Irreversible", id="policy"),
        pytest.param(NO_RIGHT, "Forbidden", id="a right that went since the way out was tried"),
    ],
)
def test_a_way_back_that_the_server_denies_is_refused(
    gate: Gate, server: Server, path: str, command: str, said: str, reason: str
) -> None:
    """A policy that came after what serves would keep it from returning; a right is asked for."""
    server.on_request = denying(server, said)
    ended = gate(command, file=[path])
    assert_refused(ended, server, reason, said)
    for why, hint in HINTS.items():
        assert (hint in ended.err) is (why == reason)


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    "options", [{"observe": True}, {"on_failure": "keep"}, {"on_failure": "pause"}]
)
def test_where_nothing_is_promised_nothing_is_refused(
    gate: Gate, server: Server, options: dict[str, Any]
) -> None:
    """Whoever takes nothing back need not be able to."""
    server.put(web(), settings())
    server.on_request = denying(server, DENIED)
    bodies = (web("2"), {**settings("two"), "immutable": True})
    ended = gate.apply(*bodies, **options)
    assert ended.code == 0
    assert "a failure cannot take" not in str(ended.document["warnings"])


@pytest.mark.contract("B146", "B6")
def test_a_webhook_that_takes_no_dry_run_tells_nothing_of_the_way_back(
    gate: Gate, server: Server, path: str
) -> None:
    """It was warned of on the way out; the attempt goes on."""
    server.on_request = denying(server, NO_DRY_RUN)
    assert gate("apply", file=[path]).code == 0


@pytest.mark.contract("B1712")
def test_a_right_that_is_missing_for_the_way_back_is_warned_of_where_that_is_allowed(
    gate: Gate, server: Server, path: str
) -> None:
    """Whoever needs no way back goes on, as after any other refusal of it."""
    server.on_request = denying(server, NO_RIGHT)
    ended = gate("apply", file=[path], allow_irreversible=True)
    assert ended.code == 0
    assert NO_RIGHT in str(ended.document["warnings"])
