"""What a load returns: objects with their place and identity, in order of application."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.manifests.documents import Node
from gate.manifests.kinds.kind import Kind, Rank
from gate.manifests.kinds.registry import find
from gate.manifests.source import ManifestError, Source


@dataclass(frozen=True, slots=True)
class ManifestObject:
    """One object as the manifest gives it; its identity was checked, its spec was not.

    `body` is plain JSON and shared: to change it, take a `body_copy()`. It is left out of the repr,
    since it may hold secrets. `namespace` is None if the manifest names none. `root` is the node
    that it was read from, None if it was not read from text. `name_prefix` is what its name begins
    with if that is made for each attempt (`metadata.generateName`); until then it is the name.
    """

    api_version: str
    kind: str
    namespace: str | None
    name: str
    body: Mapping[str, Any] = field(repr=False, hash=False)
    source: Source
    root: Node | None = field(default=None, repr=False, compare=False)
    name_prefix: str = ""

    @property
    def group(self) -> str:
        """The API group, "" for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def ref(self) -> Ref:
        """The identity that the core knows it by."""
        return Ref(self.api_version, self.kind, self.namespace or "", self.name)

    @property
    def lasting_ref(self) -> Ref:
        """The identity that is the same in each attempt."""
        return Ref(self.api_version, self.kind, self.namespace or "", self.name_prefix or self.name)

    @property
    def known_kind(self) -> Kind | None:
        """The row of its kind, None for a custom one."""
        return find(self.group, self.kind)

    @property
    def rank(self) -> Rank:
        """Its place in the order of application."""
        return self.known_kind.rank if self.known_kind else Rank.CUSTOM

    @property
    def judged(self) -> bool:
        """Whether its rollout is followed to a verdict."""
        return self.known_kind is not None and self.known_kind.is_judged

    def body_copy(self) -> dict[str, Any]:
        """Return a body that the caller may change."""
        return copy.deepcopy(dict(self.body))

    def __str__(self) -> str:
        """Return what people call it, as in `deployment/web`."""
        return str(self.ref)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An object of the manifest that is not applied, and why, for people."""

    object: ManifestObject
    why: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`objects` are in the order of application, at least one, no two with the same identity.

    `unread` are subfolders of the given folders that hold manifests but were not read.
    """

    objects: tuple[ManifestObject, ...]
    skipped: tuple[Skipped, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def workloads(self) -> tuple[ManifestObject, ...]:
        """The objects that are judged."""
        return tuple(item for item in self.objects if item.judged)


def in_order(objects: Iterable[ManifestObject]) -> tuple[ManifestObject, ...]:
    """Sort by rank; objects of the same rank keep the manifest's order."""
    return tuple(sorted(objects, key=lambda item: item.rank))


def refuse_duplicates(objects: Iterable[ManifestObject]) -> None:
    """Raise ManifestError if two objects share group, kind, namespace and name."""
    seen: dict[tuple[str, str, str, str], ManifestObject] = {}
    for item in objects:
        key = (item.group, item.kind, item.namespace or "", item.name)
        if key in seen:
            problem = f"{item} is defined twice in the manifest, first at {seen[key].source}"
            raise ManifestError(item.source, problem)
        seen[key] = item
