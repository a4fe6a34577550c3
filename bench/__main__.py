"""Runs all measurements, or those that are named: `python -m bench [judge|start|lag|load ...]`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import judge
from bench.lag import Lag
from bench.load import Load, Start
from tests.cluster import access
from tests.cluster.cluster import own_cluster

NAMES = ("judge", "start", "lag", "load")


def main() -> None:
    """Measure on a control plane of its own."""
    names = sys.argv[1:] or NAMES
    if unknown := set(names) - set(NAMES):
        sys.exit(f"bench: no such measurement: {', '.join(sorted(unknown))}")
    if "judge" in names:
        judge.measure()
    if set(names) == {"judge"}:
        return
    with TemporaryDirectory(prefix="rollout-gate-bench-") as name:
        folder = Path(name)
        with own_cluster(folder) as cluster:
            kubeconfig = folder / "bench.kubeconfig"
            kubeconfig.write_text(cluster.kubeconfig(access.ADMIN))
            objects = cluster.objects("default")
            lag = Lag(cluster, objects, kubeconfig, folder)
            lag.warm_up()
            if "start" in names:
                Start(cluster, kubeconfig).measure()
            if "lag" in names:
                lag.measure()
            if "load" in names:
                Load(cluster, objects, kubeconfig, folder).measure()


if __name__ == "__main__":
    main()
