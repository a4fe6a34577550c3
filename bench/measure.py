"""Runs a command and measures it: when it started and ended, processor time, peak memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Self

REPOSITORY = Path(__file__).parents[1]
MILLI = 1000.0
_LEAST_FOR_QUANTILES = 2
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """One finished command; `started_at` is the wall clock, the other times are monotonic."""

    exit_code: int
    started_at: datetime
    began: float
    ended: float
    cpu_seconds: float
    peak_mebibytes: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began


def run(command: Sequence[str], kubeconfig: Path) -> Run:
    """Run a command to its end and measure it; what it says is thrown away."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(REPOSITORY)}
    started_at, began = datetime.now(UTC), time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    with _Memory(process.pid) as memory:
        _, status, usage = os.wait4(process.pid, 0)
        ended = time.monotonic()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Run(process.returncode, started_at, began, ended, cpu_seconds, memory.peak_mebibytes)


class _Memory(threading.Thread):
    """Reads a process's peak while it runs: what `wait4` tells has this process's own in it."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_mebibytes = 0.0
        self._status = Path(f"/proc/{pid}/status")
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        """Look until the process has ended; a peak never goes down, so the last look counts."""
        while not self._ended.wait(_LOOK_SECONDS):
            found = re.search(r"^VmHWM:\s+(\d+) kB", self._text(), re.MULTILINE)
            if found and not self._ended.is_set():
                self.peak_mebibytes = int(found[1]) / 1024

    def _text(self) -> str:
        try:
            return self._status.read_text()
        except OSError:
            return ""


def gate(*arguments: str) -> tuple[str, ...]:
    """Return the command line of the gate out of this checkout."""
    return (sys.executable, "-m", "gate", *arguments)


def spread(seconds: Sequence[float]) -> str:
    """Return median and 99th percentile in milliseconds."""
    middle = median(seconds) * MILLI
    if len(seconds) < _LEAST_FOR_QUANTILES:
        return f"{middle:.0f} ms"
    high = quantiles(seconds, n=100, method="inclusive")[98] * MILLI
    return f"median {middle:.0f} ms, p99 {high:.0f} ms ({len(seconds)} runs)"


def table(title: str, rows: Sequence[tuple[str, str, str]]) -> None:
    """Print rows of: what, measured, bound."""
    print(f"\n{title}")
    what = max(len(row[0]) for row in rows)
    measured = max(len(row[1]) for row in rows)
    for row in rows:
        print(f"  {row[0]:<{what}}  {row[1]:<{measured}}  {row[2]}".rstrip())


def checked(name: str, exit_code: int, expected: int) -> None:
    """End the benchmark where a run did not do what it measures."""
    if exit_code != expected:
        raise SystemExit(f"bench: {name} ended with {exit_code}, not {expected}")
