"""`python -m tests.fuzz.minimise TARGET [FOLDER]`: choose a corpus from all that is known.

Chosen are few short inputs that take every branch which any of them takes: of the corpus, the
target's seeds, and the files of a folder (what the last search found, where none is named).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from coverage import Coverage

from tests.fuzz.corpus import FOUND, read_corpus, write_corpus
from tests.fuzz.targets import TARGETS, Target

ROOMS = ["gate"]
MOST_ENTRIES = 50

SHORT_BYTES = 200

Branch = tuple[str, int, int]
Feature = TypeVar("Feature")


def branches(target: Target, data: bytes) -> frozenset[Branch]:
    """Return the branches of the gate's code that a target takes with one input."""
    measured = Coverage(data_file=None, branch=True, source=ROOMS)
    with measured.collect():
        target.run(data)
    taken = measured.get_data()
    return frozenset(
        (file, start, end)
        for file in taken.measured_files()
        for start, end in taken.arcs(file) or ()
    )


def choose(taken: Mapping[bytes, frozenset[Branch]], most: int) -> list[bytes]:
    """Return at most so many inputs: for their branches first, then short ones for their bytes.

    A reader that is one regular expression takes the same branches for any text.
    """
    short = {
        entry: frozenset(itertools.pairwise(entry)) for entry in taken if len(entry) <= SHORT_BYTES
    }
    chosen = cover(taken, most)
    rest = {entry: pairs for entry, pairs in short.items() if entry not in chosen}
    return chosen + cover(rest, most - len(chosen))


def cover(features: Mapping[bytes, frozenset[Feature]], most: int) -> list[bytes]:
    """Return at most so many inputs: again and again what adds most features, the shorter first."""
    chosen: list[bytes] = []
    covered: set[Feature] = set()
    while len(chosen) < min(most, len(features)):
        best = min(features, key=lambda one: (-len(features[one] - covered), len(one), one))
        if features[best] <= covered:
            break
        chosen.append(best)
        covered |= features[best]
    return chosen


def known_inputs(target: Target, folder: Path) -> Iterable[bytes]:
    """Return every input that is known of a target."""
    found = (path.read_bytes() for path in sorted(folder.iterdir())) if folder.is_dir() else ()
    return {*target.seeds, *read_corpus(target.name), *found}


def main() -> None:
    """Write the corpus of one target, and say how many branches it takes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.minimise", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("folder", type=Path, nargs="?")
    given = parser.parse_args()
    target = TARGETS[given.target]
    taken = {
        entry: branches(target, entry)
        for entry in known_inputs(target, given.folder or FOUND / target.name)
    }
    chosen = choose(taken, MOST_ENTRIES)
    reached, every = (set().union(*(taken[entry] for entry in some)) for some in (chosen, taken))
    write_corpus(target.name, [*target.seeds, *chosen])
    sys.stdout.write(
        f"{len(chosen)} of {len(taken)} inputs take {len(reached)} of {len(every)} branches\n"
    )


if __name__ == "__main__":
    main()
