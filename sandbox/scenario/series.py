"""A value that changes at given times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Series(Generic[T]):
    """Values with the second from which each holds, earliest first, no two for the same second."""

    steps: tuple[tuple[float, T], ...]

    @classmethod
    def constant(cls, value: T) -> Series[T]:
        """Return a series that never changes."""
        return cls(((0.0, value),))

    def at(self, seconds: float) -> T | None:
        """Return the value that holds at a time, None before the first."""
        found = None
        for since, value in self.steps:
            if since > seconds:
                break
            found = value
        return found

    @property
    def times(self) -> tuple[float, ...]:
        """When it changes."""
        return tuple(since for since, _ in self.steps)
