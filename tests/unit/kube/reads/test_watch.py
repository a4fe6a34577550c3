"""A watch survives whatever a server does, and asks no more often than it must."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

from gate.clock import SystemClock
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.objects import Pod
from gate.core.protocol.events import ContactFailed, ContactLost
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.kube.client.client import Client
from gate.kube.client.contact import Contact
from gate.kube.paths.scope import Scope
from gate.kube.reads.watch import Watch, WatchLimits, watches_of
from gate.virtual_time import VirtualClock
from tests.table import each
from tests.unit.kube.conftest import MakeClient
from tests.unit.kube.scripted import (
    Answer,
    Drop,
    Reply,
    ScriptedServer,
    Stream,
    a_line,
    a_list,
    as_json,
    as_status,
)

WEB = deployment_ref("shop", "web")
API = deployment_ref("shop", "api")
PODS = "/api/v1/namespaces/shop/pods"
SCOPE = Scope(Kind.POD, "shop", (WEB,), "app=web")
WEBHOOK = 'failed calling webhook "policy.example": connection refused'
EXPIRED = {"kind": "Status", "code": 410, "message": "too old resource version: 1 (2)"}


def _pod(name: str, version: str = "1", **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": version}
    kind = {"kind": "Pod", "apiVersion": "v1"}
    return kind | {"metadata": meta, "spec": {"containers": []}, "status": {}} | more


def _bookmark(version: str) -> bytes:
    return a_line(
        "BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": version}}
    )


class Ending(VirtualClock):
    """A clock that sets the event that is waited for once its end is reached."""

    def __init__(self, end: float) -> None:
        """Start at 0."""
        super().__init__()
        self._end = end

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Move on, and end the waiting thread's work at the end."""
        over = super().wait(seconds, until)
        if until is not None and self.now() >= self._end:
            until.set()
        return over


Heard = list[Any]
Run = Callable[..., Heard]


@pytest.fixture
def run(make_client: MakeClient, server: ScriptedServer) -> Run:
    """Return a runner: follows pods for some virtual seconds and returns what was heard.

    Of contact that is what is lost, back and refused; each failure alone with `failures`.
    """

    def follow(
        seconds: float = 2.0, scope: Scope = SCOPE, *, failures: bool = False, **limits: Any
    ) -> Heard:
        heard: Heard = []
        clock = Ending(seconds)
        client = make_client(clock=clock, contact=Contact(clock, heard.append))
        Watch(client, scope, clock, heard.append, limits=WatchLimits(**limits)).run()
        return [event for event in heard if failures or not isinstance(event, ContactFailed)]

    return follow


def _names(heard: Heard) -> list[str]:
    things = [event.object for event in heard if isinstance(event, Observed)]
    return [thing.name for thing in things if isinstance(thing, Pod)]


def _watches(server: ScriptedServer) -> list[str]:
    return [seen.query["resourceVersion"] for seen in server.seen if "watch" in seen.query]


def _lists(server: ScriptedServer) -> int:
    return sum("watch" not in seen.query for seen in server.seen)


def test_a_list_comes_first(run: Run, server: ScriptedServer) -> None:
    """What is there is listed once, then changes follow from the list's resourceVersion."""
    lines = a_line("ADDED", _pod("b", "101")) + a_line("DELETED", _pod("a", "102"))
    server.on("GET", PODS, a_list(_pod("a"), version="100"), Stream([lines]), Stream())
    listed, added, deleted, *rest = run()
    assert isinstance(listed, Listed)
    assert (listed.kind, listed.about) == (Kind.POD, WEB)
    assert [pod.name for pod in listed.objects if isinstance(pod, Pod)] == ["a"]
    assert isinstance(added, Observed)
    assert isinstance(added.object, Pod)
    assert added.object.name == "b"
    assert deleted == Vanished(deleted.at, Kind.POD, "uid-a")
    assert rest == []
    assert server.seen[0].query == {"labelSelector": "app=web", "limit": "500"}
    assert server.seen[1].query == {
        "labelSelector": "app=web",
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "100",
        "timeoutSeconds": "600",
    }


@pytest.mark.contract("B254")
def test_pages_are_put_together(run: Run, server: ScriptedServer) -> None:
    """A long list is one Listed, and the watch goes on from its version."""
    first = a_list(_pod("a"), following="more")
    server.on("GET", PODS, first, a_list(_pod("b"), version="120"), Stream())
    listed = run()[0]
    assert [pod.name for pod in listed.objects] == ["a", "b"]
    assert server.seen[1].query["continue"] == "more"
    assert _watches(server)[0] == "120"


