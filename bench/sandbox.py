"""What a sandbox of many Deployments takes: memory to hold them, time to roll them out.

Each measurement is a process of its own: `python -m bench.sandbox hold|hour` is one.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.measure import Run, checked, run, table
from gate.app.rehearsal.rehearse import rehearse
from gate.app.runtime.world import Streams, outside
from gate.config import load
from sandbox.face import Cluster, Request, Timers

DEPLOYMENTS, PODS, ROLLOUTS = 200, 10, 2
HOUR_SECONDS = 3600
AFTERWARDS_SECONDS = 60.0
"""More than the last rollouts take."""
MOST_SECONDS = 60
MOST_MEBIBYTES = 250
MOST_DEADLINE_SECONDS = 0.5
TRIES = 5
ROLLED_BACK = 4
STARTED = datetime(2026, 1, 1, tzinfo=UTC)
PATH = "/apis/apps/v1/namespaces/default/deployments"
APPLY_PATCH = "application/apply-patch+yaml"


def measure() -> None:
    """Print what holding them and what an hour of their rollouts takes."""
    held, hour = (_measured(name) for name in PARTS)
    size = f"{DEPLOYMENTS} Deployments of {PODS} pods"
    table(
        "the sandbox, in virtual time",
        [
            (size, f"{held.peak_mebibytes:.0f} MiB", f"under {MOST_MEBIBYTES} MiB"),
            (
                f"an hour in which each is rolled out {ROLLOUTS} times",
                f"{hour.seconds:.1f} s in all, {hour.peak_mebibytes:.0f} MiB",
                f"under {MOST_SECONDS} s",
            ),
            (
                "the gate through a deadline of 10 min and back",
                f"{min(_deadline_seconds() for _ in range(TRIES)):.2f} s",
                f"under {MOST_DEADLINE_SECONDS} s",
            ),
        ],
    )


def _measured(name: str) -> Run:
    measured = run((sys.executable, "-m", "bench.sandbox", name), Path(os.devnull))
    checked(f"the sandbox, {name},", measured.exit_code, 0)
    return measured


def _deadline_seconds() -> float:
    """Return how long a rehearsal takes whose new pods never get ready, all in all."""
    manifest = _deployment("web", 1)
    manifest["spec"]["progressDeadlineSeconds"] = 600
    streams = Streams(io.BytesIO(json.dumps(manifest).encode()), io.StringIO(), io.StringIO())
    world = replace(outside(), streams=streams)
    flags = {"file": ["-"], "with_": "never-ready"}
    begun = time.perf_counter()
    checked("the rehearsal", rehearse(world, load("rehearse", flags, environ={})), ROLLED_BACK)
    return time.perf_counter() - begun


class Fleet:
    """A sandbox with all Deployments in it."""

    def __init__(self) -> None:
        """Create them, and let every pod become available."""
        self.cluster = Cluster(Timers(STARTED))
        for number in range(DEPLOYMENTS):
            self.apply(number, 1)
        self.cluster.timers.run_due(AFTERWARDS_SECONDS)
        self.check(1)

    def apply(self, number: int, version: int) -> None:
        """Apply a version of one Deployment."""
        body = _deployment(f"web-{number}", version)
        path = f"{PATH}/{body['metadata']['name']}"
        query = (("fieldManager", "bench"),)
        headers = {**self._headers, "content-type": APPLY_PATCH}
        request = Request("PATCH", path, query, headers, json.dumps(body).encode())
        assert self.cluster.handle(request).status in {200, 201}

    def check(self, version: int) -> None:
        """End the process where a Deployment is not complete in this version."""
        answer = self.cluster.handle(Request("GET", PATH, (), self._headers)).body
        assert isinstance(answer, bytes)
        for found in json.loads(answer)["items"]:
            status = found["status"]
            assert found["metadata"]["generation"] == status["observedGeneration"] == version
            assert status["updatedReplicas"] == status["availableReplicas"] == PODS
            assert status["replicas"] == PODS

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.cluster.admin_token}"}


def hold() -> None:
    """Have them, and end."""
    Fleet()


def hour() -> None:
    """Roll them out, one after the other, evenly over an hour."""
    fleet = Fleet()
    timers = fleet.cluster.timers
    begun = timers.now()
    rollouts = [
        (number, version) for version in range(2, 2 + ROLLOUTS) for number in range(DEPLOYMENTS)
    ]
    for count, (number, version) in enumerate(rollouts, start=1):
        fleet.apply(number, version)
        timers.run_due(begun + count * HOUR_SECONDS / len(rollouts))
    timers.run_due(begun + HOUR_SECONDS + AFTERWARDS_SECONDS)
    fleet.check(1 + ROLLOUTS)


PARTS: dict[str, Callable[[], None]] = {"hold": hold, "hour": hour}


def _deployment(name: str, version: int) -> dict[str, dict[str, object]]:
    labels = {"app": name}
    container = {
        "name": "web",
        "image": f"shop/web:{version}",
        "ports": [{"containerPort": 8080}],
        "env": [{"name": "MODE", "value": "production"}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}},
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {
        "replicas": PODS,
        "minReadySeconds": 5,
        "selector": {"matchLabels": labels},
        "template": template,
    }
    head = {"apiVersion": "apps/v1", "kind": "Deployment"}
    return {**head, "metadata": {"name": name}, "spec": spec}  # type: ignore[dict-item]


if __name__ == "__main__":
    PARTS[sys.argv[1]]()
