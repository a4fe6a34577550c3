"""What health checks cost: 20 of them every 10 s, next to the same run without any.

Each run is taken in two lengths at once, so that what a start costs can be told from what each
further second costs.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from bench.measure import MILLI, Run, checked, gate, run, table
from tests.cluster import manifests
from tests.cluster.cluster import Cluster
from tests.cluster.objects import Objects
from tests.engines.application import Application
from tests.engines.engine import Engine
from tests.engines.programs import Kind
from tests.engines.traffic import Load

CHECKS, INTERVAL = 20, "10s"
SHORT_SECONDS, LONG_SECONDS = 40, 160
MOST_SHARE = 0.01
MOST_MEBIBYTES = 75
SHARE = 100.0


class Checks:
    """Rolls out Deployments with and without checks, and watches them for a while."""

    def __init__(self, cluster: Cluster, objects: Objects, kubeconfig: Path, folder: Path) -> None:
        self._cluster = cluster
        self._objects = objects
        self._kubeconfig = kubeconfig
        self._folder = folder

    def measure(self) -> None:
        """Print what the checks add: processor time a second, at the start, and memory."""
        data = self._folder / "prometheus"
        data.mkdir()
        application = Application(self._cluster.api)
        with (
            application.running(),
            Engine(Kind.PROMETHEUS, application.target, data) as engine,
            ThreadPoolExecutor() as side_by_side,
        ):
            running = {
                (with_checks, seconds): side_by_side.submit(
                    self._run, application, engine.url if with_checks else "", seconds
                )
                for with_checks in (True, False)
                for seconds in (SHORT_SECONDS, LONG_SECONDS)
            }
            runs = {which: future.result() for which, future in running.items()}
        _print(runs)

    def _run(self, application: Application, url: str, seconds: int) -> Run:
        name = f"checked-{seconds}" if url else f"unchecked-{seconds}"
        application.direct(self._objects.namespace, f"shop/{name}:1", Load())
        path = self._folder / f"{name}.yaml"
        path.write_text(manifests.yaml_text(manifests.deployment(name, image=f"shop/{name}:1")))
        flags = ("--bake", f"{seconds}s", "--silence", "all")
        config = ("--config", str(self._config(name, url))) if url else ()
        measured = run(gate("apply", "-f", str(path), *flags, *config), self._kubeconfig)
        checked(f"a rollout watched for {seconds} s", measured.exit_code, 0)
        return measured

    def _config(self, name: str, url: str) -> Path:
        """Write a configuration whose checks ask what the ready-made one for errors asks."""
        each = {"use": "error-rate", "interval": INTERVAL, "window": INTERVAL}
        checks = [{**each, "name": f"errors-{number}"} for number in range(CHECKS)]
        path = self._folder / f"{name}.config.yaml"
        path.write_text(yaml.safe_dump({"prometheus": {"url": url}, "checks": checks}))
        return path


def _print(runs: dict[tuple[bool, int], Run]) -> None:
    """Print a row for each cost; both lengths have the same start in them."""
    more = LONG_SECONDS - SHORT_SECONDS
    added = {
        seconds: runs[True, seconds].cpu_seconds - runs[False, seconds].cpu_seconds
        for seconds in (SHORT_SECONDS, LONG_SECONDS)
    }
    share = (added[LONG_SECONDS] - added[SHORT_SECONDS]) / more
    begun = added[SHORT_SECONDS] - share * SHORT_SECONDS
    peaks = [runs[which, LONG_SECONDS].peak_mebibytes for which in (True, False)]
    memory = f"{peaks[0]:.0f} MiB, {peaks[1]:.0f} MiB without"
    table(
        f"{CHECKS} checks every {INTERVAL}, over the same run without any",
        [
            ("processor", f"{share * SHARE:.2f} % of a core", f"under {MOST_SHARE * SHARE:g} %"),
            ("to begin, preflight included", f"{begun * MILLI:.0f} ms", ""),
            ("memory", memory, f"under {MOST_MEBIBYTES} MiB"),
        ],
    )
