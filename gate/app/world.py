"""What a command meets outside of itself: time, a way to a cluster, streams, signals.

The process's own is `outside()`; a rehearsal plays another one, in the same process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TextIO

from gate.clock import Clock, SystemClock
from gate.signals import Delivery, delivered_to

if TYPE_CHECKING:
    from gate.kube.connection import Connection, Options  # the client: half a second

Connect = Callable[["Options", Clock], "Connection"]
"""Raises what `gate.kube.connection.connect` raises."""


@dataclass(frozen=True, slots=True)
class World:
    """One run's surroundings; nothing in `gate.app` looks past them."""

    clock: Clock
    connect: Connect
    delivered: Delivery
    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO


def outside() -> World:
    """Return the surroundings of this process as they are now."""
    return World(SystemClock(), _connected, delivered_to, sys.stdin.buffer, sys.stdout, sys.stderr)


def _connected(options: Options, clock: Clock) -> Connection:
    from gate.kube.connection import connect

    return connect(options, clock=clock)
