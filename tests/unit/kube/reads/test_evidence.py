"""Logs are collected side by side and within a bound, whatever the server does."""

from __future__ import annotations

import pytest

from gate.clock import SystemClock
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.protocol.effects import Collect
from gate.kube.reads.evidence import Collector
from gate.wire.secret_values import SecretValues
from tests.unit.kube.conftest import MakeClient
from tests.unit.kube.scripted import Hang, Reply, ScriptedServer, as_status

PATH = "/api/v1/namespaces/shop/pods/web-1/log"
WEB = deployment_ref("shop", "web")


@pytest.fixture
def collector(make_client: MakeClient) -> Collector:
    """Return a collector with real time and a short bound."""
    return Collector(make_client(clock=SystemClock()), SystemClock(), bound_seconds=5.0)


@pytest.mark.contract("B142")
def test_both_tails_are_collected(collector: Collector, server: ScriptedServer) -> None:
    """The log before the last restart comes first, the current one second, both cleaned."""
    server.on("GET", PATH, Reply(body=b"boom\x1b[31m!\r\nbye\n"))
    collected = collector.perform(Collect(7, WEB, "web-1", "app", previous=True))
    assert collected.effect_id == 7
    assert [piece.text for piece in collected.evidence] == ["boom!\nbye", "boom!\nbye"]
    assert {(piece.kind, piece.pod, piece.container) for piece in collected.evidence} == {
        ("log", "web-1", "app")
    }
    queries = sorted((dict(seen.query) for seen in server.seen), key=len)
    assert queries[0] == {"container": "app", "tailLines": "20", "limitBytes": "65536"}
    assert queries[1] == queries[0] | {"previous": "true"}


SECRET = "S3cr3t-0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.contract("B258")
@pytest.mark.parametrize(
    ("log", "shown"),
    [
        pytest.param(f"token={SECRET} " + "y" * 4070, " yyy", id="across our cut"),
        pytest.param("y" * (65_536 - 9) + SECRET[:9], "yyy***", id="across the server's cut"),
        pytest.param(SECRET[:9] + "\x1b[31m" + SECRET[9:] + " seen", "*** seen", id="coloured"),
    ],
)
def test_no_part_of_a_secret_is_left_where_a_log_is_cut(
    make_client: MakeClient, server: ScriptedServer, log: str, shown: str
) -> None:
    """A log is masked before it is cut to its last 4 KiB: the end of a secret is not found then."""
    known = SecretValues()
    known.add_secret({"stringData": {"token": SECRET}})
    collector = Collector(make_client(clock=SystemClock()), SystemClock(), 5.0, mask=known.mask)
    server.on("GET", PATH, Reply(body=log.encode()))
    [piece] = collector.perform(Collect(7, WEB, "web-1", "app", previous=False)).evidence
    assert shown in piece.text
    assert len(piece.text) <= 4096
    parts = [SECRET[at : at + 6] for at in range(len(SECRET) - 5)]
    assert [part for part in parts if part in piece.text] == []


@pytest.mark.parametrize("answer", [as_status(400, "previous not found"), Reply(body=b"\n")])
def test_what_is_refused_or_empty_is_left_out(
    collector: Collector, server: ScriptedServer, answer: Reply
) -> None:
    """No log is no error, and is not asked for twice."""
    server.on("GET", PATH, answer)
    assert collector.perform(Collect(7, WEB, "web-1", "app", previous=True)).evidence == ()
    assert len(server.seen) == 2


@pytest.mark.contract("B142")
def test_a_server_that_hangs_costs_the_bound_alone(
    make_client: MakeClient, server: ScriptedServer
) -> None:
    """What is not there in time is left out."""
    server.on("GET", PATH, Hang())
    collector = Collector(make_client(clock=SystemClock()), SystemClock(), bound_seconds=0.1)
    assert collector.perform(Collect(7, WEB, "web-1", "app", previous=True)).evidence == ()
