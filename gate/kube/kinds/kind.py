"""What the room has to know of a kind to watch it, read it and ask for the rights to it."""

from __future__ import annotations

from dataclasses import dataclass

from gate.core.rollout.observations import Kind
from gate.kube.resource import Resource


@dataclass(frozen=True, slots=True)
class WatchedKind:
    """A kind that watches look at, and where it lives."""

    kind: Kind
    resource: Resource


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on a resource, or on its subresource as `log`, that following a kind takes."""

    resource: Resource
    verbs: tuple[str, ...]
    subresource: str = ""

    @property
    def plural(self) -> str:
        """Return how RBAC names it, as in `pods/log`."""
        return "/".join(filter(None, (self.resource.plural, self.subresource)))


@dataclass(frozen=True, slots=True)
class WorkloadResources:
    """A kind whose rollouts are judged.

    `children` are the kinds of what belongs to it, which its `spec.selector` selects: what holds
    its revisions, and Pods. `rights` are those that following takes beyond watching and reading.
    `surroundings` are cluster-scoped kinds that its verdict looks at where they may be read.
    `short_name` is what kubectl takes for its kind, "" if there is nothing short.
    """

    watched: WatchedKind
    children: tuple[WatchedKind, ...]
    rights: tuple[Right, ...] = ()
    surroundings: tuple[WatchedKind, ...] = ()
    short_name: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """What a command line may say for its kind, the usual one first."""
        return tuple(filter(None, (self.watched.kind.lower(), self.short_name)))
