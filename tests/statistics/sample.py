"""Holds the decision in arrays equal to the gate's own, on a sample."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.statistics.count_decision import CountRule
from tests.statistics.decisions import NEVER, decide, decide_by_the_gate
from tests.statistics.traffic import Counts


def differences(rule: CountRule, counts: Counts) -> Iterator[str]:
    """Yield where the two decide otherwise, or at another tick."""
    here, there = decide(rule, counts), decide_by_the_gate(rule, counts)
    for run in range(len(here.worse)):
        ours = (here.worse[run], here.harmless[run])
        theirs = (there.worse[run], there.harmless[run])
        if ours != theirs:
            yield f"rollout {run}: {_at(*ours)} in arrays, and {_at(*theirs)} by the gate"


def _at(worse: int, harmless: int) -> str:
    def tick(number: int) -> str:
        return "never" if number == NEVER else f"at tick {number}"

    return f"worse {tick(worse)}, not harmful {tick(harmless)}"
