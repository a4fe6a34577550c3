"""How long after the evidence the gate reacts, and what it asks, next to kubectl; for each kind.

The evidence is when a second watcher of the same API server sees it. The reaction is the exit
for a good version, and for a bad one the way back, as the same watcher sees it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure import Run, checked, gate, run, spread, table
from bench.subjects import DEPLOYMENT, SUBJECTS, Subject
from tests.cluster import manifests
from tests.cluster.audit import GATE_AGENT, AuditLog
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

RUNS = 30
KUBECTL_RUNS = 5
MOST_LAG = "at most 50 ms, p99 200 ms"
MOST_BESIDE = "at most 500 ms"
MOST_REQUESTS = 25
KUBECTL_AGENT = "kubectl/"
Row = tuple[str, str, str]


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


@dataclass(slots=True)
class Seen:
    """What was measured of one program: seconds, and requests of each good version."""

    good: list[float] = field(default_factory=list)
    bad: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)


class Lag:
    """Rolls out good and bad versions of each kind in turn, in one namespace."""

    def __init__(self, cluster: Cluster, objects: Objects, kubeconfig: Path, folder: Path) -> None:
        if cluster.audit is None:
            raise SystemExit("bench: this cluster has no audit log to count requests in")
        self._audit: AuditLog = cluster.audit
        self._kubectl_path = str(cluster.kubectl)
        self._objects = objects
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._version = 0

    def warm_up(self) -> None:
        """Roll out a first Deployment, so that there is something to look at."""
        self._good(DEPLOYMENT, Seen())

    def measure(self) -> None:
        """Print the lags and requests of the gate, kind by kind, and those of kubectl's loop."""
        for subject in SUBJECTS:
            if subject.beside(self._version):
                self._gate(self._manifest(subject.beside)[0], 0)
            self._good(subject, Seen())
            seen, beside = Seen(), Seen()
            for _ in range(RUNS):
                self._good(subject, seen)
                self._bad(subject, seen)
            for _ in range(KUBECTL_RUNS):
                self._kubectl_good(subject, beside)
                self._kubectl_bad(subject, beside)
            table(f"{subject.kind}: after another watcher saw the evidence", _rows(subject, seen))
            table(f"{subject.kind}: the same with kubectl", _kubectl_rows(subject, beside))

    def _good(self, subject: Subject, seen: Seen) -> None:
        path, version = self._manifest(subject.good)
        written = Watcher(lambda: subject.wait_written(self._objects, version))
        done = Watcher(lambda: subject.wait_done(self._objects, version))
        mark = self._audit.mark()
        measured = self._gate(path, 0)
        seen.good.append(measured.ended - done.join())
        seen.beside.append(measured.seconds - (done.join() - written.join()))
        seen.requests.append(len(self._audit.since(mark, GATE_AGENT)))

    def _bad(self, subject: Subject, seen: Seen) -> None:
        path, version = self._manifest(subject.bad)
        evidence, back = self._watched(subject, version)
        self._gate(path, 4)
        seen.bad.append(back.join() - evidence.join())

    def _kubectl_good(self, subject: Subject, seen: Seen) -> None:
        path, version = self._manifest(subject.good)
        done = Watcher(lambda: subject.wait_done(self._objects, version))
        mark = self._audit.mark()
        measured = self._kubectl(path, subject.kubectl_awaits(version))
        checked(f"kubectl's {path}", measured.exit_code, 0)
        seen.good.append(measured.ended - done.join())
        seen.requests.append(len(self._audit.since(mark, KUBECTL_AGENT)))

    def _kubectl_bad(self, subject: Subject, seen: Seen) -> None:
        earlier, _ = self._manifest(subject.beside)
        path, version = self._manifest(subject.bad)
        evidence, back = self._watched(subject, version)
        awaits, returns = subject.kubectl_awaits(version), subject.kubectl_returns(earlier)
        self._kubectl(path, awaits, returns)
        seen.bad.append(back.join() - evidence.join())
        # What kubectl leaves of a failed version may stand in the way of the next: the gate mends.
        self._good(subject, Seen())

    def _watched(self, subject: Subject, version: int) -> tuple[Watcher, Watcher]:
        """Watch for the evidence against a version, and for the way back of what was written."""
        evidence = Watcher(lambda: subject.wait_bad(self._objects, version))
        written = Watcher(lambda: subject.wait_written(self._objects, version))

        def wait_back() -> None:
            written.join()
            subject.wait_back(self._objects, version)

        return evidence, Watcher(wait_back)

    def _manifest(self, make: Callable[[int], Sequence[JSON]]) -> tuple[str, int]:
        self._version += 1
        path = self._folder / f"v{self._version}.yaml"
        path.write_text(manifests.yaml_text(*make(self._version)))
        return str(path), self._version

    def _gate(self, path: str, expected: int) -> Run:
        # kubectl's undo leaves its fields behind, which the gate would not take unasked.
        command = gate("apply", "-f", path, "--silence", "all", "--take-over", "kubectl")
        measured = run(command, self._kubeconfig)
        checked(f"apply of {path}", measured.exit_code, expected)
        return measured

    def _kubectl(self, path: str, awaits: str, returns: str = "false") -> Run:
        """Apply, wait, and where that fails take it back."""
        kubectl = self._kubectl_path
        apply = f"{kubectl} apply --server-side --force-conflicts --field-manager=rollout-gate"
        otherwise = returns if returns == "false" else f"{kubectl} {returns}"
        script = f"{apply} -f {path} && {{ {kubectl} {awaits} || {otherwise}; }}"
        return run(("sh", "-c", script), self._kubeconfig)


def _rows(subject: Subject, seen: Seen) -> list[Row]:
    return [
        ("good version: exit", spread(seen.good), MOST_LAG),
        (f"crash, from {subject.evidence}: way back written", spread(seen.bad), MOST_LAG),
        ("good version: wall time beside the rollout's own", spread(seen.beside), MOST_BESIDE),
        ("good version: requests", f"at most {max(seen.requests)}", f"at most {MOST_REQUESTS}"),
    ]


def _kubectl_rows(subject: Subject, seen: Seen) -> list[Row]:
    return [
        ("good version: exit", spread(seen.good), ""),
        (
            f"crash, from {subject.evidence}: way back written",
            spread(seen.bad),
            f"by {subject.limit}",
        ),
        ("good version: requests", f"at most {max(seen.requests)}", ""),
    ]
