"""A proxy between the gate of a sandbox and its server: requests that fail, or at which one acts.

A rule says which requests it is for, and what comes of them; the latest stands before the others.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from urllib3.exceptions import ProtocolError

from gate.app.rehearsal.virtual_world import Handle
from gate.clock import Clock
from sandbox.face import JSON_TYPE, Answer, Request
from tests.bed.checked_gate import CheckedRun
from tests.bed.policies import Policies
from tests.bed.scene import Scene
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through
from tests.played.gate import PlayedGate, PlayedRun

Meets = Callable[[Request], bool]
Does = Callable[[Request, Handle], Answer]


class Proxy:
    """Passes on what no rule is for; `scene` is that of the gate behind it, `program` that gate.

    `policies` are those of its cluster. `asked_at` has the seconds of all requests, `met` the
    requests that rules were for, `met_at` their seconds.
    """

    scene: Scene
    program: PlayedGate
    policies: Policies
    clock: Clock

    def __init__(self) -> None:
        """Have no rule yet."""
        self.asked_at: list[float] = []
        self.met: list[Request] = []
        self.met_at: list[float] = []
        self._rules: list[tuple[Meets, Does]] = []

    def on(self, meets: Meets, does: Does) -> None:
        """Add a rule, from the next request on."""
        self._rules.append((meets, does))

    def rest(self) -> None:
        """Pass everything on again."""
        self._rules = []

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Answer a request."""
        now = self.clock.now()
        self.asked_at.append(now)
        for meets, does in tuple(self._rules):
            if meets(request):
                self.met.append(request)
                self.met_at.append(now)
                handle = _done_by(does, handle)
        return handle(request)


def _done_by(does: Does, handle: Handle) -> Handle:
    """Return the server behind what a rule does."""
    return lambda request: does(request, handle)


@contextmanager
def proxy_before_a_sandbox(folder: Path) -> Iterator[Proxy]:
    """Play a sandbox of the test's own, on either bed, behind a proxy."""
    proxy = Proxy()
    with sandbox_bed(folder) as bed:
        assert isinstance(bed.users, PlayedUsers)
        proxy.clock = bed.users.played.clock
        proxy.policies = bed.policies
        proxy.scene = scene_through(bed, proxy)
        proxy.program = bed.users.everything(proxy)[0]
        yield proxy


# -- which requests --------------------------------------------------------------------------------


def any_request(_: Request) -> bool:
    """Meet every request."""
    return True


def is_dry_run(request: Request) -> bool:
    """Tell whether a request is to change nothing."""
    return bool(request.read_parameter("dryRun"))


def writes(*paths: str, method: str = "PATCH") -> Meets:
    """Return what meets the writes of objects in whose path one of these parts is."""

    def meets(request: Request) -> bool:
        is_about = any(path in request.path for path in paths)
        return request.method == method and is_about and not is_dry_run(request)

    return meets


def reads(*paths: str) -> Meets:
    """Return what meets reads and watches of objects in whose path one of these parts is."""
    return lambda request: request.method == "GET" and any(path in request.path for path in paths)


def counted(meets: Meets, holds: Callable[[int], bool]) -> Meets:
    """Return what meets those requests of a kind whose number holds; the first one is 1."""
    numbers = itertools.count(1)
    return lambda request: meets(request) and holds(next(numbers))


def nth(number: int, meets: Meets = any_request) -> Meets:
    """Return what meets the one request of a kind with that number."""
    return counted(meets, lambda now: now == number)


# -- what comes of them ----------------------------------------------------------------------------


def status(code: int, message: str) -> Answer:
    """Return a Status of the API server."""
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "message": message}
    return Answer(code, json.dumps(body).encode(), {"content-type": JSON_TYPE})


AWAY = status(503, "apiserver is shutting down")
UNAUTHORIZED = status(401, "Unauthorized")


def says(answer: Answer) -> Does:
    """Return what answers in place of the server, which hears nothing."""

    def does(_: Request, handle: Handle) -> Answer:
        del handle
        return answer

    return does


def says_once_done(answer: Answer) -> Does:
    """Return what lets the server do a request, and answers otherwise."""

    def does(request: Request, handle: Handle) -> Answer:
        handle(request)
        return answer

    return does


def refuses(_: Request, handle: Handle) -> Answer:
    """Let a request never arrive, since nobody listens."""
    del handle
    raise ConnectionRefusedError("nobody listens")


def breaks(_: Request, handle: Handle) -> Answer:
    """Lose a request on its way."""
    del handle
    raise ProtocolError("Connection aborted.", ConnectionResetError(104, "reset by peer"))


def loses(request: Request, handle: Handle) -> Answer:
    """Let the server do a request, and lose its answer."""
    handle(request)
    return breaks(request, handle)


def waits(clock: Clock, seconds: float) -> Does:
    """Return what passes requests on late."""

    def does(request: Request, handle: Handle) -> Answer:
        clock.wait(seconds)
        return handle(request)

    return does


def first(act: Callable[[], object]) -> Does:
    """Return what acts before the server hears of a request."""

    def does(request: Request, handle: Handle) -> Answer:
        act()
        return handle(request)

    return does


def then(act: Callable[[], object]) -> Does:
    """Return what acts as soon as the server has done a request."""

    def does(request: Request, handle: Handle) -> Answer:
        answer = handle(request)
        act()
        return answer

    return does


def kills(gate: CheckedRun | PlayedRun, *, after: bool = False) -> Does:
    """Return what kills a gate before the server hears of its request, or after that is done."""

    def does(request: Request, handle: Handle) -> Answer:
        if not after:
            gate.kill()
        answer = handle(request)
        gate.kill()
        return answer

    return does
