"""Limits on what a manifest may cost, and the budget that a load spends from."""

from __future__ import annotations

from typing import Final

from gate.core.frozen import dataclass
from gate.manifests.source import ManifestError, Source

_HINT: Final = "split it: apply part of the objects at a time"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one load; all but `file_bytes` and `depth` apply to all its files together.

    `nodes` counts values after aliases are expanded, `depth` nested lists and mappings.
    """

    file_bytes: int = 16 * 2**20
    total_bytes: int = 64 * 2**20
    documents: int = 2_000
    nodes: int = 200_000
    aliases: int = 10_000
    depth: int = 64


DEFAULT_LIMITS: Final = Limits()


class Budget:
    """What is left of the limits; each `spend` raises ManifestError once a limit is exceeded."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self._left = {
            "bytes": limits.total_bytes,
            "documents": limits.documents,
            "nodes": limits.nodes,
            "aliases": limits.aliases,
        }

    @property
    def next_file_bytes(self) -> int:
        """The most bytes that the next file may have."""
        return min(self.limits.file_bytes, self._left["bytes"])

    def spend_bytes(self, count: int, at: Source) -> None:
        """Pay for a file of `count` bytes."""
        if count > self.limits.file_bytes:
            _too_big(at, f"larger than {_mebibytes(self.limits.file_bytes)}")
        whole = _mebibytes(self.limits.total_bytes)
        self._spend("bytes", count, at, f"the manifests are larger than {whole} together")

    def spend_document(self, at: Source) -> None:
        """Pay for a document, even an empty one."""
        self._spend("documents", 1, at, f"more than {self.limits.documents} documents")

    def spend_nodes(self, count: int, at: Source) -> None:
        """Pay for `count` values."""
        self._spend("nodes", count, at, f"more than {self.limits.nodes} values, aliases expanded")

    def spend_alias(self, at: Source) -> None:
        """Pay for an alias; the values that it expands to cost extra."""
        self._spend("aliases", 1, at, f"more than {self.limits.aliases} aliases")

    def check_depth(self, depth: int, at: Source) -> None:
        """Refuse a value that is nested deeper than the limit."""
        if depth > self.limits.depth:
            raise ManifestError(at, f"nested deeper than {self.limits.depth} levels")

    def _spend(self, what: str, count: int, at: Source, problem: str) -> None:
        self._left[what] -= count
        if self._left[what] < 0:
            _too_big(at, problem)


def _too_big(at: Source, problem: str) -> None:
    raise ManifestError(at, problem, hint=_HINT)


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:g} MiB"
