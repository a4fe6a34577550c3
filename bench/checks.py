"""What health checks cost: 20 of them every 10 s, next to the same rollout without any.

Measured are checks of a value, and comparisons of both versions by counts. Old and new pods serve
side by side all the time. Each rollout is taken in two lengths at once, so that what a start costs
can be told from what each further second costs.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from bench.measure import MILLI, Run, checked, gate, run, table
from tests.cluster import manifests
from tests.cluster.cluster import Cluster
from tests.cluster.objects import Objects
from tests.engines.application import Application
from tests.engines.engine import Engine
from tests.engines.programs import Kind
from tests.engines.traffic import METRIC, Load

CHECKS, INTERVAL = 20, "10s"
SHORT_SECONDS, LONG_SECONDS = 120, 240
MOST_SHARE = 0.01
MOST_MEBIBYTES = 75
SHARE = 100.0
LOAD = Load(error_share=0.005)
SURGE = {"rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0}}


class Sort(enum.StrEnum):
    """What a rollout is checked by."""

    NOTHING = "nothing"
    VALUES = "values"
    COUNTS = "counts"


def configured(sort: Sort, number: int) -> dict[str, Any]:
    """Return a check of errors: the ready-made one, or the comparison by the same counters."""
    named = {"name": f"errors-{number}", "interval": INTERVAL}
    if sort is Sort.VALUES:
        return {"use": "error-rate", "window": INTERVAL, **named}
    pods = 'namespace="${namespace}",pod=~"${replicaset}-.*"'
    bad = f'{METRIC}_count{{{pods},http_response_status_code=~"5.."}}'
    total = f"{METRIC}_count{{{pods}}}"
    return {"bad": bad, "total": total, "scrape-interval": "1s", **named}


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
                (sort, seconds): side_by_side.submit(
                    self._run, application, engine.url, sort, seconds
                )
                for sort in Sort
                for seconds in (SHORT_SECONDS, LONG_SECONDS)
            }
            runs = {which: future.result() for which, future in running.items()}
        for sort in (Sort.VALUES, Sort.COUNTS):
            _print(sort, runs)

    def _run(self, application: Application, url: str, sort: Sort, seconds: int) -> Run:
        name = f"by-{sort}-{seconds}"
        served = self._apply(application, name, 1)
        checked("the version before", served.exit_code, 0)
        flags: tuple[str, ...] = ("--bake", "1s")
        if sort is not Sort.NOTHING:
            flags += ("--config", str(self._config(name, url, sort)))
        watched = self._apply(application, name, 2, *flags, behaviour=f"ready={seconds};only=1")
        checked(f"a rollout watched for {seconds} s", watched.exit_code, 0)
        return watched

    def _apply(
        self, application: Application, name: str, version: int, *flags: str, behaviour: str = ""
    ) -> Run:
        image = f"shop/{name}:{version}"
        application.direct(self._objects.namespace, image, LOAD)
        body = manifests.deployment(name, image=image, strategy=SURGE, behaviour=behaviour)
        path = self._folder / f"{name}.yaml"
        path.write_text(manifests.yaml_text(body))
        return run(gate("apply", "-f", str(path), "--silence", "all", *flags), self._kubeconfig)

    def _config(self, name: str, url: str, sort: Sort) -> Path:
        """Write a configuration that asks for errors so often."""
        checks = [configured(sort, number) for number in range(CHECKS)]
        path = self._folder / f"{name}.config.yaml"
        path.write_text(yaml.safe_dump({"prometheus": {"url": url}, "checks": checks}))
        return path


def _print(sort: Sort, runs: Mapping[tuple[Sort, int], Run]) -> None:
    """Print a row for each cost; both lengths have the same start in them."""
    more = LONG_SECONDS - SHORT_SECONDS
    added = {
        seconds: runs[sort, seconds].cpu_seconds - runs[Sort.NOTHING, seconds].cpu_seconds
        for seconds in (SHORT_SECONDS, LONG_SECONDS)
    }
    share = (added[LONG_SECONDS] - added[SHORT_SECONDS]) / more
    begun = added[SHORT_SECONDS] - share * SHORT_SECONDS
    peaks = [runs[which, LONG_SECONDS].peak_mebibytes for which in (sort, Sort.NOTHING)]
    memory = f"{peaks[0]:.0f} MiB, {peaks[1]:.0f} MiB without"
    table(
        f"{CHECKS} checks by {sort} every {INTERVAL}, over the same rollout without any",
        [
            ("processor", f"{share * SHARE:.2f} % of a core", f"under {MOST_SHARE * SHARE:g} %"),
            ("to begin, preflight included", f"{begun * MILLI:.0f} ms", ""),
            ("memory", memory, f"under {MOST_MEBIBYTES} MiB"),
        ],
    )
