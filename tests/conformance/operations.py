"""What people and controllers do to a Deployment, as data, and sequences of it from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

VERSIONS = 3
GOOD = "ready=0.6"
"""Slower than any controller: a step that comes at once finds pods that are not ready yet."""
NEVER, CRASH = "never-ready", "crash=0.3"
BEHAVIOURS = (GOOD, GOOD, GOOD, NEVER, CRASH)
MOST_AT_ONCE = 2
"""So many steps without waiting come before the first pods that they made are ready."""
FAILURES = ("evicted=0.1", "restart-once=0.1", CRASH)


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply a version as the gate does; without `force` another manager's change refuses it."""

    version: int
    replicas: int | None = None
    behaviour: str = GOOD
    recreate: bool = False
    force: bool = True


class Verb(StrEnum):
    """What else is done; the value that it takes, where it takes one, stands beside it."""

    SCALE = "scale"  # replicas, through the scale subresource
    PAUSE = "pause"  # as `kubectl rollout pause`
    RESUME = "resume"
    UNDO = "undo"  # to the revision before, as `kubectl rollout undo`
    RESTART = "restart"  # a second: changes an annotation of the template
    DELETE_POD = "delete-pod"  # the oldest pod of the latest revision that has some
    FAIL_POD = "fail-pod"  # a behaviour, of that same pod
    EDIT = "edit"  # a variable's value, as `kubectl set env`
    RECREATE = "recreate"  # a version: deletes, waits until the pods are gone, applies


@dataclass(frozen=True, slots=True)
class Change:
    """One of the verbs, done with a value."""

    verb: Verb
    value: Any = None


Operation = Apply | Change


@dataclass(frozen=True, slots=True)
class Step:
    """An operation, after which all is left to settle, or only to be noticed."""

    do: Operation
    settle: bool = True


def _apply(chance: random.Random) -> Apply:
    return Apply(
        version=chance.randint(1, VERSIONS),
        replicas=chance.choice((None, 1, 2, 3, 5)),
        behaviour=chance.choice(BEHAVIOURS),
        recreate=chance.random() < 0.15,
        force=chance.random() < 0.8,
    )


_CHOICES: Sequence[tuple[int, Callable[[random.Random], Operation]]] = (
    (6, _apply),
    (3, lambda chance: Change(Verb.SCALE, chance.choice((0, 1, 2, 3, 4, 6)))),
    (2, lambda _: Change(Verb.PAUSE)),
    (3, lambda _: Change(Verb.RESUME)),
    (3, lambda _: Change(Verb.UNDO)),
    (1, lambda chance: Change(Verb.RESTART, chance.randint(1, 3))),
    (2, lambda _: Change(Verb.DELETE_POD)),
    (2, lambda chance: Change(Verb.FAIL_POD, chance.choice(FAILURES))),
    (3, lambda chance: Change(Verb.EDIT, chance.choice("abc"))),
    (1, lambda chance: Change(Verb.RECREATE, chance.randint(1, VERSIONS))),
)


def sequence(seed: int) -> list[Step]:
    """Return 5 to 12 steps, the same for the same seed; the first one makes the Deployment."""
    chance = random.Random(seed)
    weights = [weight for weight, _ in _CHOICES]
    makers = chance.choices([make for _, make in _CHOICES], weights, k=chance.randint(4, 11))
    first = Step(Apply(1, replicas=chance.randint(1, 4), recreate=chance.random() < 0.2))
    steps = [first]
    for make in makers:
        at_once = chance.random() < 0.5 and any(step.settle for step in steps[-MOST_AT_ONCE:])
        steps.append(Step(make(chance), settle=not at_once))
    return steps
