"""Runs the model check: `python -m tests.model --states 1000000`.

Each scene is searched in a process of its own, as many at a time as there are processors: first
every interleaving of the first moves, then all runs to their ends, by how often they deviate from
the usual course. Ends with 1 where anything is wrong, and prints how it comes about.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.model.recoveries import SCENES as RECOVERED
from tests.model.recovery_search import Seen
from tests.model.recovery_search import search as search_recoveries
from tests.model.scenes import OPENINGS, SCENES, scene
from tests.model.search import Bounds, Violation
from tests.model.task import Done, Task, work
from tests.model.trace import recording, story

_KIB = 1024
_MOST_DEVIATIONS = 100


def main(arguments: Sequence[str]) -> int:
    """Search all scenes, print what was seen, and return the exit code."""
    options = _parser().parse_args(arguments)
    began_at = time.monotonic()
    states, violations, peak_kib = 0, 0, 0
    for tasks in _deeper(options):
        for done in _searched(tasks, options.jobs):
            _say(_line(done))
            violations += _told(done, options.traces)
            states += done.visited.states
            peak_kib = max(peak_kib, done.peak_kib)
        if violations or states >= options.states:
            break
    for name in RECOVERED if options.recoveries is not None else ():
        seen = search_recoveries(scene(name), options.recoveries)
        violations += _told_of_recoveries(name, options.recoveries, seen)
        states += seen.states
    seconds = time.monotonic() - began_at
    _say(
        f"{states:,} states, {violations} violations, {seconds:.0f} s,"
        f" at most {peak_kib / _KIB:.0f} MiB in a process, {options.jobs} side by side"
    )
    return 1 if violations else 0


def _searched(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """Search scene by scene, in processes of their own where several are wanted."""
    if jobs == 1:
        yield from map(work, tasks)
        return
    # A fresh process for each scene, so that memory is that of the scene alone.
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(work, tasks)


def _deeper(options: argparse.Namespace) -> Iterator[list[Task]]:
    """Iterate what to search, each whole before the next: interleavings, then more deviations.

    States that two of these have in common are counted in both.
    """
    opening = [name for name in options.scenes if name in OPENINGS]
    openings = [Task(name, Bounds(moves=options.moves)) for name in opening if options.moves]
    least = 1 if options.deviations is None else options.deviations
    for deviations in range(least, _MOST_DEVIATIONS if options.deviations is None else least + 1):
        runs = [Task(name, Bounds(deviations=deviations)) for name in options.scenes]
        yield [*openings, *runs]
        openings = []


def _line(done: Done) -> str:
    bounds, visited = done.task.bounds, done.visited
    if bounds.counts_deviations:
        what = f"all runs with at most {bounds.deviations:.0f} deviations"
    else:
        what = f"every interleaving of {bounds.moves:.0f} moves"
    return (
        f"{done.task.scene:<22} {what}: {visited.states:>9,} states, {visited.steps:>9,} steps,"
        f" {visited.longest:>3} moves deep, {done.seconds:>4.0f} s, {done.peak_kib // _KIB} MiB"
    )


def _told(done: Done, folder: Path | None) -> int:
    """Print what is wrong, each with its course; write its recording where a folder is given."""
    for number, violation in enumerate(done.visited.violations.values(), 1):
        _say(f"\n{done.task.scene}: {violation.what}")
        for line in story(scene(done.task.scene), violation.course):
            _say(line)
        if folder is not None:
            _write(folder / f"{done.task.scene}-{number}.jsonl", done.task, violation)
    return len(done.visited.violations)


def _told_of_recoveries(name: str, deviations: int, seen: Seen) -> int:
    """Print what was seen of two recoveries at once, and what is wrong, with its moves."""
    what = f"two recoveries with at most {deviations} deviations"
    _say(f"{name:<22} {what}: {seen.states:>9,} states")
    for what, course in seen.wrong.items():
        _say("\n".join((f"\n{name}: {what}", *course)))
    return len(seen.wrong)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _write(path: Path, task: Task, violation: Violation) -> None:
    lines = recording(scene(task.scene), violation.course)
    if not lines:
        _say("(no apply took effect, so that there is nothing to replay)")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    _say(f"rollout-gate replay {path}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    names = [one.name for one in SCENES]
    parser.add_argument(
        "--states",
        type=int,
        default=0,
        help="search deeper, bound by bound, until at least so many states were visited",
    )
    parser.add_argument("--moves", type=int, default=0, help="also every interleaving of so many")
    parser.add_argument("--deviations", type=int, help="this bound alone, not ever more")
    parser.add_argument("--recoveries", type=int, help="also two at once, by so many deviations")
    parser.add_argument("--scenes", nargs="+", choices=names, default=names, metavar="SCENE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--traces", type=Path, help="a folder for recordings of what is wrong")
    return parser


if __name__ == "__main__":
    # End by an exception, so that the processes of the searches are ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
