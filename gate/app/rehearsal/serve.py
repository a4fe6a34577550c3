"""`sandbox`: serves a cluster on loopback, for kubectl and for the gate, until a signal."""

from __future__ import annotations

from pathlib import Path

from gate.app.runtime.command_end import run_query
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.world import World
from gate.config import Settings
from sandbox.cluster import Cluster
from sandbox.scenario import scenario as scenarios
from sandbox.scenario.play import Play
from sandbox.serving.http import Endpoint, ServeOptions, serve_until_signalled
from sandbox.times import Names, Timers


def sandbox(world: World, settings: Settings) -> int:
    """Serve until a signal, which is its normal end: exit 0."""
    path = Path(settings.kubeconfig or "")

    def query(start: CommandStart) -> int:
        console, cluster = start.console, Cluster(Timers(), Names())
        if settings.scenario:
            Play(scenarios.load(settings.scenario), cluster.api, cluster.kubelet).start()

        def ready(endpoint: Endpoint) -> None:
            console.note("sandbox", f"listens on {endpoint.server}, time x {settings.speed:g}")
            console.write(f"export KUBECONFIG={path.resolve()}\n")

        options = ServeOptions(settings.port, settings.speed, path)
        serve_until_signalled(cluster, ready, options, world.delivered)
        return 0

    return run_query(world, "sandbox", settings, query)
