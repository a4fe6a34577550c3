"""`sandbox`: serves a cluster on loopback, for kubectl and for the gate, until a signal."""

from __future__ import annotations

from pathlib import Path

from gate.app.rehearsal.misuse import as_usage_error
from gate.app.runtime.command_end import run_query
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console
from gate.app.runtime.world import World
from gate.config import Settings
from sandbox.face import Cluster, ClusterOptions, Names, Play, Scenario, Timers, load_scenario
from sandbox.server import Endpoint, ServeOptions, serve_until_signalled


def sandbox(world: World, settings: Settings) -> int:
    """Serve until a signal, which is its normal end: exit 0."""
    path = Path(settings.kubeconfig or "")

    def query(start: CommandStart) -> int:
        with as_usage_error():
            serve_cluster(start.console)
        return 0

    def serve_cluster(console: Console) -> None:
        scenario = load_scenario(settings.scenario) if settings.scenario else Scenario()
        cluster = Cluster(Timers(), Names(), ClusterOptions(nodes=scenario.nodes))
        if settings.scenario:
            Play(scenario, cluster.api, cluster.kubelet).start()

        def ready(endpoint: Endpoint) -> None:
            console.note("sandbox", f"listens on {endpoint.server}, time x {settings.speed:g}")
            console.write(f"export KUBECONFIG={path.resolve()}\n")

        options = ServeOptions(settings.port, settings.speed, path)
        serve_until_signalled(cluster, ready, options, world.delivered)

    return run_query(world, "sandbox", settings, query)
