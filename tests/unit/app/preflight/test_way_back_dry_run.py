"""What could not return is told before the first write: by a table, and by the server itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.app.bodies import settings, web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.server import ApiServer
from tests.unit.kube.scripted import as_status

DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"
DENIED = 'deployments.apps "web" is forbidden: the policy denies shop/web:1'


def denying(server: ApiServer, code: int, said: str, reason: str) -> Callable[[Any], None]:
    """Return a hook by which the server refuses every dry run of version 1."""

    def answered(seen: Any) -> None:
        if seen.query.get("dryRun") == "All" and '"shop/web:1"' in str(seen.body):
            server.on("PATCH", DEPLOYMENT, as_status(code, said, reason))
        elif seen.method == "PATCH":
            server.forget("PATCH", DEPLOYMENT)

    return answered


def warnings(ended: Ended) -> str:
    """Return the warnings of a document as one text."""
    return "\n".join(ended.document["warnings"])


@pytest.mark.contract("B146")
@pytest.mark.parametrize("command", ["apply", "preflight"])
def test_a_way_back_that_the_server_denies_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest, command: str
) -> None:
    """A policy that came after the version that serves would keep it from returning."""
    server.put(web())
    server.on_request = denying(server, 422, DENIED, "Invalid")
    ended = gate(command, file=[manifest(web("2"))], output="text")
    assert ended.code == 3
    assert "refused (exit 3, Irreversible): nothing was written" in ended.err
    assert DENIED in ended.err
    assert "--allow-irreversible" in ended.err
    assert not server.writes()


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    "options", [{"observe": True}, {"on_failure": "keep"}, {"on_failure": "pause"}]
)
def test_where_nothing_is_promised_nothing_is_refused(
    gate: Gate, server: ApiServer, manifest: Manifest, options: dict[str, Any]
) -> None:
    """Whoever takes nothing back need not be able to."""
    server.put(web())
    server.put(settings())
    server.on_request = denying(server, 422, DENIED, "Invalid")
    bodies = (web("2"), {**settings("two"), "immutable": True})
    ended = gate("apply", file=[manifest(*bodies)], **options)
    assert ended.code == 0
    assert "a failure cannot take" not in warnings(ended)


@pytest.mark.contract("B147")
def test_what_is_allowed_is_warned_of_and_named(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """The document says which object will not return and why, whatever the end."""
    server.put(web())
    server.put(settings())
    body = {**settings("two"), "immutable": True}
    ended = gate("apply", file=[manifest(web("2"), body)], allow_irreversible=True)
    assert ended.code == 0
    assert "a failure cannot take configmap/settings back: it becomes immutable" in warnings(ended)
    told = {one["name"]: one["irreversible"] for one in ended.document["objects"]}
    assert told == {
        "settings": "it becomes immutable, and neither that nor its data can be changed any more",
        "web": "",
    }


@pytest.mark.contract("B146", "B6")
def test_a_webhook_that_takes_no_dry_run_tells_nothing_of_the_way_back(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """It was warned of on the way out; the attempt goes on."""
    server.put(web())
    said = 'admission webhook "audit.example.test" does not support dry run'
    server.on_request = denying(server, 400, said, "BadRequest")
    assert gate("apply", file=[manifest(web("2"))]).code == 0


@pytest.mark.contract("B148")
def test_the_union_is_made_ours_before_the_apply(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """One patch of the managed fields; the dry run goes without the union."""
    live = server.put(web())
    live["spec"]["strategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    }
    assert gate("apply", file=[manifest(web("2", strategy={"type": "Recreate"}))]).code == 0
    out, *_ = server.trials()
    assert "strategy" not in out.json()["spec"]
    claim, apply = server.writes()
    (managed,) = (one["value"] for one in claim.json() if one["path"].endswith("managedFields"))
    ours = managed[0]["fieldsV1"]["f:spec"]["f:strategy"]
    assert ours == {"f:rollingUpdate": {"f:maxSurge": {}, "f:maxUnavailable": {}}}
    assert apply.json()["spec"]["strategy"] == {"type": "Recreate"}
