"""Requests have limits, are repeated only where that is safe, and are counted."""

from __future__ import annotations

import gzip
import threading
from typing import Any

import pytest

from gate.kube.answers.failures import (
    ApiError,
    BadAnswer,
    ContactBroken,
    Forbidden,
    NotFound,
    Rejected,
    ServerFailure,
    TimedOut,
    Unreachable,
)
from gate.kube.client.client import APPLY_PATCH, DRY_RUN, Client
from gate.virtual_time import VirtualClock
from tests.unit.kube.conftest import MakeClient
from tests.unit.kube.scripted import (
    Answer,
    Drop,
    Hang,
    Reply,
    ScriptedServer,
    Seen,
    Stream,
    as_json,
    as_status,
)

PATH = "/apis/apps/v1/namespaces/shop/deployments/web"


@pytest.mark.contract("B160")
@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        *(([as_status(status)] * 2, 0.2 + 0.4) for status in (429, 500, 502, 503, 504)),
        ([as_json({}, 429, Retry_After="7")], 7.7),
    ],
)
def test_reads_are_repeated(
    client: Client,
    server: ScriptedServer,
    clock: VirtualClock,
    answers: list[Reply],
    seconds: float,
) -> None:
    """With growing pauses, or after the server's Retry-After and up to a tenth more."""
    server.on("GET", PATH, *answers, as_json({}))
    assert client.get(PATH) == b"{}"
    assert len(server.seen) == len(answers) + 1
    assert clock.now() == pytest.approx(seconds)


@pytest.mark.contract("B160")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
def test_refusals_are_not_repeated(client: Client, server: ScriptedServer, status: int) -> None:
    """What the server answers for good is asked once, a fixed token too."""
    server.on("GET", PATH, as_status(status))
    with pytest.raises(ApiError):
        client.get(PATH)
    assert len(server.seen) == 1


@pytest.mark.contract("B1720")
def test_a_403_of_a_read_is_a_missing_right_whatever_its_words(
    client: Client, server: ScriptedServer
) -> None:
    """What a proxy before the server says of a write may be the server's admission as well."""
    for method in ("GET", "PATCH"):
        server.on(method, PATH, as_status(403, "not from here", "Forbidden"))
    with pytest.raises(Forbidden) as caught:
        client.get(PATH)
    assert "print the Role that a manifest needs" in caught.value.hint
    with pytest.raises(Rejected):
        client.write("PATCH", PATH, {}, content_type=APPLY_PATCH)


@pytest.mark.contract("B160")
def test_the_budget_bounds_repetition(
    client: Client, server: ScriptedServer, clock: VirtualClock
) -> None:
    """No pause begins that would end after the budget; the last error is what is raised."""
    server.on("GET", PATH, as_json({}, 503, Retry_After="20"))
    with pytest.raises(ServerFailure):
        client.get(PATH)
    assert len(server.seen) == 2
    assert clock.now() == pytest.approx(22.0)


def test_nothing_is_waited_for_when_stopping(
    make_client: MakeClient, server: ScriptedServer, clock: VirtualClock
) -> None:
    """Once the gate is about to end, a failed request is not repeated."""
    stopping = threading.Event()
    client = make_client(stopping=stopping)
    server.on("GET", PATH, as_status(503))
    server.on_request = lambda _: stopping.set()
    with pytest.raises(ServerFailure):
        client.get(PATH)
    assert len(server.seen) == 1
    assert clock.now() == 0.0


@pytest.mark.parametrize(
    ("answer", "leaf"),
    [(as_status(500), ServerFailure), (as_status(503), ServerFailure), (Drop(), ContactBroken)],
)
def test_a_write_that_may_have_been_done_is_not_repeated(
    client: Client, server: ScriptedServer, answer: Reply | Drop, leaf: type[ApiError]
) -> None:
    """A lost answer of a write is for the caller to find out about."""
    server.on("PATCH", PATH, answer)
    with pytest.raises(leaf) as caught:
        client.write("PATCH", PATH, {"a": 1}, content_type=APPLY_PATCH)
    assert len(server.seen) == 1
    assert not caught.value.untouched


@pytest.mark.parametrize(
    ("answer", "flags"),
    [(as_status(503), (DRY_RUN,)), (Drop(), (DRY_RUN,)), (as_status(429), ())],
    ids=["dry run", "dry run without an answer", "shed"],
)
def test_a_write_that_was_surely_not_done_is_repeated(
    client: Client, server: ScriptedServer, answer: Reply | Drop, flags: tuple[Any, ...]
) -> None:
    """A dry run changes nothing, and after 429 the server did nothing."""
    server.on("PATCH", PATH, answer, as_json({}))
    assert client.write("PATCH", PATH, {"a": 1}, flags, APPLY_PATCH).body == b"{}"
    assert [seen.json() for seen in server.seen] == [{"a": 1}, {"a": 1}]


