"""Where a field of an object is in its file."""

from __future__ import annotations

import re
from typing import Final

from gate.manifests.documents import ListNode, MapNode, Node, Scalar
from gate.manifests.manifest import ManifestObject
from gate.manifests.source import Source

_STEP: Final = re.compile(r"\.([^\s.\[\]]+)|\[([^\]]*)\]")
_KEY: Final = re.compile(r'(\w+)=(?:"([^"]*)"|([^,"]+))')


def place_of(item: ManifestObject, path: str) -> Source:
    """Return file and line of the field at `path`, as `.spec.containers[name="web"].image`.

    The path is followed as far as it leads. What a YAML merge key adds has the place of its value
    in the mapping that is merged.
    """
    node, at = item.root, item.source
    for name, selector in _STEP.findall(path):
        if isinstance(node, MapNode) and name in node.entries:
            at = node.places.get(name, node.entries[name].at)
            node = node.entries[name]
        elif isinstance(node, ListNode) and selector:
            found = _select_item(node, selector)
            if found is None:
                break
            node, at = found, found.at
        else:
            break
    return Source(at.file, at.line)


def _select_item(items: ListNode, selector: str) -> Node | None:
    """Return the item of a list by its index, or by the keys that identify items, or None."""
    if selector.isdigit():
        number = int(selector)
        return items.items[number] if number < len(items.items) else None
    keys = {key: text or plain for key, text, plain in _KEY.findall(selector)}
    for item in items.items:
        if isinstance(item, MapNode) and all(_is(item, *pair) for pair in keys.items()):
            return item
    return None


def _is(item: MapNode, key: str, text: str) -> bool:
    value = item.entries.get(key)
    return isinstance(value, Scalar) and str(value.value) == text
