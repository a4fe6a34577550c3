"""One request as it came in, and by what a rule knows it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

READS = frozenset({"GET", "HEAD"})
_NAMESPACED = re.compile(r"/namespaces/([^/]+)(?:/|$)")
_REVIEWS = "authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; `target` is path and query as they were sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path, without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters of the query, decoded."""
        return parse_qs(urlsplit(self.target).query)

    @property
    def namespace(self) -> str:
        """The namespace that it is about, "" where it is about none."""
        found = _NAMESPACED.search(self.path)
        return found.group(1) if found else ""

    @property
    def is_watch(self) -> bool:
        """Whether its answer has no end of its own."""
        return self.query.get("watch", [""])[0] in ("1", "true")

    @property
    def is_write(self) -> bool:
        """Whether it is meant to change something: no dry run, and no question about rights."""
        is_question = "dryRun" in self.query or _REVIEWS in self.path
        return self.method not in READS and not is_question


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests are meant; what is left out is not looked at.

    `path` is a regular expression that is searched for in the path.
    """

    method: str = ""
    path: str = ""
    watch: bool | None = None
    write: bool | None = None

    def fits(self, asked: Asked) -> bool:
        """Whether a request is one of them."""
        return (
            self.method in ("", asked.method)
            and re.search(self.path, asked.path) is not None
            and self.watch in (None, asked.is_watch)
            and self.write in (None, asked.is_write)
        )


ANYTHING = Match()
WATCHES = Match(watch=True)
READING = Match(method="GET", watch=False)
WRITES = Match(path="^(?!.*/leases)", write=True)
"""Writes of objects, the gate's own Lease aside."""
APPLIES = Match(method="PATCH", path="/deployments/", write=True)
"""Writes of a Deployment: the apply, and the way back."""
