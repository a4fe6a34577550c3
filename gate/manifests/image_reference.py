"""Image references by the rules of distribution/reference, with which a kubelet parses them.

What its `ParseNormalizedNamed` rejects ends as InvalidImageName, whatever the registry.
"""

from __future__ import annotations

import re
from typing import Final

_COMPONENT: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_DOMAIN: Final = rf"(?:{_COMPONENT}(?:\.{_COMPONENT})*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?"
_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DIGEST: Final = r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}"
_REFERENCE: Final = re.compile(
    rf"(?P<name>(?:{_DOMAIN}/)?{_PART}(?:/{_PART})*)"
    rf"(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>{_DIGEST}))?",
    re.ASCII,
)
_IDENTIFIER: Final = re.compile(r"[0-9a-f]{64}")
"""An image's id: not a name, although its characters would make one."""

_LONGEST_PATH: Final = 255
_LONGEST: Final = 1024
"""Longer references are rejected unparsed: a registry's host name has at most 253 characters."""


def is_reference(text: str) -> bool:
    """Tell whether a kubelet accepts `text` as an image reference."""
    if len(text) > _LONGEST or _IDENTIFIER.fullmatch(text):
        return False
    match = _REFERENCE.fullmatch(text)
    return match is not None and len(_path(match["name"])) <= _LONGEST_PATH


def _path(name: str) -> str:
    """Return a name without its registry; a bare one is completed with Docker Hub's `library/`."""
    first, slash, rest = name.partition("/")
    if not slash:
        return f"library/{name}"
    has_domain = not {".", ":"}.isdisjoint(first) or first == "localhost" or first != first.lower()
    return rest if has_domain else name


def is_pinned(reference: str) -> bool:
    """Tell whether an image has a digest, or a tag other than `latest`."""
    match = _REFERENCE.fullmatch(reference)
    return match is not None and bool(match["digest"] or (match["tag"] or "latest") != "latest")
