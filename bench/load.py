"""What a good rollout costs: requests, processor, memory, time beside the rollout's own."""

from __future__ import annotations

from pathlib import Path

from bench.measure import MILLI, Run, checked, gate, run, table
from tests.cluster import manifests
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

SIZES = (4, 400, 1000)
MOST_REQUESTS = 25
TRIES = 7
MOST_MEBIBYTES = {4: 90, 400: 140, 1000: 140}


class Load:
    """Rolls out Deployments of several sizes."""

    def __init__(self, cluster: Cluster, objects: Objects, kubeconfig: Path, folder: Path) -> None:
        self._cluster = cluster
        self._objects = objects
        self._kubeconfig = kubeconfig
        self._folder = folder

    def measure(self) -> None:
        """Print a row a size."""
        rows = []
        for replicas in SIZES:
            measured, requests = self._roll_out(replicas)
            rows.append(_row(replicas, measured, requests))
        table("a good rollout", rows)

    def _roll_out(self, replicas: int) -> tuple[Run, int]:
        """Return the second of two rollouts: the first has no old version."""
        name = f"load-{replicas}"
        first = self._manifest(name, replicas, "shop/web:1")
        checked("the first rollout", run(first, self._kubeconfig).exit_code, 0)
        audit = self._cluster.audit
        if audit is None:
            raise SystemExit("bench: this cluster has no audit log to count requests in")
        mark = audit.mark()
        measured = run(self._manifest(name, replicas, "shop/web:2"), self._kubeconfig)
        checked(f"a rollout of {replicas} pods", measured.exit_code, 0)
        requests = len(audit.since(mark))
        self._objects.delete("deployments", name)
        self._objects.wait("pods", lambda pods: not _of(pods, name), 120.0)
        return measured, requests

    def _manifest(self, name: str, replicas: int, image: str) -> tuple[str, ...]:
        body = manifests.deployment(name, image=image, replicas=replicas)
        path = self._folder / f"{name}.yaml"
        path.write_text(manifests.yaml_text(body))
        return gate("apply", "-f", str(path), "--silence", "all", "--timeout", "600")


def _of(pods: list[JSON], deployment: str) -> list[JSON]:
    return [pod for pod in pods if pod["metadata"]["labels"]["app"] == deployment]


def _row(replicas: int, measured: Run, requests: int) -> tuple[str, str, str]:
    spent = f"{measured.cpu_seconds:.1f} s processor, {measured.seconds:.1f} s in all"
    took = f"{requests} requests, {measured.peak_mebibytes:.0f} MiB, {spent}"
    bound = f"at most {MOST_REQUESTS} requests (reads every 30 s apart)"
    return f"{replicas} pods", took, f"{bound}, {MOST_MEBIBYTES[replicas]} MiB"


class Start:
    """How soon the gate is there."""

    def __init__(self, cluster: Cluster, kubeconfig: Path, folder: Path) -> None:
        self._cluster = cluster
        self._kubeconfig = kubeconfig
        self._manifest = folder / "start.yaml"

    def measure(self) -> None:
        """Print the time of `--help`, and to the first request of two commands."""
        self._manifest.write_text(manifests.yaml_text(manifests.deployment("start")))
        flags = ("-f", str(self._manifest), "--silence", "all", "--dry-run")
        helps = [run(gate("--help"), self._kubeconfig).seconds for _ in range(TRIES)]
        rows = [("rollout-gate --help", best(helps), "at most 150 ms")]
        for command in (("history", "web"), ("apply", *flags)):
            firsts = [self._first_request(command) for _ in range(TRIES)]
            rows.append((f"first API request of {command[0]}", best(firsts), "at most 600 ms"))
        table(f"start, best of {TRIES}", rows)

    def _first_request(self, command: tuple[str, ...]) -> float:
        audit = self._cluster.audit
        if audit is None:
            raise SystemExit("bench: this cluster has no audit log to see requests in")
        mark = audit.mark()
        measured = run(gate(*command), self._kubeconfig)
        checked(f"the {command[0]} of a start", measured.exit_code, 0)
        first = min(request.at for request in audit.since(mark))
        return (first - measured.started_at).total_seconds()


def best(seconds: list[float]) -> str:
    """Return the shortest, in milliseconds."""
    return f"{min(seconds) * MILLI:.0f} ms"
