"""How many watch events a second the judge takes, decoding included, on the shared traces."""

from __future__ import annotations

import json
import time
from pathlib import Path

from bench.measure import table
from gate.core.attempt.new_rollout import applied_found
from gate.core.kinds.registry import unseen
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import Policy
from gate.wire import decode

TRACES = Path(__file__).parents[1] / "tests" / "traces"
ROUNDS = 40
LEAST_A_SECOND = 20_000


def measure() -> None:
    """Print the rate over all recordings."""
    events = 0
    began = time.perf_counter()
    for path in sorted(TRACES.glob("*.jsonl")):
        header, *lines = path.read_bytes().splitlines()
        for _ in range(ROUNDS):
            events += _judge(header, lines)
    seconds = time.perf_counter() - began
    rate = events / seconds
    row = ("decode, fold, judge", f"{rate:,.0f} events/s", f"at least {LEAST_A_SECOND:,}")
    table("the judge", [row])


def _judge(header: bytes, lines: list[bytes]) -> int:
    """Fold one recording, asking for the verdict after each event."""
    applied = decode.live_object(_applied(header))
    if applied.workload is None:
        raise SystemExit("bench: a recording without a Deployment")
    snapshot = unseen(applied.ref).fold(Observed(0.0, applied.workload))
    rollout = Rollout.start(applied_found(0.0, applied.workload), snapshot, Policy())
    at = 0.0
    for line in lines:
        at += 0.001
        found = decode.watch_line(line).object
        if found is not None:
            rollout = rollout.observe(Observed(at, found))
            rollout.verdict(at)
    return len(lines)


_HEADERS: dict[bytes, bytes] = {}


def _applied(header: bytes) -> bytes:
    """Return the recorded Deployment; parsed once, for it is not what is measured."""
    if header not in _HEADERS:
        _HEADERS[header] = json.dumps(json.loads(header)["applied"]).encode()
    return _HEADERS[header]
