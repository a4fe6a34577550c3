"""Runs all measurements, or those that are named: `python -m bench [judge|sandbox|start|...]`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import judge, many, sandbox
from bench.checks import Checks
from bench.lag import Lag
from bench.load import Load, Start
from tests.cluster import access
from tests.cluster.cluster import own_cluster

WITHOUT_CLUSTER = {"judge": judge.measure, "sandbox": sandbox.measure, "many": many.measure}
NAMES = (*WITHOUT_CLUSTER, "start", "lag", "load", "checks")


def main() -> None:
    """Measure on a control plane of its own."""
    names = sys.argv[1:] or NAMES
    if unknown := set(names) - set(NAMES):
        sys.exit(f"bench: no such measurement: {', '.join(sorted(unknown))}")
    for name, measure in WITHOUT_CLUSTER.items():
        if name in names:
            measure()
    if set(names) <= set(WITHOUT_CLUSTER):
        return
    with TemporaryDirectory(prefix="rollout-gate-bench-") as temporary:
        folder = Path(temporary)
        with own_cluster(folder) as cluster:
            kubeconfig = folder / "bench.kubeconfig"
            kubeconfig.write_text(cluster.kubeconfig(access.ADMIN))
            objects = cluster.objects("default")
            lag = Lag(cluster, objects, kubeconfig, folder)
            lag.warm_up()
            if "start" in names:
                Start(cluster, kubeconfig, folder).measure()
            if "lag" in names:
                lag.measure()
            if "load" in names:
                Load(cluster, objects, kubeconfig, folder).measure()
            if "checks" in names:
                Checks(cluster, objects, kubeconfig, folder).measure()


if __name__ == "__main__":
    main()
