"""`rollout-gate rehearse -f PATH...`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.manifests import require_manifests
from gate.config import Settings
from gate.errors import UsageError


@command()
def rehearse(world: World, settings: Settings) -> int:
    """In virtual time, on this machine alone. The exit code is the one that apply would have.

    Where that would be 0 although the failure should have been caught, it is 6. With --all, or
    several --with, it is 0, or 6 where any failure would pass or a harmless hiccup would not. Of
    several workloads the first one that has pods gets the trouble, a Job only if it is alone.

    KIND is one of good (without any), slow-start, restart-once, crash, oom, image-pull,
    image-denied, config-error, never-ready, flapping, unschedulable, quota, superseded, paused,
    deleted, stale-deadline, bad-checks, no-metrics, first-deployment; @T goes with those that begin
    at a second. Nobody is asked what the health checks measure: no query is parsed (preflight asks
    each), no credential read, and of a smoke test the program is looked for and not run. Without
    trouble all is well. Comparisons with the old version are answered for pods that are ready at
    the time, which share the requests evenly. A scenario file is not judged: nobody said what it
    should lead to.
    """
    require_manifests(settings, "rehearse")
    chosen = [settings.with_, settings.scenario, settings.all_]
    if sum(map(bool, chosen)) > 1:
        hint = "one at a time; a scenario file can hold several failures"
        raise UsageError("rehearse takes one of --with, --scenario and --all", hint=hint)
    from gate.app import entry

    return entry.rehearse(world, settings)
