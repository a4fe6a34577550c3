"""A scenario as a value, and the file that it is read from."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from sandbox.failure import SandboxError
from sandbox.kubelet import behaviour
from sandbox.kubelet.behaviour import BehaviourError, Clause
from sandbox.kubelet.kubelet import NODES
from sandbox.objects.validation.errors import dns_subdomain
from sandbox.scenario import actions
from sandbox.scenario.actions import Action
from sandbox.scenario.cast import Cast, report_strangers
from sandbox.scenario.document import Node, Report, root
from sandbox.scenario.images import ImageRule, Images, LogRule, Series
from sandbox.times import parse_seconds

T = TypeVar("T")


class NoAnswer(enum.StrEnum):
    """What a health check gets instead of a measurement."""

    NO_DATA = "no-data"
    UNREACHABLE = "unreachable"


Measurement = float | NoAnswer


@dataclass(frozen=True, slots=True)
class Event:
    """What somebody does at a second of the scenario; `text` is how the file says it."""

    at: float
    text: str
    action: Action = field(compare=False)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens, in seconds since the scenario is started; events in their order.

    `nodes` are there from the beginning, whoever makes the cluster sees to it.
    """

    images: Images = field(default_factory=Images)
    checks: Mapping[str, Series[Measurement]] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    nodes: tuple[str, ...] = NODES

    def iter_changes(self, after: float) -> Iterator[tuple[str, float]]:
        """Yield which image or check changes, and when, from a second on."""
        series = [(rule.pattern, rule.behaviour.times) for rule in self.images.rules]
        series += [(name, each.times) for name, each in self.checks.items()]
        yield from ((name, at) for name, times in series for at in times if at >= after)


def load(path: str, cast: Cast | None = None) -> Scenario:
    """Read a scenario file; ScenarioError with everything that is wrong in it.

    With a cast that includes what it names and the cast does not have.
    """
    report = Report(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SandboxError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SandboxError(f"{path}: not UTF-8") from error
    return parse(text, report, cast)


def parse(text: str, report: Report, cast: Cast | None = None) -> Scenario:
    """Return the scenario that a text describes; ScenarioError names the report's file."""
    found = root(text, report)
    sections = dict(_sections(found)) if found else {}
    images = Images(
        tuple(_image_rules(sections.get("images"))), tuple(_log_rules(sections.get("logs")))
    )
    checks = dict(_checks(sections.get("checks")))
    events = tuple(sorted(_events(sections.get("events")), key=lambda event: event.at))
    nodes = tuple(_node_names(sections.get("nodes"))) or NODES
    if cast is not None:
        report_strangers(sections, cast)
    report.close()
    return Scenario(images, checks, events, nodes)


_SECTIONS: Final = ("images", "logs", "checks", "events", "nodes")


def _sections(document: Node) -> Iterator[tuple[str, Node]]:
    known = ", ".join(_SECTIONS)
    for key, value in document.entries(f"a mapping of {known}"):
        name = key.text("a name") or ""
        if name in _SECTIONS:
            yield name, value
        else:
            key.wrong(f"no such section: {name}; there are {known}")


def _image_rules(section: Node | None) -> Iterator[ImageRule]:
    for key, value in section.entries("images with their behaviours") if section else ():
        series = _series(value, "a behaviour", _behaviour)
        yield ImageRule(key.text("an image") or "", series)


def _log_rules(section: Node | None) -> Iterator[LogRule]:
    for key, value in section.entries("images with what they log") if section else ():
        yield LogRule(key.text("an image") or "", value.text("what is logged") or "")


def _checks(section: Node | None) -> Iterator[tuple[str, Series[Measurement]]]:
    for key, value in section.entries("checks with their measurements") if section else ():
        yield key.text("a name") or "", _measurements(value)


def _events(section: Node | None) -> Iterator[Event]:
    for key, value in section.entries("seconds with their events") if section else ():
        at = key.parse_text("a second, as in 20s", parse_seconds)
        for item in value.items():
            action = item.parse_text("an event, as in `scale web 5`", actions.parse)
            if at is not None and action is not None:
                yield Event(at, " ".join((item.text("") or "").split()), action)


def _node_names(section: Node | None) -> Iterator[str]:
    for item in section.items() if section else ():
        name = item.parse_text("the name of a node", _node_name)
        if name is not None:
            yield name


def _node_name(text: str) -> str:
    if messages := dns_subdomain(text):
        raise ValueError(f"not the name of a node: {text}; {messages[0]}")
    return text


def _series(node: Node, expected: str, read: Callable[[Node, str], T | None]) -> Series[T]:
    """Return values from their seconds on, or one value that always holds."""
    if not node.is_mapping:
        value = read(node, f"{expected}, or seconds with one each")
        return Series(()) if value is None else Series.constant(value)
    steps: dict[float, T] = {}
    for key, item in node.entries(expected):
        at = key.parse_text("a second, as in 20s", parse_seconds)
        value = read(item, expected)
        if at in steps:
            key.wrong(f"given twice: {key.text('a second')}")
        elif at is not None and value is not None:
            steps[at] = value
    return Series(tuple(sorted(steps.items(), key=lambda step: step[0])))


def _behaviour(node: Node, expected: str) -> tuple[Clause, ...] | None:
    text = node.text(expected)
    try:
        return None if text is None else behaviour.parse(text)
    except BehaviourError as error:
        for problem in error.problems:
            node.wrong(problem.message, problem.offset)
        return None


def _measurements(node: Node) -> Series[Measurement]:
    """Return what a check measures, as seconds with a value each or as one line that tells it."""
    if node.is_mapping:
        return _series(node, "a measurement", _read_measurement)
    return node.parse_text(
        "a measurement, as in `0 until 40s then 0.2`", _parse_measurement_line
    ) or Series(())


def _parse_measurement_line(text: str) -> Series[Measurement]:
    """Read `0 until 40s then 0.2`; ValueError for what is no such line."""
    *before, last = text.split(" then ")
    steps: list[tuple[float, Measurement]] = []
    since = 0.0
    for part in before:
        value, _, second = part.partition(" until ")
        steps.append((since, _measurement(value.strip())))
        until = parse_seconds(second.strip())
        if until <= since:
            raise ValueError(f"{second.strip()} is not later than what comes before it")
        since = until
    return Series((*steps, (since, _measurement(last.strip()))))


def _read_measurement(node: Node, expected: str) -> Measurement | None:
    return node.parse_text(expected, _measurement)


def _measurement(text: str) -> Measurement:
    if text in set(NoAnswer):
        return NoAnswer(text)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"not a measurement: {text}; a number, {' or '.join(NoAnswer)}")
    return number
