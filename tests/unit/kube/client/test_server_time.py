"""The server's time, by the `Date` of what it answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gate.kube.client.client import Client
from gate.kube.client.server_time import ServerTime
from gate.virtual_time import VirtualClock
from tests.unit.kube.scripted import ScriptedServer, as_json

NOW = datetime(2026, 1, 1, 12, 0, 0, 500_000, tzinfo=UTC)
NOON = "Thu, 01 Jan 2026 12:00:00 GMT"


@pytest.mark.contract("B1981")
@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        (None, timedelta()),
        (NOON, timedelta()),
        ("Thu, 01 Jan 2026 11:59:59 GMT", timedelta()),
        ("Thu, 01 Jan 2026 13:00:00 GMT", timedelta(hours=1, seconds=-0.5)),
        ("Thu, 01 Jan 2026 11:00:00 GMT", timedelta(hours=-1, seconds=-0.5)),
        ("at noon", timedelta()),
        ("Thu, 01 Jan 2026 12:00:00 +9999999999999999", timedelta()),
    ],
)
def test_the_time_of_the_server_is_that_of_its_answers(date: str | None, ahead: timedelta) -> None:
    """This machine's own, with its fractions, where the two agree as far as `Date` tells."""
    clock = VirtualClock(started=NOW)
    known = ServerTime(clock)
    known.note(date)
    clock.advance_to(30.0)
    assert known.wall() == NOW + ahead + timedelta(seconds=30)


@pytest.mark.contract("B1981")
def test_a_client_notes_the_time_of_each_answer(client: Client, server: ScriptedServer) -> None:
    """Whatever this machine's clock says."""
    server.on("GET", "/version", as_json({}, Date="Thu, 01 Jan 2037 12:00:00 GMT"))
    client.get("/version")
    assert client.server_time.wall().year == 2037
