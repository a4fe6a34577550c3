"""Each fault, seen from the client and from the server behind."""

from __future__ import annotations

import gzip
import http.client
import json
import ssl
import threading

import pytest

from tests.faults import answers, connections, streams
from tests.faults.request import ANYTHING, WATCHES, Match
from tests.faults.script import Fault, Rule
from tests.unit.faults.conftest import LINES, PODS, WEB, Staged

WATCH = f"{PODS}?watch=true"
SENT = b'{"at":"2026-01-01T00:10:00Z"}'
NO_ANSWER = (OSError, http.client.HTTPException)


def always(fault: Fault, match: Match = ANYTHING) -> Rule:
    """Return the rule by which every request meets a fault."""
    return Rule(match, fault)


def test_without_a_fault_everything_passes(stage: Staged) -> None:
    """Target, token, status, headers and body arrive as they were sent; the log has them."""
    here = stage()
    status, headers, body = here.ask("GET", f"{PODS}?limit=500&labelSelector=app%3Dweb")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    target = f"{PODS}?limit=500&labelSelector=app%3Dweb"
    assert json.loads(body) == {"target": target, "token": "Bearer sesame"}
    assert here.ask("PATCH", WEB, SENT)[2] == SENT
    assert here.ask("GET", WATCH)[2] == LINES
    assert [seen.status for seen in here.proxy.log] == [200, 200, 200]


@pytest.mark.parametrize(
    ("fault", "heard"),
    [
        (connections.Drop(), 0),
        (connections.LostAnswer(), 1),
    ],
)
def test_a_connection_that_ends_has_no_answer(stage: Staged, fault: Fault, heard: int) -> None:
    """A request that is dropped is not heard; one whose answer is lost is."""
    here = stage(always(fault))
    with pytest.raises(NO_ANSWER):
        here.ask("PATCH", WEB, SENT)
    assert len(here.server.heard) == heard
    [seen] = here.proxy.log
    assert (seen.fault, seen.status) == (type(fault).__name__, 0)


@pytest.mark.parametrize(
    ("fault", "heard"), [(connections.Blackhole(), 0), (connections.MuteAnswer(), 1)]
)
def test_a_connection_can_stay_silent(stage: Staged, fault: Fault, heard: int) -> None:
    """Nothing comes, and nothing ends."""
    here = stage(always(fault))
    with here.ask.asking("PATCH", WEB, SENT) as connection:
        connection.sock.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connection.getresponse()
        while len(here.server.heard) < heard:  # it may come later, on a machine that is busy
            with pytest.raises(TimeoutError):
                connection.getresponse()
    assert len(here.server.heard) == heard


def test_a_late_request_arrives_when_nobody_waits(stage: Staged) -> None:
    """The client is cut off, and the server hears the request all the same."""
    here = stage(Rule(Match(method="PATCH"), connections.Late(20.0)))
    with pytest.raises(NO_ANSWER):
        here.ask("PATCH", WEB, SENT)
    while not here.server.heard:
        here.ask("GET", "/version")
        here.server.heard = [each for each in here.server.heard if each[0] == "PATCH"]
    assert here.server.heard == [("PATCH", WEB, SENT)]
    assert here.slept == [20.0]


@pytest.mark.parametrize("of_answer", [False, True])
def test_a_request_can_be_held(stage: Staged, of_answer: bool) -> None:
    """The test says when it goes on; an answer is held after the server has done its work."""
    reached, released = threading.Event(), threading.Event()
    here = stage(always(connections.Held(reached, released, of_answer=of_answer)))
    with here.ask.asking("PATCH", WEB, SENT) as connection:
        assert reached.wait(10)
        assert len(here.server.heard) == of_answer
        released.set()
        assert connection.getresponse().read() == SENT


def test_a_request_can_come_twice(stage: Staged) -> None:
    """The server hears it two times, the client one answer."""
    here = stage(always(connections.Twice()))
    assert here.ask("PATCH", WEB, SENT)[2] == SENT
    assert here.server.heard == [("PATCH", WEB, SENT)] * 2


@pytest.mark.parametrize(
    ("fault", "status", "header", "words"),
    [
        (answers.too_many(), 429, None, b"TooManyRequests"),
        (answers.too_many(7), 429, "7", b"TooManyRequests"),
        (answers.page(502), 502, None, b"<html>"),
        (answers.GONE, 410, None, b"Expired"),
    ],
)
def test_an_answer_can_be_made_up(
    stage: Staged, fault: Fault, status: int, header: str | None, words: bytes
) -> None:
    """The server hears nothing of it."""
    here = stage(always(fault))
    found, headers, body = here.ask("GET", PODS)
    assert (found, headers["Retry-After"]) == (status, header)
    assert words in body
    assert not here.server.heard