@pytest.mark.contract("B156")
def test_a_closed_watch_goes_on_where_it_was(run: Run, server: ScriptedServer) -> None:
    """After a clean end the next watch starts at the last version, bookmarks count too."""
    first = Stream([a_line("ADDED", _pod("a", "101"))])
    server.on("GET", PODS, a_list(), first, Stream([_bookmark("150")]), Stream())
    heard = run(failures=True)
    assert [type(event) for event in heard] == [Listed, Observed], "a clean end is no failure"
    assert _watches(server)[:3] == ["100", "101", "150"]
    assert _lists(server) == 1


def test_split_chunks_are_one_line(run: Run, server: ScriptedServer) -> None:
    """A line may come in any pieces, and several in one piece."""
    line = a_line("ADDED", _pod("a", "101"))
    pieces = [line[:1], line[1:30], line[30:] + line, b"\n" + line[:-1], b"\n"]
    server.on("GET", PODS, a_list(), Stream(pieces), Stream())
    assert _names(run()) == ["a", "a", "a"]


@pytest.mark.contract("B156")
def test_a_cut_line_is_no_line(run: Run, server: ScriptedServer) -> None:
    """What the connection left unfinished is dropped, and the watch resumes before it."""
    whole, half = a_line("ADDED", _pod("a", "101")), a_line("ADDED", _pod("b", "102"))[:-9]
    server.on("GET", PODS, a_list(), Stream([whole + half], then="cut"), Stream([half]), Stream())
    assert _names(run()) == ["a"]
    assert _watches(server)[:3] == ["100", "101", "101"]
    assert _lists(server) == 1


@pytest.mark.contract("B156", "B157", "B254")
@pytest.mark.parametrize(
    "gone",
    [
        *(Stream([line]) for line in (b"{nonsense\n", b"[]\n", b"\xff\n", b"{}\n")),
        Stream([b'{"type": "ADDED", "object": 3}\n']),
        Stream([b"x" * 1000] * 50, then="silence"),
        Stream(then="silence"),
        as_status(410, "too old resource version"),
        *(Stream([a_line("ERROR", EXPIRED | {"code": code})]) for code in (410, 500, 504)),
    ],
)
def test_a_position_that_is_not_to_be_trusted_lists_again(
    run: Run, server: ScriptedServer, gone: Reply | Stream
) -> None:
    """A line that cannot be read or never ends, silence, 410 and any ERROR event."""
    server.on("GET", PODS, a_list(), gone, a_list(_pod("a"), version="200"), Stream())
    heard = run(line_bytes=10_000, silence_seconds=0.1)
    assert [type(event) for event in heard] == [Listed, Listed]
    assert [len(event.objects) for event in heard] == [0, 1]
    assert _watches(server)[:2] == ["100", "200"]


def test_an_expired_page_lists_again(run: Run, server: ScriptedServer) -> None:
    """A list that grew too old between two pages begins again, and is said once."""
    page = a_list(_pod("a"), following="more")
    server.on("GET", PODS, page, as_status(410), a_list(_pod("b")), Stream())
    assert [[pod.name for pod in event.objects] for event in run()] == [["b"]]


@pytest.mark.parametrize("answer", [Reply(body=b"<html>"), a_list(3), Reply(body=b'{"items": 3}')])
def test_a_list_that_cannot_be_read_is_no_list(
    run: Run, server: ScriptedServer, answer: Reply
) -> None:
    """Nothing is said of objects that nobody could read."""
    server.on("GET", PODS, answer, a_list(_pod("a")), Stream())
    heard = run()
    assert len(heard) == 1
    assert len(heard[0].objects) == 1


@pytest.mark.contract("B254")
def test_a_list_without_end_is_left(run: Run, server: ScriptedServer) -> None:
    """A continue token that leads nowhere is not followed for ever."""
    server.on("GET", PODS, a_list(following="more"))
    assert run() == []


