"""What the locks remember of workloads, as one run sees it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Protocol

from gate.app.locks.verified_bodies import VerifiedBodies
from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.versions.history import History
from gate.kube.paths.resources import SECRETS
from gate.kube.rights.access import Permission


class Memory(Protocol):
    """What is remembered of workloads."""

    def history(self, ref: Ref) -> History:
        """Return what is remembered of a workload, an empty history if nothing is."""

    def kept_bodies(self, ref: Ref, digests: Collection[str]) -> Mapping[str, Body]:
        """Read bodies from the Secret beside its lock, by digest."""


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """A memory as it was read; empty for a run without locks."""

    found: Mapping[Ref, History] = field(default_factory=dict)
    verified: VerifiedBodies | None = None

    def history(self, ref: Ref) -> History:
        """Return what is remembered of a workload."""
        return self.found.get(ref, History())

    def kept_bodies(self, ref: Ref, digests: Collection[str]) -> Mapping[str, Body]:
        """Read bodies from the Secret beside the lock of a workload, by digest."""
        lock = lock_of(ref)
        return self.verified.read(lock, digests) if self.verified is not None else {}


@dataclass(frozen=True, slots=True)
class MemoryWithout:
    """Another memory without the objects of some namespaces, which were deleted."""

    memory: Memory
    namespaces: frozenset[str]

    def history(self, ref: Ref) -> History:
        """Return what is remembered of a workload."""
        return self.memory.history(ref).without_namespaces(self.namespaces)

    def kept_bodies(self, ref: Ref, digests: Collection[str]) -> Mapping[str, Body]:
        """Read bodies from the Secret beside the lock of a workload, by digest."""
        return self.memory.kept_bodies(ref, digests)


def secret_permissions(namespaces: Iterable[str]) -> list[Permission]:
    """Return the permissions for keeping previous Secrets."""
    verbs = ("get", "create", "delete")
    return [
        Permission(namespace, SECRETS.group, SECRETS.plural, verb)
        for namespace in sorted(set(namespaces))
        for verb in verbs
    ]
