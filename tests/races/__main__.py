"""Runs races on a real control plane: `python -m tests.races [RACES] [--at-once N] [--first SEED]`.

Each has a namespace of its own; several are run at once. Ends with 1 where one went wrong.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bed.control_plane import control_plane_bed
from tests.bed.history import History, WatchedHistory
from tests.cluster.cluster import Cluster, own_cluster
from tests.races.race import assert_right, run

RACES = 200
AT_ONCE = 5


@dataclass(frozen=True, slots=True)
class Ended:
    """How the race of a seed ended; `wrong` says what does not agree, "" for nothing."""

    seed: int
    codes: tuple[int, ...]
    wrong: str


def main() -> None:
    """Run, report, and end with 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.races", description=__doc__)
    parser.add_argument("races", nargs="?", type=int, default=RACES)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    began_at = time.monotonic()
    with TemporaryDirectory(prefix="rollout-gate-races-") as temporary:
        folder = Path(temporary)
        with own_cluster(folder) as cluster, ThreadPoolExecutor(asked.at_once) as pool:
            history = WatchedHistory(cluster.api)
            history.start()
            seeds = range(asked.first, asked.first + asked.races)
            ended = list(pool.map(lambda seed: _raced(cluster, history, folder, seed), seeds))
            history.stop()
    wrong = [each for each in ended if each.wrong]
    codes = Counter(each.codes for each in ended)
    sys.stdout.write(f"{len(ended)} races in {time.monotonic() - began_at:.0f} s\n")
    sys.stdout.write(f"exit codes: {dict(sorted(codes.items()))}\n")
    sys.stdout.write(f"wrong: {len(wrong)}\n")
    sys.exit(int(bool(wrong)))


def _raced(cluster: Cluster, history: History, folder: Path, seed: int) -> Ended:
    """Run one race; whatever is wrong with it is said at once, and the others go on."""
    here, codes = folder / str(seed), tuple[int, ...]()
    here.mkdir()
    try:
        with control_plane_bed(cluster, history, "race", here) as bed:
            race = run(bed, seed, threading.Event().wait)
            codes = race.codes
            assert_right(race)
    except Exception as error:  # noqa: BLE001 - one race that breaks is told with its seed
        wrong = f"{type(error).__name__}: {error}"
        sys.stderr.write(f"race {seed}: {wrong}\n")
        return Ended(seed, codes, wrong)
    return Ended(seed, codes, "")


if __name__ == "__main__":
    main()
