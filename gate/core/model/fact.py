"""What is known of one thing: it is there, it is not there, or nobody could tell.

An API error is `Unknown`, never `Absent`: only a `Known` fact may fail a rollout.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from gate.core.frozen import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """The thing was read."""

    value: T


@dataclass(frozen=True, slots=True)
class Absent:
    """The server said that the thing does not exist."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody could tell; `why` is for people."""

    why: str = ""


Fact = Known[T] | Absent | Unknown
