"""Plays trials on a real control plane: `python -m tests.interference [TRIALS] [--first SEED]`.

Each has a namespace of its own, and several are played at once; those whose actions are felt in
the whole cluster are played alone, afterwards. Ends with 1 where an invariant is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cluster.cluster import own_cluster
from tests.cluster.programs import REPOSITORY
from tests.interference.chronicle import Chronicle
from tests.interference.facts import Facts
from tests.interference.invariants import OF_ANY_GATE, broken
from tests.interference.keep import keep
from tests.interference.play import Bed, Played, grant, play
from tests.interference.trial import Trial, draw

TRIALS = 200
AT_ONCE = 5
KEPT = REPOSITORY / "build" / "interference"


@dataclass(frozen=True, slots=True)
class Judged:
    """How a trial ended: the exit codes of its runs, what was performed, and what is wrong."""

    trial: Trial
    codes: tuple[int, ...]
    performed: tuple[str, ...]
    wrong: tuple[str, ...]


def main() -> None:
    """Play, report, and end with 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.interference", description=__doc__)
    parser.add_argument("trials", nargs="?", type=int, default=TRIALS)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--keep-all", action="store_true", help="keep the files of good trials too")
    asked = parser.parse_args()
    began_at = time.monotonic()
    trials = [draw(seed) for seed in range(asked.first, asked.first + asked.trials)]
    with TemporaryDirectory(prefix="rollout-gate-interference-") as temporary:
        folder = Path(temporary)
        with own_cluster(folder) as cluster:
            grant(cluster)
            chronicle = Chronicle(cluster.api)
            chronicle.start()
            bed = Bed(cluster, chronicle, folder)
            judged = list(_judge_all(bed, trials, asked.at_once, keep_all=asked.keep_all))
            chronicle.stop()
    for line in _report(judged, time.monotonic() - began_at):
        sys.stdout.write(f"{line}\n")
    sys.exit(int(any(each.wrong for each in judged)))


def _judge_all(bed: Bed, trials: list[Trial], at_once: int, *, keep_all: bool) -> Iterator[Judged]:
    def judge(trial: Trial) -> Judged:
        return _judge(bed, trial, keep_all=keep_all)

    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(judge, [each for each in trials if not each.is_global])
    yield from map(judge, [each for each in trials if each.is_global])


def _judge(bed: Bed, trial: Trial, *, keep_all: bool) -> Judged:
    """Play one trial; whatever is wrong with it is said at once, and the others go on."""
    codes, performed, wrong = tuple[int, ...](), tuple[str, ...](), tuple[str, ...]()
    try:
        played = play(bed, trial)
    except Exception as error:  # noqa: BLE001 - a trial that cannot be played is told with its seed
        wrong = (f"not played: {type(error).__name__}: {error}",)
    else:
        facts = played.facts
        codes, performed = _codes(facts), tuple(each.name for each in facts.performed)
        wrong = (*broken(facts), *_of_other_gates(played))
        if wrong or keep_all:
            keep(KEPT / str(trial.seed), played, wrong)
    sys.stderr.write(f"{trial.seed} {'wrong' if wrong else 'right'} {codes} {trial}\n")
    for each in wrong:
        sys.stderr.write(f"    {each[:1500]}\n")
    return Judged(trial, codes, performed, wrong)


def _of_other_gates(played: Played) -> Iterator[str]:
    """Say what is wrong with the attempts of gates that ran beside the first."""
    for facts in played.others:
        for each in broken(facts, OF_ANY_GATE):
            yield f"second gate (exit {facts.exit_code}): {each}"


def _codes(facts: Facts) -> tuple[int, ...]:
    return tuple(result.exit_code for result in facts.ended.results)


def _report(judged: list[Judged], seconds: float) -> Iterator[str]:
    """Say how it went, and how each trial that went wrong is played again."""
    wrong = [each for each in judged if each.wrong]
    kinds = {name for each in judged for name in each.performed}
    codes = Counter(each.codes for each in judged)
    count = sum(len(each.performed) for each in judged)
    yield f"{len(judged)} trials in {seconds:.0f} s"
    yield f"actions: {count} of {len(kinds)} kinds"
    yield f"exit codes: {dict(sorted(codes.items()))}"
    yield f"wrong: {len(wrong)}"
    for each in wrong:
        yield f"  {each.trial.seed}: {each.wrong[0][:160]}"
        yield f"    again: python -m tests.interference 1 --first {each.trial.seed}"
        yield f"    files: {KEPT.relative_to(REPOSITORY)}/{each.trial.seed}"


if __name__ == "__main__":
    main()
