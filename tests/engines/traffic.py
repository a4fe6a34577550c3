"""What the pods of each version are asked, and the counters that grow of it.

Names and buckets are those of OpenTelemetry's semantic conventions for HTTP servers, as
Prometheus shows them. Like an instrumented program, a pod has no series before its first request.
"""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

METRIC = "http_server_request_duration_seconds"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)

_OK, _FAILED = "200", "500"


@dataclass(frozen=True, slots=True)
class Load:
    """What one serving pod is asked each second, and how it answers."""

    error_share: float = 0.0
    latency_seconds: float = 0.02
    requests_per_second: float = 1000.0


QUIET = Load(requests_per_second=0.0)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many requests were counted, and how many of them failed."""

    failed: int = 0
    asked: int = 0

    def __add__(self, other: Counted) -> Counted:
        """Return the sum."""
        return Counted(self.failed + other.failed, self.asked + other.asked)

    def __sub__(self, other: Counted) -> Counted:
        """Return what was counted since."""
        return Counted(self.failed - other.failed, self.asked - other.asked)


@dataclass(slots=True)
class _Pod:
    """A pod's counters: of each status, how many requests took at most as long as each bucket.

    `before` is what its earlier processes counted.
    """

    namespace: str
    name: str
    image: str
    serving: bool = False
    counts: dict[str, list[float]] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)
    before: Counted = field(default_factory=Counted)

    def counted(self) -> Counted:
        """Return what it has counted, earlier processes included."""
        by_status = {status: int(counts[-1]) for status, counts in self.counts.items()}
        return self.before + Counted(by_status.get(_FAILED, 0), sum(by_status.values()))

    def restart(self) -> None:
        """Begin with a new process, whose counters have counted nothing."""
        self.before = self.counted()
        self.counts.clear()
        self.sums.clear()

    def serve(self, load: Load, seconds: float = 1.0) -> None:
        """Let the counters grow by what it is asked in that time."""
        asked = load.requests_per_second * seconds
        self._count(_OK, asked * (1 - load.error_share), load.latency_seconds)
        self._count(_FAILED, asked * load.error_share, load.latency_seconds)

    def _count(self, status: str, requests: float, latency_seconds: float) -> None:
        if not requests:
            return
        counts = self.counts.setdefault(status, [0.0] * (len(BUCKETS) + 1))
        for place in range(bisect.bisect_left(BUCKETS, latency_seconds), len(counts)):
            counts[place] += requests
        self.sums[status] = self.sums.get(status, 0.0) + requests * latency_seconds

    def up(self) -> str:
        """Return what an engine says that scrapes each pod as a target of its own."""
        return f'up{{namespace="{self.namespace}",pod="{self.name}"}} 1'

    def lines(self) -> Iterator[str]:
        """Iterate its samples in the text format; of what has never been counted there is none."""
        for status, counts in self.counts.items():
            if int(counts[-1]) == 0:
                continue
            labels = f'namespace="{self.namespace}",pod="{self.name}"'
            labels += f',http_response_status_code="{status}"'
            for limit, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                yield f'{METRIC}_bucket{{{labels},le="{limit}"}} {int(count)}'
            yield f"{METRIC}_sum{{{labels}}} {self.sums[status]}"
            yield f"{METRIC}_count{{{labels}}} {int(counts[-1])}"


class Traffic:
    """The traffic of all pods; counters grow with real time whenever somebody looks."""

    def __init__(self) -> None:
        """Begin without any pod and without any load."""
        self._lock = threading.Lock()
        self._pods: dict[str, _Pod] = {}
        self._gone: dict[tuple[str, str], Counted] = {}
        self._loads: dict[tuple[str, str], Load] = {}
        self._at = time.monotonic()

    def direct(self, namespace: str, image: str, load: Load) -> None:
        """Ask the pods of a version that much from now on; before, they are asked nothing."""
        with self._lock:
            self._advance()
            self._loads[namespace, image] = load

    def ask_at_once(self, namespace: str, image: str, load: Load) -> None:
        """Ask each serving pod of a version what the load asks in a second, in no time."""
        with self._lock:
            self._advance()
            for pod in self._of_version(namespace, image):
                if pod.serving:
                    pod.serve(load)

    def see(self, uid: str, pod: tuple[str, str, str], *, serving: bool) -> None:
        """Take note of a pod (namespace, name, image) and whether requests reach it from now on."""
        with self._lock:
            self._advance()
            self._pods.setdefault(uid, _Pod(*pod)).serving = serving

    def forget(self, uid: str) -> None:
        """Take note that a pod is gone, and its counters with it."""
        with self._lock:
            self._advance()
            gone = self._pods.pop(uid, None)
            if gone is not None:
                version = gone.namespace, gone.image
                self._gone[version] = self._gone.get(version, Counted()) + gone.counted()

    def restart(self, namespace: str, image: str) -> None:
        """Let the process of each pod of a version begin again."""
        with self._lock:
            self._advance()
            for pod in self._of_version(namespace, image):
                pod.restart()

    def counted(self, namespace: str, image: str) -> Counted:
        """Return what all pods of a version have counted, those that are gone included."""
        with self._lock:
            self._advance()
            found = self._gone.get((namespace, image), Counted())
            return sum((pod.counted() for pod in self._of_version(namespace, image)), found)

    def exposition(self) -> str:
        """Return the samples of all pods in Prometheus' text format."""
        with self._lock:
            self._advance()
            lines = [line for pod in self._pods.values() for line in pod.lines()]
            up = [pod.up() for pod in self._pods.values() if pod.serving]
        types = f"# TYPE {METRIC} histogram", "# TYPE up gauge"
        return "".join(f"{line}\n" for line in (types[0], *lines, types[1], *up))

    def _of_version(self, namespace: str, image: str) -> Iterator[_Pod]:
        version = namespace, image
        return (pod for pod in self._pods.values() if (pod.namespace, pod.image) == version)

    def _advance(self) -> None:
        now = time.monotonic()
        for pod in self._pods.values():
            if pod.serving:
                pod.serve(self._loads.get((pod.namespace, pod.image), QUIET), now - self._at)
        self._at = now
