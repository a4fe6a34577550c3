"""The search: breadth first over worlds, each visited once by its canonical form.

Two orders, by what a bound counts. By deviations: the usual course is free, so that each run goes
on to its end, and all runs that deviate at most so often are visited. By moves: nothing is free,
so that every interleaving of so many moves is visited. Either way a world is reached first with
the least that its bound counts, so that a counterexample is a short one.
"""

from __future__ import annotations

import gc
import math
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.model.attempts import first_world
from tests.model.canonical import digest
from tests.model.course import usual
from tests.model.deviations import deviations
from tests.model.invariants import wrong, wrong_at_rest
from tests.model.moves import moves
from tests.model.stepping import Move
from tests.model.world import Scene, World

_START: Final = -1

Course = tuple[int, ...]
"""A run as the choices that were made, each the place of a move in `moves`."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a search goes; infinite is without a bound."""

    deviations: float = math.inf
    moves: float = math.inf

    @property
    def counts_deviations(self) -> bool:
        """Whether the usual course is free."""
        return not math.isinf(self.deviations)


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, and the first course that leads there."""

    what: str
    course: Course


@dataclass
class Visited:
    """What a search has seen: how many states and steps, the longest run, the ends, what is wrong.

    `ends` counts states whose attempt has ended, by outcome.
    """

    states: int = 0
    steps: int = 0
    longest: int = 0
    ends: dict[str, int] = field(default_factory=dict)
    violations: dict[str, Violation] = field(default_factory=dict)


class _Search:
    """One search of one scene. Of each world its digest is kept, and how it was reached."""

    def __init__(self, scene: Scene, bounds: Bounds) -> None:
        self.scene = scene
        self.bounds = bounds
        self.visited = Visited()
        self.seen: set[bytes] = set()
        self.parents = array("l")
        self.choices = array("H")
        self.queues: dict[int, deque[tuple[World, int, int]]] = {}

    def run(self, *, to_the_first: bool) -> Visited:
        """Visit all within the bounds, or until the first violation."""
        self._reach(first_world(self.scene), _START, 0, 0, 0)
        spent = 0
        while spent in self.queues:
            queue = self.queues[spent]
            while queue:
                if to_the_first and self.visited.violations:
                    return self.visited
                self._expand(*queue.popleft(), spent)
            del self.queues[spent]
            spent += 1
        return self.visited

    def _expand(self, world: World, number: int, depth: int, spent: int) -> None:
        """Go every way on from a world that the bounds allow."""
        if depth >= self.bounds.moves:
            return
        choice = 0
        for move in self._ways(world, spent):
            deviates = choice > 0 and self.bounds.counts_deviations
            self._take(move, world, number, choice, depth + 1, spent + deviates)
            choice += 1
        if choice == 0:
            for what in wrong_at_rest(world):
                self._blame(what, number, None)

    def _ways(self, world: World, spent: int) -> Iterator[Move]:
        """Iterate the moves; where no deviation is left, the usual course alone."""
        course = usual(world, self.scene)
        if spent >= self.bounds.deviations:
            yield from _first(course)
            return
        yield from course
        yield from deviations(world, self.scene)

    def _take(
        self, move: Move, world: World, number: int, choice: int, depth: int, spent: int
    ) -> None:
        stepped = move.make()
        self.visited.steps += 1
        faults = list(wrong(world, stepped))
        for what in faults:
            self._blame(what, number, choice)
        if not faults:
            self._reach(stepped.world, number, choice, depth, spent)

    def _reach(self, world: World, parent: int, choice: int, depth: int, spent: int) -> None:
        key = digest(world)
        if key in self.seen:
            return
        self.seen.add(key)
        visited = self.visited
        self.queues.setdefault(spent, deque()).append((world, visited.states, depth))
        self.parents.append(parent)
        self.choices.append(choice)
        visited.states += 1
        visited.longest = max(visited.longest, depth)
        if world.attempt is not None and world.attempt.ended:
            outcome = world.attempt.outcome.value
            visited.ends[outcome] = visited.ends.get(outcome, 0) + 1

    def _blame(self, what: str, number: int, choice: int | None) -> None:
        """Keep the first course to what is wrong."""
        if what not in self.visited.violations:
            course = self._course(number)
            course = course if choice is None else (*course, choice)
            self.visited.violations[what] = Violation(what, course)

    def _course(self, number: int) -> Course:
        choices = []
        while self.parents[number] != _START:
            choices.append(self.choices[number])
            number = self.parents[number]
        return tuple(reversed(choices))


def _first(course: Iterator[Move]) -> Iterator[Move]:
    move = next(course, None)
    if move is not None:
        yield move


def search(scene: Scene, bounds: Bounds, *, to_the_first: bool = False) -> Visited:
    """Search a scene within bounds; with `to_the_first` until something is wrong.

    What is wrong is not gone on from: whatever follows would only repeat it.
    """
    collecting = gc.isenabled()
    gc.disable()  # values of the core refer to no later ones, so that there is nothing to collect
    try:
        return _Search(scene, bounds).run(to_the_first=to_the_first)
    finally:
        if collecting:
            gc.enable()


def replayed(scene: Scene, course: Course) -> Iterator[tuple[str, World]]:
    """Iterate the moves of a course by name, each with the world after it."""
    world = first_world(scene)
    for choice in course:
        move = moves(world, scene)[choice]
        world = move.make().world
        yield move.name, world