@pytest.mark.contract("B243")
def test_a_server_that_is_not_there(
    make_client: MakeClient, server: ScriptedServer, clock: VirtualClock
) -> None:
    """Without a connection reads and writes are repeated until the budget is spent."""
    client = make_client(retry_seconds=3.0)
    server.close()
    with pytest.raises(Unreachable, match=f"cannot connect to {server.url}: .*refused"):
        client.get(PATH)
    with pytest.raises(Unreachable):
        client.write("PATCH", PATH, {}, content_type=APPLY_PATCH)
    assert clock.now() > 4.0


@pytest.mark.parametrize(
    ("answer", "leaf"),
    [
        (Hang(), TimedOut),
        (Stream([b'{"a":'], then="silence"), TimedOut),
        (Stream([b'{"a":'], then="cut"), ContactBroken),
    ],
)
def test_an_answer_that_does_not_come(
    make_client: MakeClient, server: ScriptedServer, answer: Answer, leaf: type[ApiError]
) -> None:
    """Half an answer is none; after the limit it is left, and a write is not sent again."""
    client = make_client(answer_seconds=0.1, write_seconds=0.1, retry_seconds=0.0)
    server.on("GET", PATH, answer)
    server.on("PATCH", PATH, answer)
    with pytest.raises(leaf):
        client.get(PATH)
    with pytest.raises(leaf):
        client.write("PATCH", PATH, {}, content_type=APPLY_PATCH)
    assert len(server.seen) == 2


class Ticking(VirtualClock):
    """A clock on which every look takes a second."""

    def now(self) -> float:
        """Return the time, a second later each time."""
        self.advance_to(super().now() + 1.0)
        return super().now()


@pytest.mark.contract("B500")
@pytest.mark.parametrize(("answer", "retry"), [(5.0, 0.0), (1000.0, 5.0)])
def test_an_answer_that_dribbles(
    make_client: MakeClient, server: ScriptedServer, answer: float, retry: float
) -> None:
    """It holds a request neither beyond its limit nor beyond what is left of the budget."""
    client = make_client(clock=Ticking(), answer_seconds=answer, retry_seconds=retry)
    server.on("GET", PATH, Stream([b"x"] * 100))
    with pytest.raises(TimedOut, match="did not end its answer in time"):
        client.get(PATH)


class Leaping(VirtualClock):
    """A clock on which the head of an answer takes nearly all the time that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.head_came = False

    def now(self) -> float:
        """Return the time, which is nearly over since the head has come."""
        return super().now() + (59.9 if self.head_came else 0.0)


@pytest.mark.contract("B245")
@pytest.mark.parametrize("header", [{}, {"Connection": "close"}])
def test_head_and_body_of_an_answer_share_one_limit(
    make_client: MakeClient, server: ScriptedServer, header: dict[str, str]
) -> None:
    """What the head has taken is not there for the body: a server cannot have twice the time."""
    clock = Leaping()
    client = make_client(clock=clock, answer_seconds=60.0, retry_seconds=60.0)
    left_first: list[bool] = []
    given_up = threading.Event()

    sent = threading.Event()

    def late() -> None:
        left_first.append(given_up.wait(5.0))
        sent.set()

    def on_request(_: Seen) -> None:
        clock.head_came = True

    server.on_request = on_request
    server.on("GET", PATH, Reply(body=b"x" * 10, headers=header, before_body=late))
    with pytest.raises(TimedOut):
        client.get(PATH, once=True)
    given_up.set()
    sent.wait(60.0)
    server.close()
    assert left_first == [True]


@pytest.mark.contract("B254")
def test_an_answer_that_is_too_large(make_client: MakeClient, server: ScriptedServer) -> None:
    """An endless body is cut off at the cap."""
    client = make_client(body_bytes=1000)
    server.on("GET", PATH, Stream([b"x" * 400] * 1000, then="silence"))
    with pytest.raises(BadAnswer, match="larger than 1000 bytes"):
        client.get(PATH)


@pytest.mark.contract("B254")
def test_an_encoded_answer_is_refused(client: Client, server: ScriptedServer) -> None:
    """A body that would grow when it is decoded is not decoded at all."""
    bomb = gzip.compress(b"0" * (1 << 20))
    server.on("GET", PATH, Reply(body=bomb, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(BadAnswer, match="encoded"):
        client.get(PATH)


@pytest.mark.contract("B254")
def test_a_long_error_is_bounded(client: Client, server: ScriptedServer) -> None:
    """Of an error's body 64 KiB are read, and a few words shown; the rest is not waited for."""
    server.on("GET", PATH, Stream([b"<p>lost</p>" * 10_000], then="silence", status=404))
    with pytest.raises(NotFound) as caught:
        client.get(PATH)
    assert len(caught.value.message) < 200


def test_redirects_are_not_followed(client: Client, server: ScriptedServer) -> None:
    """A token does not travel to where a redirect points."""
    server.on("GET", PATH, Reply(302, b"", {"Location": "/elsewhere"}))
    with pytest.raises(Rejected, match="302"):
        client.get(PATH)
    assert [seen.path for seen in server.seen] == [PATH]
