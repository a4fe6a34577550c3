"""The search over two recoveries: breadth first, who goes first is free, all else deviates."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tests.model.canonical import digest
from tests.model.recoveries import Pair, first_pair, left_open, moves, wrong, wrong_at_rest
from tests.model.world import Scene

Queue = deque[tuple[Pair, int, tuple[str, ...]]]
"""Pairs to go on from, each with the deviations spent and the names of the moves so far."""


@dataclass
class Seen:
    """What a search has seen: how many states, the outcomes of ends, and what is wrong first."""

    states: int = 0
    ends: set[str] = field(default_factory=set)
    wrong: dict[str, tuple[str, ...]] = field(default_factory=dict)


def search(scene: Scene, most_deviations: int, *, to_the_first: bool = False) -> Seen:
    """Visit every interleaving of two recoveries with at most so many deviations."""
    seen, known, queue = Seen(), dict[bytes, int](), Queue()
    queue.extend((first_pair(world), 0, ()) for world in left_open(scene))
    while queue and not (to_the_first and seen.wrong):
        pair, spent, course = queue.popleft()
        rests = True
        for move, deviates in moves(pair, scene):
            rests = rests and deviates
            if spent + deviates > most_deviations:
                continue
            step = move.make()
            faults = list(wrong(pair, step))
            for what in faults:
                seen.wrong.setdefault(what, (*course, move.name))
            if not faults:
                _reach(step.pair, spent + deviates, (*course, move.name), known, queue, seen)
        if rests:
            seen.ends |= {
                world.attempt.outcome.value for world in pair.worlds if world.attempt is not None
            }
            for what in wrong_at_rest(pair):
                seen.wrong.setdefault(what, course)
    return seen


def _reach(
    pair: Pair,
    spent: int,
    course: tuple[str, ...],
    known: dict[bytes, int],
    queue: Queue,
    seen: Seen,
) -> None:
    key = b"".join(map(digest, pair.worlds))
    stale = [pair.seen[who] != pair.version for who in (0, 1)]
    key += repr((pair.phases, stale, pair.holder, pair.verdict)).encode()
    if known.get(key, spent + 1) > spent:
        seen.states += key not in known
        known[key] = spent
        queue.append((pair, spent, course))
