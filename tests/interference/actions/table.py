"""The table of what others do: each action has a name, and what may come of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass

from tests.interference.stage import Stage

Do = Callable[[Stage, random.Random], None]


@dataclass(frozen=True, slots=True)
class Action:
    """An action of somebody else.

    `ends` are the exit codes that it may lead to beside the one that the version asks for: 0 of a
    good one, 4 of a bad one. `early_ends` are those where it comes before the gate has written
    every object. `may_fail` is whether a good version may come to fail by it. `is_global` is felt
    in every namespace; `runs_gate` starts another gate.
    """

    name: str
    do: Do
    ends: frozenset[int]
    early_ends: frozenset[int]
    may_fail: bool
    is_global: bool
    runs_gate: bool


ACTIONS: dict[str, Action] = {}

CONFLICT = frozenset({3, 4, 8})
"""Another manager's fields: refused; between dry run and write, what was written goes back."""
OVERTAKEN = frozenset({3, 4, 8})


def action(
    ends: Collection[int] = (),
    early: Collection[int] = (),
    *,
    may_fail: bool = False,
    is_global: bool = False,
    runs_gate: bool = False,
) -> Callable[[Do], Do]:
    """Enter a function into the table, by its name with hyphens."""

    def enter(do: Do) -> Do:
        name = do.__name__.replace("_", "-")
        codes = frozenset(ends), frozenset(early)
        ACTIONS[name] = Action(name, do, *codes, may_fail, is_global, runs_gate)
        return do

    return enter
