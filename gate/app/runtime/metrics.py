"""The metrics of a run: enabled by its settings, updated as it goes on, delivered at its end.

They come after everything else: no report waits for them, and each of their faults is a warning.
What collects and delivers them is loaded for a run that was asked for metrics alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gate import __version__
from gate.app.runtime.console import Console
from gate.app.runtime.world import World
from gate.clock import Clock
from gate.config import Settings
from gate.errors import GateError, place_of

if TYPE_CHECKING:
    from gate.kube.connection.connection import Connection, Options  # not every command connects


def with_metrics(world: World, settings: Settings, command: str) -> World:
    """Return a world that collects metrics if the settings ask for any, else the same world.

    A dry run is no attempt and has none.
    """
    wanted = (settings.pushgateway, settings.metrics_textfile, settings.metrics_listen)
    if settings.dry_run or not any(item is not None for item in wanted):
        return world
    from gate.metrics.run import About, RunMetrics

    run = RunMetrics(About(command, __version__), world.clock)

    def connect(options: Options, clock: Clock) -> Connection:
        connection = world.connect(options, clock)
        connection.api.counted = run.cluster.requests.count
        return connection

    return replace(world, connect=connect, metrics=run)


def count_refusal(world: World, console: Console, error: GateError) -> None:
    """Count an end without a verdict."""
    run = world.metrics
    if run is None:
        return

    def tell() -> None:
        run.concerns(console.run().places)
        run.on_refusal(error.outcome, error.reason)

    _quietly(console, tell)


@contextmanager
def measure_run(world: World, settings: Settings, console: Console) -> Iterator[None]:
    """Measure the run in the block, and deliver the metrics at its end."""
    run = world.metrics
    if run is None:
        yield
        return
    from gate.app.runtime.metrics_delivery import Delivery

    delivery = Delivery(world, settings, console, run)
    with ExitStack() as stack:
        _quietly(console, partial(delivery.listen, stack))
        console.attend(lambda attempt: _quietly(console, partial(delivery.on_step, attempt)))
        yield
        if run.ended:
            _quietly(console, delivery.deliver)


def _quietly(console: Console, work: Callable[[], None]) -> None:
    """Call `work`, whose failure must not change the verdict: it is only a warning."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - no fault of metrics may change an end
        console.warn(f"metrics: {place_of(error)}; this is a bug in rollout-gate")
