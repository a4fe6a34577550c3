"""How long after the evidence the gate reacts, next to `kubectl rollout status || undo`.

The evidence is when a second watcher of the same API server sees it. The reaction is the exit
for a good version, and for a bad one the rollback, as the same watcher sees it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Run, checked, gate, run, spread, table
from tests.cluster import manifests
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects, is_complete

RUNS = 30
KUBECTL_RUNS = 5
THIRD_RESTART = 3
KUBECTL_DEADLINE_SECONDS = 10


class Watcher:
    """Waits in a thread of its own, and notes when what it waits for was seen."""

    def __init__(self, wait: Callable[[], object]) -> None:
        self._wait = wait
        self.seen_at = 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        self._wait()
        self.seen_at = time.monotonic()

    def join(self) -> float:
        """Return when it was seen."""
        self._thread.join()
        return self.seen_at


class Lag:
    """Rolls out good and bad versions in turn in one namespace."""

    def __init__(self, cluster: Cluster, objects: Objects, kubeconfig: Path, folder: Path) -> None:
        self._cluster = cluster
        self._objects = objects
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._version = 0
        self._beside: list[float] = []

    def warm_up(self) -> None:
        """Roll out the first version, so that there is something to return to."""
        self._good()

    def measure(self) -> None:
        """Print the lags of the gate and of kubectl's loop."""
        good, bad = [], []
        for _ in range(RUNS):
            good.append(self._good())
            bad.append(self._bad())
        bound = "at most 50 ms, p99 200 ms"
        rows = [
            ("gate, good version: exit", spread(good), bound),
            ("gate, crash loop: rollback written", spread(bad), bound),
            (
                "gate, good version: wall time beside the rollout's own",
                spread(self._beside),
                "at most 500 ms",
            ),
        ]
        table("reaction after another watcher saw the evidence", rows)
        waits = [self._kubectl() for _ in range(KUBECTL_RUNS)]
        what = f"crash loop, deadline {KUBECTL_DEADLINE_SECONDS} s: undo"
        row = (what, spread(waits), "from the third restart")
        table("kubectl rollout status || kubectl rollout undo", [row])

    def _manifest(self, behaviour: str, **spec: object) -> tuple[str, str]:
        self._version += 1
        image = f"shop/web:{self._version}"
        body = manifests.deployment(image=image, replicas=1, behaviour=behaviour, **spec)  # type: ignore[arg-type]
        path = self._folder / f"v{self._version}.yaml"
        path.write_text(manifests.yaml_text(body))
        return str(path), image

    def _good(self) -> float:
        path, image = self._manifest("ready=0.5")
        watcher = Watcher(lambda: self._wait(lambda d: _image(d) == image and is_complete(d)))
        applied = self._changed_to(image)
        measured = self._gate(path, 0)
        rollout_seconds = watcher.join() - applied.join()
        self._beside.append(measured.seconds - rollout_seconds)
        return measured.ended - watcher.join()

    def _bad(self) -> float:
        path, image = self._manifest("crash=0.2")
        evidence = self._restarted(image)
        applied = self._changed_to(image)
        back = Watcher(lambda: self._wait_after(applied, lambda d: _image(d) != image))
        self._gate(path, 4)
        return back.join() - evidence.join()

    def _kubectl(self) -> float:
        path, image = self._manifest(
            "crash=0.2", progress_deadline_seconds=KUBECTL_DEADLINE_SECONDS
        )
        evidence = self._restarted(image)
        applied = self._changed_to(image)
        back = Watcher(lambda: self._wait_after(applied, lambda d: _image(d) != image))
        kubectl = str(self._cluster.kubectl)
        apply = f"{kubectl} apply --server-side --force-conflicts --field-manager=rollout-gate"
        status, undo = (f"{kubectl} rollout {verb} deployment/web" for verb in ("status", "undo"))
        script = f"{apply} -f {path} && {{ {status} || {undo}; }}"
        run(("sh", "-c", script), self._kubeconfig)
        lag = back.join() - evidence.join()
        self._good()
        return lag

    def _gate(self, path: str, expected: int) -> Run:
        # kubectl's undo leaves its fields behind, which the gate would not take unasked.
        command = gate("apply", "-f", path, "--silence", "all", "--take-over", "kubectl")
        measured = run(command, self._kubeconfig)
        checked(f"apply of {path}", measured.exit_code, expected)
        return measured

    def _wait(self, holds: Callable[[JSON], bool]) -> None:
        self._objects.wait_for("deployments", "web", holds)

    def _wait_after(self, earlier: Watcher, holds: Callable[[JSON], bool]) -> None:
        earlier.join()
        self._wait(holds)

    def _changed_to(self, image: str) -> Watcher:
        return Watcher(lambda: self._wait(lambda d: _image(d) == image))

    def _restarted(self, image: str) -> Watcher:
        return Watcher(lambda: self._objects.wait("pods", lambda pods: _third(pods, image)))


def _image(deployment: JSON) -> str:
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def _third(pods: list[JSON], image: str) -> bool:
    """Whether a pod of that image restarted for the third time: what the gate goes by."""
    return any(
        status["restartCount"] >= THIRD_RESTART
        for pod in pods
        if pod["spec"]["containers"][0]["image"] == image
        for status in pod.get("status", {}).get("containerStatuses", [])
    )
