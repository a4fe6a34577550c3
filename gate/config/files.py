"""Read a configuration file into entries with their places; YAML, with limits as for a manifest."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Final

import yaml

from gate.config.taking import Path
from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.manifests.bounds import Budget, Limits
from gate.manifests.documents import MapNode, Node, documents, plain
from gate.manifests.files import read_all
from gate.manifests.source import ManifestError, Source

_LIMITS: Final = Limits(
    file_bytes=2**20, total_bytes=2**20, documents=2, nodes=10_000, aliases=100, depth=8
)


Mark = tuple[int, int]
"""A line and a column, both from 1."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A value as it was given, and how a message names its place.

    Only a value from a file has a `file` (its name), a `key` (the option's) and a `node`, which
    knows where its parts are.
    """

    value: Any
    place: str
    file: str = ""
    key: str = ""
    node: yaml.Node | None = None

    @property
    def line(self) -> str:
        """Return the place without the key."""
        return self.place.removesuffix(f": {self.key}")

    def mark_of(self, path: Path) -> Mark:
        """Return where the deepest part of the value that exists along `path` is, or two zeros."""
        return (_mark_of(self.node, path) if self.node is not None else None) or (0, 0)

    def place_of(self, path: Path) -> str:
        """Return the place of a part of the value; the value's own place if that is unknown."""
        mark = self.mark_of(path)
        return f"{Source(self.file, *mark)}: {self.key}" if any(mark) else self.place


def read(path: str) -> dict[str, Entry]:
    """Return the entries of a file by key; UsageError unless it is one mapping of options.

    The null device has none: `--config /dev/null` skips the file of the working directory.
    """
    if pathlib.Path(path).resolve() == pathlib.Path(os.devnull):
        return {}
    try:
        (file, content), *more = read_all([path], stdin=None, budget=Budget(_LIMITS))
        if more:
            raise UsageError(f"{path}: is a folder", hint="name its files with --config")
        roots = list(documents(file, content, Budget(_LIMITS)))
    except ManifestError as error:
        # The error's hint is about manifests: leave it out.
        raise UsageError(error.message) from error
    if len(roots) > 1:
        raise UsageError(f"{roots[1].at}: a second document; a configuration is one")
    return _entries(roots[0], content) if roots else {}


def _entries(root: Node, content: bytes) -> dict[str, Entry]:
    if not isinstance(root, MapNode):
        raise UsageError(f"{root.at}: not a mapping of options", hint="as in timeout: 10m")
    nodes = _nodes_of_keys(content)
    file = root.at.file
    return {key: _entry(file, key, node, nodes.get(key)) for key, node in root.entries.items()}


def _entry(file: str, key: str, node: Node, found: tuple[Mark, yaml.Node] | None) -> Entry:
    (line, _), composed = found or ((node.at.line, 0), None)
    return Entry(plain(node), f"{Source(file, line)}: {key}", file, key, composed)


def _nodes_of_keys(content: bytes) -> dict[str, tuple[Mark, yaml.Node]]:
    """Return where each key is, which can be lines above its value, and the value's node."""
    root = yaml.compose(content, Loader=yaml.CSafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return {str(key.value): (_mark(key), value) for key, value in pairs}


def _mark_of(node: yaml.Node, path: Path) -> Mark | None:
    """Return where the longest prefix of `path` that exists is, or None."""
    mark = None
    for step in path:
        found = _step(node, step)
        if found is None:
            return mark
        mark, node = found
    return mark


def _step(node: yaml.Node, step: str | int) -> tuple[Mark, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return _mark(node.value[step]), node.value[step]
    if not isinstance(node, yaml.MappingNode):
        return None
    inherited: list[tuple[Mark, yaml.Node]] = []
    for key, value in node.value:
        if key.value == str(step):
            return _mark(key), value
        if key.value == "<<":
            merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
            inherited += [found for each in merged if (found := _step(each, step))]
    return inherited[0] if inherited else None


def _mark(node: yaml.Node) -> Mark:
    return int(node.start_mark.line) + 1, int(node.start_mark.column) + 1
