"""Which images misbehave: patterns of images, and what their containers do from which second on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sandbox.json import JSON
from sandbox.kubelet.behaviour import POD_KINDS, Clause, Kind

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


def fits(pattern: str, image: str) -> bool:
    """Tell whether an image is meant; `*` stands for any characters."""
    form = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(form, image, re.DOTALL) is not None


@dataclass(frozen=True, slots=True)
class ImageRule:
    """What containers of the images that fit do."""

    pattern: str
    behaviour: Series[tuple[Clause, ...]]


@dataclass(frozen=True, slots=True)
class LogRule:
    """What containers of the images that fit write."""

    pattern: str
    text: str


@dataclass(frozen=True, slots=True)
class Images:
    """The rules of a scenario; of several that fit an image the first holds."""

    rules: tuple[ImageRule, ...] = ()
    logs: tuple[LogRule, ...] = ()

    def clauses(self, pod: JSON, seconds: float) -> tuple[Clause, ...]:
        """Return what a pod is asked to do at a time of the scenario."""
        return tuple(dict.fromkeys(self._clauses(pod, seconds)))

    def log(self, image: str) -> str:
        """Return what a container of an image writes, empty where nothing is said of it."""
        return next((rule.text for rule in self.logs if fits(rule.pattern, image)), "")

    @property
    def times(self) -> tuple[float, ...]:
        """When anything changes."""
        return tuple(sorted({at for rule in self.rules for at in rule.behaviour.times}))

    def _clauses(self, pod: JSON, seconds: float) -> Iterator[Clause]:
        spec = pod["spec"]
        for container in (*spec.get("initContainers", ()), *spec["containers"]):
            rule = self._rule(container["image"])
            asked: Iterable[Clause] = (rule.behaviour.at(seconds) or ()) if rule else ()
            yield from (_with_container(clause, container["name"]) for clause in asked)

    def _rule(self, image: str) -> ImageRule | None:
        return next((rule for rule in self.rules if fits(rule.pattern, image)), None)


def _with_container(clause: Clause, container: str) -> Clause:
    """Return the clause for the container whose image it is said of."""
    is_elsewhere = clause.kind in POD_KINDS or clause.kind is Kind.INIT_CRASH
    return clause if is_elsewhere or clause.container else replace(clause, container=container)
