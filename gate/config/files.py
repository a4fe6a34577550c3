"""One configuration file to its entries, each with its line; YAML, as bounded as a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

from gate.errors import UsageError
from gate.manifests.bounds import Budget, Limits
from gate.manifests.documents import MapNode, Node, documents, plain
from gate.manifests.files import read_all
from gate.manifests.source import ManifestError, Source

_LIMITS: Final = Limits(
    file_bytes=2**20, total_bytes=2**20, documents=2, nodes=10_000, aliases=100, depth=8
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A value as it was given, and how a message names the place."""

    value: Any
    place: str


def read(path: str) -> dict[str, Entry]:
    """Return the entries of a file by key; UsageError for what is no one mapping of options."""
    try:
        (file, content), *more = read_all([path], stdin=None, budget=Budget(_LIMITS))
        if more:
            raise UsageError(f"{path}: is a folder", hint="name its files with --config")
        roots = list(documents(file, content, Budget(_LIMITS)))
    except ManifestError as error:
        # Its hint is about manifests.
        raise UsageError(error.message) from error
    if len(roots) > 1:
        raise UsageError(f"{roots[1].at}: a second document; a configuration is one")
    return _entries(roots[0], content) if roots else {}


def _entries(root: Node, content: bytes) -> dict[str, Entry]:
    if not isinstance(root, MapNode):
        raise UsageError(f"{root.at}: not a mapping of options", hint="as in timeout: 10m")
    lines = _lines_of_keys(content)
    return {
        key: Entry(plain(node), str(Source(root.at.file, lines.get(key, node.at.line))))
        for key, node in root.entries.items()
    }


def _lines_of_keys(content: bytes) -> dict[str, int]:
    """Return where each key of the root stands, which can be lines before its value."""
    root = yaml.compose(content, Loader=yaml.CSafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return {str(key.value): key.start_mark.line + 1 for key, _ in pairs}
