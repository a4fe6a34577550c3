"""A command's external dependencies: time, a cluster, sources of checks, streams, signals.

`outside()` is the world of this process; a rehearsal simulates another one in the same process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, BinaryIO, TextIO

from gate.clock import Clock, SystemClock
from gate.core.frozen import dataclass
from gate.processes import Processes, SystemProcesses
from gate.signals import Delivery, delivered_to
from gate.wire.secret_values import SecretValues

if TYPE_CHECKING:
    from gate.config import Settings
    from gate.kube.connection.connection import Connection, Options  # not every command connects
    from gate.metrics.run import RunMetrics
    from gate.sources.source import Sources

Connect = Callable[["Options", Clock], "Connection"]
"""Raises what `gate.kube.connection.connection.connect` raises."""
OpenSources = Callable[["Settings", Clock, SecretValues], "Sources"]
"""Returns the sources of a run's checks, and adds their credentials to the secrets; raises
UsageError for what cannot be asked."""


@dataclass(frozen=True, slots=True)
class Streams:
    """What a command reads and writes."""

    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO


@dataclass(frozen=True, slots=True)
class World:
    """One run's external dependencies; nothing in `gate.app` bypasses them.

    `environ` is where the pipeline says which run it is. `processes` are those of the machine that
    the run is on. `metrics` collects the run's metrics, None if nobody asked for them. `secrets`
    are kept out of every output.
    """

    clock: Clock
    connect: Connect
    sources: OpenSources
    delivered: Delivery
    streams: Streams
    environ: Mapping[str, str]
    processes: Processes
    metrics: RunMetrics | None = None
    secrets: SecretValues = field(default_factory=SecretValues)

    def answering(self, settings: Settings, clock: Clock) -> Sources:
        """Return the sources of a run's checks; raises what `sources` raises."""
        return self.sources(settings, clock, self.secrets)


def outside() -> World:
    """Return the world of this process as it is now."""
    return World(
        SystemClock(),
        _connect_to_cluster,
        _sources,
        delivered_to,
        Streams(sys.stdin.buffer, sys.stdout, sys.stderr),
        os.environ,
        SystemProcesses(),
    )


def _connect_to_cluster(options: Options, clock: Clock) -> Connection:
    from gate.kube.connection.connection import connect

    return connect(options, clock=clock)


def _sources(settings: Settings, clock: Clock, secrets: SecretValues) -> Sources:
    from gate.app.runtime.check_sources import sources

    return sources(settings, clock, secrets)
