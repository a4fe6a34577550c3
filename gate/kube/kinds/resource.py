"""The paths of one kind, as the API serves it."""

from __future__ import annotations

import re

from gate.core.frozen import dataclass
from gate.kube.answers.failures import Rejected

_SEGMENT = re.compile(r"(?!\.{1,2}$)[^/%?#\s]+")
"""A path segment name: no `.`, `..`, `/`, `%` (apimachinery, IsValidPathSegmentName)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the API serves it; `group` is "" for the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """Return `group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of a collection, an object or its subresource.

        Rejected if a name could change the path.
        """
        parts = ["/apis" if self.group else "/api", self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", check_segment(namespace)]
        parts.append(self.plural)
        parts += [check_segment(name)] if name else []
        parts += [subresource] if subresource else []
        return "/".join(parts)


def check_segment(name: str) -> str:
    """Return a segment of a path; Rejected if it could change the path."""
    if not _SEGMENT.fullmatch(name):
        raise Rejected(f"{name!r} is no name of an object")
    return name
