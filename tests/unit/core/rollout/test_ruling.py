"""What the judge said is kept while it stands: the same as if each rollout were judged afresh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.rollout.ruling import Rulings
from gate.core.rollout.verdict import Verdict, VerdictKind

A, B, C = (Ref("apps/v1", "Deployment", "shop", name) for name in "abc")


@dataclass(eq=False)
class Judged:
    """A rollout with a verdict of that kind, None for none, whose text has the time."""

    kind: VerdictKind | None = None
    wakes_at: float = math.inf
    asked: int = 0

    def ruling(self, now: float) -> Verdict | None:
        """Return the verdict."""
        self.asked += 1
        if self.kind is None:
            return None
        return Verdict(self.kind, Reason.TIMEOUT, CleanText(f"after {now:.0f} s"))

    def wake_at(self, _: float) -> float:
        """Return when it is to be asked again."""
        return self.wakes_at


def rulings_of(*steps: tuple[dict[Ref, Any], float]) -> Rulings:
    """Return the rulings after the rollouts of each step, at its time."""
    rulings = Rulings({})
    for rollouts, now in steps:
        rulings = rulings.at(FrozenMap(rollouts), now)
    return rulings


def test_another_set_of_workloads_has_its_own_verdicts() -> None:
    """Also one of the same size, in which a workload has taken the place of another."""
    there, gone, come = Judged(), Judged(VerdictKind.COMPLETE), Judged(VerdictKind.HELD)
    rulings = rulings_of(({A: there, B: gone}, 1.0), ({A: there, C: come}, 2.0))
    assert list(rulings.verdicts) == [A, C]


def test_a_failure_is_told_again_with_each_change_of_another() -> None:
    """Its text says for how long; what is complete, or has no verdict, is not asked again."""
    failed, complete, before = Judged(VerdictKind.FAILED), Judged(VerdictKind.COMPLETE), Judged()
    first = {A: failed, B: complete, C: before}
    rulings = rulings_of((first, 1.0), ({**first, C: Judged()}, 5.0))
    found = rulings.verdicts[A]
    assert found is not None
    assert found.message == "after 5 s"
    assert (complete.asked, before.asked) == (1, 1)


def test_a_clock_that_has_run_out_is_looked_at() -> None:
    """Without any event: time alone changes that verdict."""
    due = Judged(VerdictKind.COMPLETE, wakes_at=3.0)
    rulings = rulings_of(({A: due}, 1.0), ({A: due}, 2.0), ({A: due}, 4.0))
    assert rulings.verdicts[A] == due.ruling(4.0)
