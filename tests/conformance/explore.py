"""Plays random sequences on both beds and compares their ends.

`python -m tests.conformance.explore --from 0 --count 200` prints each seed whose ends differ, with
`--shrink` the fewest of its steps for which they still do; `--kind` takes another kind than
Deployments. `tests/e2e` plays some of them.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tests.cluster.build import BuildError
from tests.cluster.kubelet.api import JSON, Api
from tests.cluster.server_process import ServerError
from tests.conformance import kinds, operations, sequences
from tests.conformance.bed import Bed
from tests.conformance.differences import differences
from tests.conformance.real_bed import RealBed
from tests.conformance.real_cluster import real_cluster
from tests.conformance.sandbox_bed import SandboxBed
from tests.conformance.sequences import Outcome

AT_ONCE = 6
ATTEMPTS = 4
STARTED = datetime(2026, 1, 1, 12, tzinfo=UTC)
_ONE_AT_A_TIME = threading.Lock()
"""Sandboxes are for one thread at a time: they share what they have compiled."""


@dataclass(frozen=True, slots=True)
class Explored:
    """How one kind is explored: its steps by a seed, what they come to on a bed, what differs."""

    sequence: Callable[[int], Sequence[Any]]
    play: Callable[[Bed, Sequence[Any], str], Any]
    unequal: Callable[[Any, Any], list[str]]


def main() -> None:
    """Compare, and end with 1 where anything differs."""
    arguments = _parser().parse_args()
    first: int = arguments.first
    seeds = range(first, first + arguments.count)
    kind = KINDS[arguments.kind]
    try:
        with real_cluster() as cluster:
            differing = [*_explored(cluster.api, kind, seeds, shrink=arguments.shrink)]
    except (BuildError, ServerError) as error:
        sys.exit(f"error: {error}")
    print(f"{len(seeds)} sequences, {len(differing)} differ: {differing}")
    sys.exit(bool(differing))


def _explored(api: Api, kind: Explored, seeds: Sequence[int], *, shrink: bool) -> Iterator[int]:
    for seed, found in compared(api, kind, seeds):
        if not found:
            continue
        steps = kind.sequence(seed)
        print(difference_text(seed, steps, found), flush=True)
        if shrink:
            fewest = shrunk(api, kind, steps, f"shrunk-{seed}")
            print(difference_text(seed, fewest, ["with the fewest steps"]), flush=True)
        yield seed


def compared(api: Api, kind: Explored, seeds: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield each seed with the differences of its ends, some at once on the real cluster."""

    def compare(seed: int) -> list[str]:
        return against_real(api, kind, kind.sequence(seed), f"sequence-{seed}")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from zip(seeds, pool.map(compare, seeds), strict=True)


def against_real(api: Api, kind: Explored, steps: Sequence[Any], name: str) -> list[str]:
    """Return in what the real cluster and the sandbox differ over steps.

    The real cluster's controllers race, with each other and with the next step: it may end
    otherwise another time. What differs each time is a difference.
    """
    sandbox = on_sandbox(kind, steps)
    found: list[str] = []
    for attempt in range(ATTEMPTS):
        real = kind.play(RealBed(api), steps, f"{name}-{os.getpid()}-{attempt}")
        found = kind.unequal(real, sandbox)
        if not found:
            break
    return found


def on_sandbox(kind: Explored, steps: Sequence[Any]) -> Any:
    """Return what the sandbox makes of steps."""
    with _ONE_AT_A_TIME:
        return kind.play(SandboxBed(STARTED), steps, "sequence")


def unequal(real: Outcome, sandbox: Outcome) -> list[str]:
    """Return in what two outcomes differ: in answers, or in what settled."""
    return [
        *differences(real.answers, sandbox.answers, "answers"),
        *differences(real.settled, sandbox.settled),
    ]


def shrunk(api: Api, kind: Explored, steps: Sequence[Any], name: str) -> list[Any]:
    """Return the steps without those that the difference does not need."""
    fewest = [*steps]
    for index in range(len(steps) - 1, 0, -1):
        fewer = fewest[:index] + fewest[index + 1 :]
        if against_real(api, kind, fewer, f"{name}-{index}"):
            fewest = fewer
    return fewest


def difference_text(seed: int, steps: Sequence[Any], found: Sequence[str]) -> str:
    """Return what people read of a difference."""
    lines = [f"seed {seed}: real | sandbox", *(f"  {line}" for line in found)]
    return "\n".join([*lines, *(f"  step: {step}" for step in steps)])


def _of_kind(name: str) -> Explored:
    def play(bed: Bed, steps: Sequence[kinds.Operation], namespace: str) -> JSON:
        return kinds.play(bed, name, steps, namespace)

    def unequal_pictures(real: JSON, sandbox: JSON) -> list[str]:
        return [*differences(real, sandbox)]

    return Explored(partial(kinds.sequence, name), play, unequal_pictures)


KINDS: Mapping[str, Explored] = {
    "Deployment": Explored(operations.sequence, sequences.play, unequal),
    **{name: _of_kind(name) for name in kinds.RESOURCES},
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.explore", description=__doc__
    )
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    parser.add_argument("--count", type=int, default=50, help="how many seeds")
    parser.add_argument("--kind", choices=KINDS, default="Deployment", help="what is changed")
    parser.add_argument("--shrink", action="store_true", help="look for the fewest steps")
    return parser


if __name__ == "__main__":
    main()
