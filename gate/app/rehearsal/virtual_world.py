"""A simulated world: a sandbox in this process, in virtual time, with the gate in it.

The whole gate runs, from its command to its watches; only sockets and real waiting are left out.
The thread that made the world takes turns with the gate: `start` begins a command, and the command
runs while that thread waits on the clock.
"""

from __future__ import annotations

import io
import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field

from gate.app.rehearsal.http_bridge import Reply, request_of
from gate.app.runtime.world import OpenSources, Streams, World
from gate.clock import Clock
from gate.config import Settings
from gate.core.frozen import dataclass
from gate.core.model.lock_holder import Process
from gate.kube.connection.connection import Connection, Options
from gate.kube.connection.in_process import Place, connection_to
from gate.signals import SIGNAL_BASE, Receivers
from gate.sources.source import Sources
from gate.virtual_time import Group, VirtualClock
from gate.wire.secret_values import SecretValues
from sandbox.face import Answer, Cluster, Request

SERVER = "https://sandbox"
CONTEXT = "sandbox"

Handle = Callable[[Request], Answer]
Through = Callable[[Request, Handle], Answer]
"""Sits between a command and its server: may fail a request, or end the command at that point."""


def straight(request: Request, handle: Handle) -> Answer:
    """Pass the request on unchanged."""
    return handle(request)


def nothing_to_ask(_: Settings, __: Clock, ___: SecretValues) -> Sources:
    """Return sources that answer nothing."""
    return Sources({})


@dataclass(frozen=True, slots=True)
class User:
    """Who runs a command: the administrator if `token` is empty."""

    token: str = ""
    namespace: str = "default"
    through: Through = straight


class PlayedMachine:
    """The simulated machine of the commands: each command's threads count as one process."""

    def __init__(self) -> None:
        """Start without any process."""
        self._groups: list[Group] = []

    def begin(self, group: Group) -> PlayedProcesses:
        """Add a process; return the processes as it sees them."""
        self._groups.append(group)
        return PlayedProcesses(self, len(self._groups))

    def has_ended(self, pid: int) -> bool:
        """Tell whether a process has ended."""
        return self._groups[pid - 1].ended


@dataclass(frozen=True, slots=True)
class PlayedProcesses:
    """The processes of a simulated machine, as one of them sees them."""

    machine: PlayedMachine
    pid: int

    def this(self) -> Process:
        """Return this process."""
        return Process("sandbox", "boot", "pid time", self.pid, 0)

    def has_ended(self, process: Process) -> bool:
        """Tell whether a process of the same machine has ended."""
        return self.machine.has_ended(process.pid)


@dataclass(frozen=True, slots=True)
class Played:
    """A sandbox, its clock, and the machine that commands run on."""

    cluster: Cluster
    clock: VirtualClock
    machine: PlayedMachine = field(default_factory=PlayedMachine)

    @classmethod
    def of(cls, cluster: Cluster) -> Played:
        """Return the sandbox with a clock that drives it; the caller is its first thread."""
        timers = cluster.timers
        return cls(cluster, VirtualClock(timers.now(), timers, timers.started))

    def world(
        self,
        signals: PlayedSignals,
        streams: Streams,
        *,
        user: User | None = None,
        sources: OpenSources = nothing_to_ask,
    ) -> World:
        """Return the world of one command, whose threads belong to `signals.group`."""
        group, who = signals.group, user or User()
        token, through = who.token or self.cluster.admin_token, who.through

        def serve(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
            group.wait(0.0)  # a point where a signal may arrive
            request = request_of(method, target, headers, body)
            return Reply.of(through(request, self.cluster.handle))

        def connect(_: Options, clock: Clock) -> Connection:
            place = Place(SERVER, CONTEXT, who.namespace, token)
            return connection_to(serve, group.wait_until, clock, place)

        return World(
            clock=group,
            connect=connect,
            sources=sources,
            delivered=signals.delivered_to,
            streams=streams,
            environ={},
            processes=self.machine.begin(group),
        )

    def start(
        self, command: Callable[[World], int], stdin: bytes = b"", *, user: User | None = None
    ) -> Running:
        """Start a command in threads of its own, which run while the caller waits on the clock."""
        running = Running(self.clock)
        streams = Streams(io.BytesIO(stdin), running.stdout, running.stderr)
        running.begin(command, self.world(running.signals, streams, user=user))
        return running


class Running:
    """A command in its group of threads; when it ends, they all end, as in a process."""

    def __init__(self, clock: Group) -> None:
        """Take the clock of whoever waits for the command."""
        self.signals = PlayedSignals(clock.group())
        self.stdout = io.StringIO()
        self.stderr = io.StringIO()
        self.exit_code: int | None = None
        self._clock = clock
        self._broken: Exception | None = None
        self._ended = threading.Event()

    def begin(self, command: Callable[[World], int], world: World) -> None:
        """Start the command; it begins to run at the caller's next wait."""

        def work() -> None:
            try:
                self._end(command(world))
            except Killed as killed:
                self._end(killed.exit_code)
            except Exception as error:  # noqa: BLE001 - raised again by whoever waits
                self._broken = error
            self.signals.group.end()

        self._ended = self.signals.group.start(work, "command")

    @property
    def ended(self) -> bool:
        """Whether it has ended, by itself or killed."""
        return self._ended.is_set()

    def wait(self, seconds: float = math.inf) -> int | None:
        """Return the exit code as soon as it ends, None if it does not; raises what broke it.

        A code below 0 is the negated number of the signal that ended it at once.
        """
        self._clock.wait(seconds, self._ended)
        if self.ended:
            self.signals.group.end()
        if self._broken is not None:
            raise self._broken
        return self.exit_code

    def finish(self) -> int:
        """Wait for the end without a limit and return the exit code; raises what broke it."""
        while (exit_code := self.wait()) is None:
            continue
        return exit_code

    def send(self, number: int) -> None:
        """Send a signal; it arrives at the command's next wait."""
        self.signals.send(number)

    def kill(self) -> None:
        """End it like a machine that vanishes: not one step further, whatever it is doing.

        Called by the command itself, as in `Through`, it does not return.
        """
        if not self.ended:
            self._end(-signal.SIGKILL)
        self.signals.group.end()

    def _end(self, exit_code: int) -> None:
        if self.exit_code is None:
            self.exit_code = exit_code


class Killed(BaseException):
    """Ends a command as a signal ends a process: at once, leaving only an exit code."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(str(exit_code))
        self.exit_code = exit_code


class PlayedSignals:
    """Signals for one command, which listens in its first thread."""

    def __init__(self, group: Group) -> None:
        """Take the command's threads: the clock itself if it runs in the caller's thread."""
        self.group = group
        self._receivers = Receivers(_kill)
        self._listener = 0

    @contextmanager
    def delivered_to(self, put: Callable[[int], None]) -> Iterator[None]:
        """Pass the first signal's number to `put`, end the command at the second."""
        self._listener = threading.get_ident()
        with self._receivers.add_receiver(put):
            yield

    def send(self, number: int) -> None:
        """Send a signal; it arrives at the command's next wait, or is lost if nobody listens."""
        if self._receivers.present:
            self.group.interrupt(self._listener, lambda: self._receivers.hand(number))


def _kill(number: int) -> None:
    raise Killed(SIGNAL_BASE + number)
