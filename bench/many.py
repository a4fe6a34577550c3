"""What many Deployments in one apply cost: processor, memory, requests, time beside their rollout.

The sandbox that they are applied to is a process of its own, `python -m bench.many serve`, so that
what it uses is not counted as the gate's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import REPOSITORY, Run, checked, gate, run, table
from sandbox.face import AuditEntry, Cluster, ClusterOptions, Key, Names, Pace, Timers
from sandbox.server import Endpoint, ServeOptions, serve_until_signalled

SIZES = (1, 50, 200)
REPLICAS = 2
READY_SECONDS = 0.5
CRASH_SECONDS = 0.2
LOOK_SECONDS = 0.02
VERIFIED, ROLLED_BACK = 0, 4
MOST_CPU_SECONDS, MOST_MEBIBYTES, MOST_REQUESTS = 25, 150, 2500
"""Of 200 Deployments, one of them bad."""
MOST_MEBIBYTES_OF_ONE, MOST_SECONDS_BESIDE_ONE = 60, 0.5
BAD = "web-000"
Asked = dict[str, Any]


def measure(sizes: Sequence[int] = SIZES) -> None:
    """Print a row for each number of Deployments, all good and with a bad one."""
    cases = [(count, is_bad) for count in sizes for is_bad in (False, True)]
    rows = [_row(count, *_rolled_out(count, is_bad=bad), is_bad=bad) for count, bad in cases]
    table("many Deployments in one apply, in a sandbox", rows)


def _row(count: int, measured: Run, seen: Asked, *, is_bad: bool) -> tuple[str, str, str]:
    spent = f"{measured.cpu_seconds:.1f} s processor, {measured.peak_mebibytes:.0f} MiB"
    took = f"{spent}, {seen['requests']} requests, {measured.seconds:.1f} s in all"
    if is_bad:
        took += f", back at restart {seen['restarts']}"
    else:
        own = seen["complete_at"] - seen["written_at"]
        took += f", {measured.seconds - own:.2f} s beside the rollout's own"
    bound = ""
    if count == 1:
        bound = f"at most {MOST_MEBIBYTES_OF_ONE} MiB"
        bound += "" if is_bad else f", {MOST_SECONDS_BESIDE_ONE} s beside it"
    elif count == max(SIZES) and is_bad:
        bound = f"at most {MOST_CPU_SECONDS} s, {MOST_MEBIBYTES} MiB, {MOST_REQUESTS} requests"
        bound += ", restart 3"
    return f"{count}{', one bad' if is_bad else ''}", took, bound


def _rolled_out(count: int, *, is_bad: bool) -> tuple[Run, Asked]:
    """Return the second of two rollouts, and what the sandbox saw of it."""
    with TemporaryDirectory(prefix="rollout-gate-many-") as temporary:
        folder = Path(temporary)
        with _served(folder) as server:
            first, second = (folder / f"{version}.json" for version in (1, 2))
            first.write_text(_manifest(count, 1, is_bad=False))
            second.write_text(_manifest(count, 2, is_bad=is_bad))
            checked("the first rollout", _applied(first, folder).exit_code, VERIFIED)
            _ask(server, {"begin": [2, count]})
            measured = _applied(second, folder)
            checked("the rollout", measured.exit_code, ROLLED_BACK if is_bad else VERIFIED)
            return measured, _ask(server, {"end": True})


def _applied(manifest: Path, folder: Path) -> Run:
    return run(gate("apply", "-f", str(manifest), "--silence", "all"), folder / "kubeconfig")


@contextmanager
def _served(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bench.many", "serve", str(folder / "kubeconfig")]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            yield server
        finally:
            server.terminate()


def _ask(server: subprocess.Popen[str], question: Asked) -> Asked:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(question) + "\n")
    server.stdin.flush()
    answer: Asked = json.loads(server.stdout.readline())
    return answer


def _manifest(count: int, version: int, *, is_bad: bool) -> str:
    names = [f"web-{number:03}" for number in range(count)]
    items = [_deployment(name, version, is_bad=is_bad and name == BAD) for name in names]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def _deployment(name: str, version: int, *, is_bad: bool) -> dict[str, Any]:
    labels = {"app": name}
    behaviour = f"crash={CRASH_SECONDS}" if is_bad else f"ready={READY_SECONDS}"
    annotations = {"sandbox.rollout-gate.dev/behaviour": behaviour}
    container = {
        "name": "web",
        "image": f"shop/web:{version}",
        "ports": [{"containerPort": 8080}],
        "env": [{"name": "MODE", "value": "production"}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    template = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {"containers": [container]},
    }
    spec = {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}
    head = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
    return {**head, "spec": spec}


class Served:
    """A sandbox that counts what it is asked, and sees when the rollouts begin and are complete."""

    def __init__(self, kubeconfig: Path) -> None:
        options = ClusterOptions(pace=Pace.SHORT, heard=self._heard)
        self._cluster = Cluster(Timers(), Names(), options)
        self._kubeconfig = kubeconfig
        self._requests, self._restarts = 0, 0
        self._writes: dict[str, int] = {}
        self._written_at, self._complete_at = 0.0, 0.0

    def serve(self) -> None:
        """Serve until a signal; questions come on stdin, a line each."""
        threading.Thread(target=self._answer, daemon=True).start()
        options = ServeOptions(kubeconfig=self._kubeconfig)
        serve_until_signalled(self._cluster, self._ready, options, lambda _: nullcontext())

    def _ready(self, endpoint: Endpoint) -> None:
        print(endpoint.server, flush=True)

    def _heard(self, entry: AuditEntry) -> None:
        self._requests += 1
        name = entry.target.name
        if entry.is_write and entry.target.resource == "deployments" and name:
            self._written_at = self._written_at or time.monotonic()
            self._writes[name] = self._writes.get(name, 0) + 1
            if (name, self._writes[name]) == (BAD, 2):
                self._restarts = self._restarts_now()

    def _restarts_now(self) -> int:
        pods = self._cluster.api.store.items("pods")
        statuses = (one for pod in pods for one in pod["status"].get("containerStatuses", ()))
        return max((status["restartCount"] for status in statuses), default=0)

    def _answer(self) -> None:
        for line in sys.stdin:
            question = json.loads(line)
            if "begin" in question:
                self._requests, self._restarts, self._writes = 0, 0, {}
                self._written_at, self._complete_at = 0.0, 0.0
                version, count = question["begin"]
                threading.Thread(target=self._look, args=(version, count), daemon=True).start()
            print(
                json.dumps(
                    {
                        "requests": self._requests,
                        "restarts": self._restarts,
                        "written_at": self._written_at,
                        "complete_at": self._complete_at,
                    }
                ),
                flush=True,
            )

    def _look(self, version: int, count: int) -> None:
        while not all(self._is_complete(f"web-{number:03}", version) for number in range(count)):
            time.sleep(LOOK_SECONDS)
        self._complete_at = time.monotonic()

    def _is_complete(self, name: str, version: int) -> bool:
        body = self._cluster.api.store.get(Key("deployments.apps", "default", name))
        if body is None:
            return False
        status = body.get("status", {})
        counters = ("replicas", "updatedReplicas", "availableReplicas")
        return (
            body["spec"]["template"]["spec"]["containers"][0]["image"] == f"shop/web:{version}"
            and status.get("observedGeneration") == body["metadata"]["generation"]
            and all(status.get(counter) == REPLICAS for counter in counters)
        )


def main() -> None:
    """Serve, or measure the sizes that are named."""
    if sys.argv[1:2] == ["serve"]:
        Served(Path(sys.argv[2])).serve()
    else:
        measure(tuple(map(int, sys.argv[1:])) or SIZES)


if __name__ == "__main__":
    main()