@pytest.mark.contract("B160")
@pytest.mark.parametrize(
    ("answers", "fewest", "most", "heard"),
    [
        ([a_list(), Stream()], 55, 75, [Listed]),
        ([as_status(500)], 12, 20, [ContactLost]),
        ([as_status(429)], 12, 20, [ContactLost]),
        ([Drop()], 12, 20, [ContactLost]),
        ([as_json({}, 429, Retry_After="30")], 2, 3, [ContactLost]),
    ],
    ids=["closes at once", "500", "429", "drops", "asks for 30 s"],
)
def test_a_server_is_not_stormed(
    run: Run, server: ScriptedServer, answers: list[Answer], fewest: int, most: int, heard: Heard
) -> None:
    """About one watch a second that does not last; where nothing comes, pauses grow to five."""
    server.on("GET", PODS, *answers)
    assert [type(event) for event in run(seconds=60.0)] == heard
    assert fewest <= len(server.seen) <= most


@pytest.mark.contract("B1631")
@each(
    ("answer", "status"),
    [
        (as_status(500, f"Internal error occurred: {WEBHOOK}"), "500 Internal Server Error"),
        (as_status(429, WEBHOOK), "429 Too Many Requests"),
        (Reply(520, body=WEBHOOK.encode()), "520"),
    ],
)
def test_contact_that_answers_refuse_is_lost_with_what_they_are(
    run: Run, server: ScriptedServer, answer: Reply, status: str
) -> None:
    """And with the words of whoever failed, as a webhook."""
    server.on("GET", PODS, answer)
    (lost,) = run(seconds=20.0)
    assert lost.answers == (status,)
    assert lost.why.endswith(WEBHOOK)


@pytest.mark.contract("B164")
@pytest.mark.parametrize(
    "fault", [Drop(), as_status(500), Stream(then="silence"), Stream([b"nonsense\n"])]
)
def test_a_watch_that_fails_says_so(
    run: Run, server: ScriptedServer, fault: Reply | Drop | Stream
) -> None:
    """Facts may have been missed, whatever it was that failed."""
    server.on("GET", PODS, a_list(), fault, a_list(version="200"), Stream())
    heard = run(failures=True, silence_seconds=0.1)
    assert ContactFailed in [type(event) for event in heard]


@pytest.mark.contract("B1603")
def test_a_watch_that_opens_is_contact(make_client: MakeClient, server: ScriptedServer) -> None:
    """As the list before it; a line, as a bookmark, on what is open answers no request."""
    notes: list[str] = []

    class Noting(Contact):
        def note_success(self, *, beside: bool = False) -> None:
            notes.append("beside" if beside else "contact")

    clock = Ending(0.1)
    server.on("GET", PODS, a_list(), Stream([_bookmark("101"), _bookmark("102")]), Stream())
    client = make_client(clock=clock, contact=Noting(clock, lambda _: None))
    Watch(client, SCOPE, clock, lambda _: None).run()
    assert notes == ["contact"] * 2


def test_all_kinds_are_followed_and_stopped(
    make_client: MakeClient, server: ScriptedServer
) -> None:
    """Four lists and four watches follow a Deployment; stopping ends every open watch at once."""
    for path in ("deployments", "replicasets"):
        lists = a_list(), Stream(then="silence")
        server.on("GET", f"/apis/apps/v1/namespaces/shop/{path}", *lists)
    for path in ("pods", "events"):
        server.on("GET", f"/api/v1/namespaces/shop/{path}", a_list(), Stream(then="silence"))
    complete = threading.Event()
    server.on_request = lambda _: complete.set() if len(server.seen) == 8 else None
    client: Client = make_client(clock=SystemClock())
    heard: Heard = []
    selectors = {WEB: {"matchLabels": {"app": "web"}}}
    watches = watches_of(client, selectors, SystemClock(), heard.append)
    watches.start()
    assert complete.wait(10)
    watches.stop()
    assert watches.join(10)
    assert client.pace._trouble_at == -math.inf, "our own end is no trouble of the server's"
    assert [type(event) for event in heard] == [Listed] * 4


def test_warnings_are_dispensable(run: Run, server: ScriptedServer) -> None:
    """Where only Events may not be read, the other watches go on."""
    path = "/api/v1/namespaces/shop/events"
    server.on("GET", path, as_status(403, "cannot list events"))
    assert run(scope=Scope(Kind.EVENT, "shop", (WEB,), field_selector="type=Warning")) == []
    assert len(server.seen) == 1
    assert server.seen[0].query["fieldSelector"] == "type=Warning"
