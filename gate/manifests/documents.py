"""Parse YAML and JSON text into nodes that know their place, within the budget.

libyaml's events are composed here, one by one, so that the limits apply before memory is used and
an alias bomb costs no more than its text. Aliases share nodes; `plain` turns nodes into values that
share nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

import yaml

from gate.core.frozen import dataclass
from gate.manifests.bounds import Budget
from gate.manifests.scalars import Value, json_value, key_text, resolve
from gate.manifests.source import ManifestError, Source, escape_line
from gate.manifests.text import TEMPLATE_HINT, decode_text, not_yaml

_YAML: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    f"{_YAML}int": (int,),
    f"{_YAML}float": (int, float),
    f"{_YAML}bool": (bool,),
    f"{_YAML}null": (type(None),),
}
_TAG_HINT: Final = "manifests hold plain data only; a text that begins with ! needs quotes"
_ALIAS_HINT: Final = "a text that begins with * needs quotes"
_TEXT_TAGS: Final = ("!", f"{_YAML}str")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A leaf."""

    at: Source
    value: Value
    size: int = 1
    height: int = 1


@dataclass(frozen=True, slots=True)
class ListNode:
    """A sequence; `size` and `height` count it and its contents, with aliases expanded."""

    at: Source
    items: tuple[Node, ...]
    size: int
    height: int


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping with unique keys, as text, and with merge keys resolved.

    `places` are those of the keys written in the mapping itself, not of merged ones.
    """

    at: Source
    entries: Mapping[str, Node]
    size: int
    height: int
    places: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)


Node = Scalar | ListNode | MapNode


def documents(file: str, content: bytes, budget: Budget) -> Iterator[Node]:
    """Yield the root of each document that is not empty; errors are ManifestErrors with a place."""
    text = decode_text(file, content)
    try:
        for root in _Composer(file, text, budget).roots():
            if root != Scalar(root.at, None):
                yield root
    except yaml.YAMLError as error:
        raise not_yaml(file, text, error, budget.limits.depth) from error


def plain(node: Node) -> Any:
    """Return what `node` stands for as fresh dicts, lists and JSON scalars."""
    if isinstance(node, MapNode):
        return {key: plain(value) for key, value in node.entries.items()}
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    try:
        return json_value(node.value)
    except ValueError as error:
        raise ManifestError(node.at, str(error)) from error


class _Composer:
    """Composes nodes from events; recursion is no deeper than the budget's depth."""

    def __init__(self, file: str, text: str, budget: Budget) -> None:
        self._file = file
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._budget = budget
        self._anchors: dict[str, Node] = {}

    def roots(self) -> Iterator[Node]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._budget.spend_document(self._at(event))
                self._anchors = {}
                yield self._node(next(self._events), 1)

    def _at(self, event: Any) -> Source:
        mark = event.start_mark
        return Source(self._file, mark.line + 1, mark.column + 1)

    def _node(self, event: Any, depth: int) -> Node:
        at = self._at(event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, at, depth)
        self._budget.spend_nodes(1, at)
        self._budget.check_depth(depth, at)
        self._anchors.pop(event.anchor, None)
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Scalar(at, _value(event, at))
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._list(event, at, depth)
        else:
            node = self._map(event, at, depth)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any, at: Source, depth: int) -> Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            # The name may be a secret: `password: *s3cret` without quotes is read as an alias.
            raise ManifestError(at, "alias without an anchor before it", hint=_ALIAS_HINT)
        self._budget.spend_alias(at)
        self._budget.spend_nodes(node.size, at)
        self._budget.check_depth(depth + node.height - 1, at)
        return node

    def _list(self, start: Any, at: Source, depth: int) -> ListNode:
        _check_collection(start, at, "seq")
        items: list[Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return ListNode(at, tuple(items), *_measure_nodes(items))

    def _map(self, start: Any, at: Source, depth: int) -> MapNode:
        _check_collection(start, at, "map")
        entries: dict[str, Node] = {}
        places: dict[str, Source] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            place = self._at(event)
            inherits = _is_merge(event)
            key = self._key(event, place, depth + 1)
            if key in places:
                first = places[key].line
                raise ManifestError(
                    place, f'duplicate key "{escape_line(key)}", first in line {first}'
                )
            places[key] = place
            value = self._node(next(self._events), depth + 1)
            if inherits:
                entries |= _resolve_merge_key(value, places)
            else:
                entries[key] = value
        size, height = _measure_nodes(entries.values())
        return MapNode(at, entries, size + len(entries), height, places)

    def _key(self, event: Any, at: Source, depth: int) -> str:
        node = self._node(event, depth)
        if not isinstance(node, Scalar):
            # `{{ .Values.x }}` is a mapping as the key of a mapping.
            hint = TEMPLATE_HINT if isinstance(node, MapNode) else ""
            raise ManifestError(at, "a list or a mapping cannot be a key", hint=hint)
        try:
            return key_text(node.value)
        except ValueError as error:
            raise ManifestError(at, str(error)) from error


def _measure_nodes(nodes: Iterable[Node]) -> tuple[int, int]:
    """Return the size and height of a node that holds `nodes`."""
    sizes = [(node.size, node.height) for node in nodes]
    return 1 + sum(size for size, _ in sizes), 1 + max((height for _, height in sizes), default=0)


def _value(event: Any, at: Source) -> Value:
    tag, text = event.tag, str(event.value)
    if tag is None:
        return resolve(text) if event.implicit[0] else text
    if tag in _TEXT_TAGS:
        return text
    if tag not in _TYPES:
        raise _unknown_tag(at)
    value = resolve(text)
    if type(value) not in _TYPES[tag]:
        raise ManifestError(at, f"the value is no {tag.removeprefix(_YAML)}")
    return value


def _check_collection(start: Any, at: Source, kind: str) -> None:
    if start.tag not in (None, "!", f"{_YAML}{kind}"):
        raise _unknown_tag(at)


def _unknown_tag(at: Source) -> ManifestError:
    """Name the place but not the tag: an unquoted secret that begins with ! is read as a tag."""
    return ManifestError(at, "unknown tag", hint=_TAG_HINT)


def _is_merge(event: Any) -> bool:
    return (
        isinstance(event, yaml.ScalarEvent)
        and event.value == "<<"
        and event.tag is None
        and event.implicit[0]
    )


def _resolve_merge_key(value: Node, places: Mapping[str, Source]) -> dict[str, Node]:
    """Return the entries that a merge key adds; of several mappings the earlier one wins.

    A key both before `<<` and in it is refused: it would keep its value by YAML's rule and lose it
    with kubectl. A key after `<<` wins with both.
    """
    sources = value.items if isinstance(value, ListNode) else (value,)
    entries: dict[str, Node] = {}
    for source in reversed(sources):
        if not isinstance(source, MapNode):
            raise ManifestError(source.at, "<< takes a mapping or a list of mappings")
        entries |= source.entries
    for key in entries.keys() & places.keys():
        problem = f'duplicate key "{escape_line(key)}": << in line {places["<<"].line} holds it too'
        raise ManifestError(places[key], problem, hint="put << first; what follows it wins")
    return entries
