"""Image references, by the rules of distribution/reference, with which a kubelet parses them.

What its `ParseNormalizedNamed` does not take ends as InvalidImageName, whatever registry there is.
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
"""The id of an image: it is no name, although its characters are those of one."""

_LONGEST_PATH: Final = 255
_LONGEST: Final = 1024
"""Longer ones are not looked at: a registry's host name has 253 characters at most."""


def is_reference(text: str) -> bool:
    """Tell whether a kubelet takes `text` for the reference of an image."""
    if len(text) > _LONGEST or _IDENTIFIER.fullmatch(text):
        return False
    match = _REFERENCE.fullmatch(text)
    return match is not None and len(_path(match["name"])) <= _LONGEST_PATH


def _path(name: str) -> str:
    """Return a name without its registry, as Docker Hub completes what names none."""
    first, slash, rest = name.partition("/")
    if not slash:
        return f"library/{name}"
    has_domain = not {".", ":"}.isdisjoint(first) or first == "localhost" or first != first.lower()
    return rest if has_domain else name


def is_pinned(reference: str) -> bool:
    """Tell whether an image has a digest, or a tag other than `latest`."""
    match = _REFERENCE.fullmatch(reference)
    return match is not None and bool(match["digest"] or (match["tag"] or "latest") != "latest")
