"""A YAML text as nodes that know their line and column; everything wrong with it is collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

import yaml

from sandbox.failure import SandboxError

T = TypeVar("T")

MOST_CHARACTERS: Final = 256 * 1024
MOST_DEPTH: Final = 10
_STAR: Final = "put quotes around what begins with *"
_QUOTES: Final = ("'", '"')


class _Mark(Protocol):
    """A place as PyYAML tells it, counted from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class ScenarioError(SandboxError):
    """A scenario file asks for what does not exist; `problems` has a line for each.

    Each line begins with `FILE:LINE:COLUMN`.
    """


@dataclass(slots=True)
class Report:
    """What is wrong with one file, so far."""

    file: str
    _problems: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, mark: _Mark | None, message: str, offset: int = 0) -> None:
        """Say what is wrong at a place."""
        line, column = (mark.line + 1, mark.column + 1 + offset) if mark else (1, 1)
        self._problems.append((line, column, _printable(message)))

    def close(self) -> None:
        """Raise a ScenarioError where anything is wrong."""
        if self._problems:
            problems = sorted(set(self._problems))
            places = (f"{self.file}:{line}:{column}: {what}" for line, column, what in problems)
            raise ScenarioError(*places)


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of the document; its readers return None, or nothing, for what they report."""

    node: yaml.Node
    report: Report

    @property
    def is_mapping(self) -> bool:
        """Whether it has keys."""
        return isinstance(self.node, yaml.MappingNode)

    def entries(self, expected: str) -> Iterator[tuple[Node, Node]]:
        """Yield keys, which are text and unique, with their values."""
        if not isinstance(self.node, yaml.MappingNode):
            self.wrong(f"expected {expected}")
            return
        seen: set[str] = set()
        for key, value in self.node.value:
            found = Node(key, self.report)
            name = found.text("a name")
            if name in seen:
                found.wrong(f"given twice: {name}")
            elif name is not None:
                seen.add(name)
                yield found, Node(value, self.report)

    def items(self) -> Iterator[Node]:
        """Yield the items of a list; anything else is a list of one."""
        nodes = self.node.value if isinstance(self.node, yaml.SequenceNode) else [self.node]
        for node in nodes:
            yield Node(node, self.report)

    def text(self, expected: str) -> str | None:
        """Return the text of a scalar as it is written."""
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            self.wrong(f"expected {expected}")
            return None
        return str(self.node.value)

    def parse_text(self, expected: str, parse: Callable[[str], T]) -> T | None:
        """Return what `parse` makes of the text; its ValueError is reported."""
        text = self.text(expected)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            self.wrong(str(error))
        return None

    def wrong(self, message: str, offset: int = 0) -> None:
        """Report what is wrong here, `offset` characters into the text."""
        start, end = self.node.start_mark, self.node.end_mark
        is_quoted = getattr(self.node, "style", None) in _QUOTES
        shift = offset + is_quoted if offset and start.line == end.line else 0
        self.report.add(start, message, shift)


def root(text: str, report: Report) -> Node | None:
    """Return the root of a document, None where the report says why there is none."""
    if len(text) > MOST_CHARACTERS:
        report.add(None, f"is longer than {MOST_CHARACTERS} characters")
        return None
    try:
        if (refused := _monstrous(text)) is not None:
            report.add(*refused)
            return None
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        hint = f"; {_STAR}" if error.context == "while scanning an alias" else ""
        mark = error.problem_mark or error.context_mark
        report.add(mark, f"not YAML: {error.problem}{hint}")
        return None
    except (yaml.YAMLError, RecursionError) as error:
        report.add(None, f"not YAML: {' '.join(str(error).split())}")
        return None
    if node is None:
        report.add(None, "is empty")
        return None
    return Node(node, report)


def _printable(message: str) -> str:
    """Return a message without what a terminal would obey."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in message)


def _monstrous(text: str) -> tuple[_Mark | None, str] | None:
    """Return what would let a small file say very much, or take very long; parsed lazily."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            return event.start_mark, f"an alias; {_STAR}"
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            return event.start_mark, f"nested deeper than {MOST_DEPTH} levels"
    return None
