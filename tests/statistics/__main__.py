"""Simulates each cell, and writes the page: `python -m tests.statistics`.

Ends with 1 where a bound is broken. With a planted error nothing is written, and the bounds have to
find it.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.statistics import page, plot
from tests.statistics.cells import Cell, cells
from tests.statistics.measures import ABOUT, RUNS, Measures, Plant, counts_of, measure
from tests.statistics.sample import differences

SAMPLE = 20
"""So many rollouts of each cell are also decided by the gate's own code, tick by tick."""


def main() -> int:
    """Simulate, compare, write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.statistics", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="rollouts of a cell")
    planted = "; ".join(f"{plant}: {about}" for plant, about in ABOUT.items())
    parser.add_argument("--plant", type=Plant, choices=[*Plant], help=planted)
    asked = parser.parse_args()
    began_at = time.monotonic()
    measured: dict[Cell, Measures] = {}
    wrong: list[str] = []
    play = partial(_play, runs=asked.runs, plant=asked.plant)
    with ProcessPoolExecutor() as pool:
        for cell, (found, different) in zip(cells(), pool.map(play, cells()), strict=True):
            measured[cell] = found
            _print(page.row(cell, found).strip())
            wrong += [f"{cell.name}: {one}" for one in (*_broken(cell, found), *different)]
    if asked.plant is None and asked.runs == RUNS and not wrong:
        text = page.PAGE.read_text(encoding="utf-8")
        generated = page.table(measured)
        page.PAGE.write_text(page.with_table(text, generated), encoding="utf-8")
        page.PICTURE.write_text(plot.plot(), encoding="utf-8")
    _print(f"{len(measured)} cells in {time.monotonic() - began_at:.0f} s")
    for one in wrong:
        _print(f"broken: {one}")
    return 1 if wrong else 0


def _play(cell: Cell, runs: int, plant: Plant | None) -> tuple[Measures, list[str]]:
    """Measure a cell; return also where the gate's own code decides otherwise."""
    found = measure(cell, runs, plant)
    if plant is not None:
        return found, []
    counts = counts_of(cell, runs=min(SAMPLE, runs))
    return found, [*differences(cell.own_rule, counts)]


def _broken(cell: Cell, found: Measures) -> list[str]:
    return [
        f"{page.bounds_of([bound])}, and it is {found.value(bound.measure):g}"
        for bound in cell.bounds
        if not bound.holds(found.value(bound.measure))
    ]


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