def test_question_and_answer_can_be_rewritten(stage: Staged) -> None:
    """The server is asked otherwise, or the answer is a bomb."""
    asking = answers.Asking(lambda target: target.replace("Version=5", "Version=999"))
    _, _, body = stage(always(asking)).ask("GET", f"{PODS}?resourceVersion=5")
    assert json.loads(body)["target"] == f"{PODS}?resourceVersion=999"
    _, headers, body = stage(always(answers.GzipBomb(1))).ask("GET", PODS)
    assert headers["Content-Encoding"] == "gzip"
    assert len(body) < 2_000
    assert gzip.decompress(body) == bytes(1 << 20)


def test_a_stale_server_lists_what_was(stage: Staged) -> None:
    """Lists are asked for at that exact version, objects by their name; writes pass."""
    here = stage(always(answers.Stale("41")))
    here.ask("GET", f"{PODS}?limit=500")
    exact = "resourceVersion=41&resourceVersionMatch=Exact"
    assert here.server.heard.pop()[1] == f"{PODS}?limit=500&{exact}"
    here.ask("GET", WATCH)
    assert here.server.heard.pop()[1] == WATCH
    assert here.ask("PATCH", WEB, SENT)[2] == SENT


def test_a_clock_is_ahead_in_both_directions(stage: Staged) -> None:
    """The server hears times of its own, and ours come back as we sent them."""
    here = stage(always(answers.Skewed(600)))
    assert here.ask("PATCH", WEB, SENT)[2] == SENT
    assert here.server.heard == [("PATCH", WEB, b'{"at":"2026-01-01T00:00:00Z"}')]
    assert here.ask("GET", WATCH)[2] == LINES


@pytest.mark.parametrize("fault", [streams.CutAfter(20), streams.CutAfter(20, reset=True)])
def test_an_answer_is_cut_after_some_bytes(stage: Staged, fault: Fault) -> None:
    """What came before is whole; then the connection breaks."""
    here = stage(always(fault))
    with here.ask.asking("GET", WATCH) as connection:
        answer = connection.getresponse()
        assert answer.read(20) == LINES[:20]
        with pytest.raises((*NO_ANSWER, ssl.SSLError)):
            answer.read()


def test_an_answer_lacks_its_end(stage: Staged) -> None:
    """Its head promises more than comes."""
    here = stage(always(streams.Truncated(10)))
    with here.ask.asking("GET", WATCH) as connection:
        answer = connection.getresponse()
        assert answer.headers["Content-Length"] == str(len(LINES))
        assert answer.read(len(LINES) - 10) == LINES[:-10]
        with pytest.raises(NO_ANSWER):
            assert answer.read(), "it ends as if it were whole"


ONE, TWO, THREE, FOUR = LINES.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("fault", "read"),
    [
        (streams.CutAfter(1000), LINES),
        (streams.Split(3), LINES),
        (streams.Lines(lambda line: [line, line]), ONE + ONE + TWO + TWO + THREE * 2 + FOUR * 2),
        (streams.Lines(lambda _: []), b""),
        (streams.Reordered(10), TWO + ONE + FOUR + THREE),
    ],
)
def test_a_stream_can_be_changed_and_ends_well(stage: Staged, fault: Fault, read: bytes) -> None:
    """Fewer bytes than are cut off, other pieces, lines doubled, left out or exchanged."""
    assert stage(always(fault)).ask("GET", WATCH)[2] == read


def test_a_connection_is_half_open_from_a_request_on(stage: Staged) -> None:
    """Nothing of the watch comes once the write has ended."""
    here = stage(always(streams.HalfOpen(once=Match(method="PATCH")), WATCHES))
    assert here.ask("GET", WATCH)[2] == LINES
    here.ask("PATCH", WEB, SENT)
    with here.ask.asking("GET", WATCH) as connection:
        answer = connection.getresponse()
        connection.sock.settimeout(0.05)
        with pytest.raises(TimeoutError):
            answer.read()


def test_bytes_can_be_slow(stage: Staged) -> None:
    """Few at a time, with a pause before each."""
    here = stage(always(streams.Slow(10, 0.5)))
    assert here.ask("GET", WATCH)[2] == LINES
    assert here.slept == [0.5] * -(-len(LINES) // 10)


def test_everything_that_is_open_can_be_cut(stage: Staged) -> None:
    """A request that was under way has no answer."""
    reached = threading.Event()
    here = stage(always(connections.Held(reached, threading.Event())))
    with here.ask.asking("GET", PODS) as connection:
        assert reached.wait(10)
        here.proxy.cut_all()
        with pytest.raises(NO_ANSWER):
            connection.getresponse()
