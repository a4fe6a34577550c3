"""What the room has to know of a kind to watch it, read it and ask for the rights to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gate.core.frozen import dataclass
from gate.core.rollout.observations import Kind
from gate.kube.kinds.resource import Resource


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


def spec_selector(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `spec.selector` of an object or a manifest, empty if that is none."""
    selector = (body.get("spec") or {}).get("selector")
    return selector if isinstance(selector, Mapping) else {}


@dataclass(frozen=True, slots=True)
class WorkloadResources:
    """A kind whose rollouts are judged.

    `children` are the kinds of what belongs to it: what holds its revisions, and Pods. `selector`
    returns which labels these have, for a live object or one that is to be created. `rights` are
    those that following takes beyond watching and reading. `can_be_blocked` is whether a pod may
    be in its way, which is removed then. `surroundings` are cluster-scoped kinds
    that its verdict looks at where they may be read.
    `short_name` is what kubectl takes for its kind, "" if there is nothing short.
    """

    watched: WatchedKind
    children: tuple[WatchedKind, ...]
    rights: tuple[Right, ...] = ()
    can_be_blocked: bool = False
    surroundings: tuple[WatchedKind, ...] = ()
    selector: Callable[[Mapping[str, Any]], Mapping[str, Any]] = spec_selector
    short_name: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """What a command line says for its kind, the usual one first."""
        return tuple(filter(None, (self.watched.kind.lower(), self.short_name)))

    @property
    def all_words(self) -> tuple[str, ...]:
        """What a command line may say for its kind, in lower case and without its group."""
        return (*self.words, self.watched.resource.plural)

    def is_called(self, word: str) -> bool:
        """Tell whether kubectl takes or prints `word` for its kind, as `Deployments.apps`."""
        called, dot, place = word.lower().partition(".")
        resource = self.watched.resource
        places = (resource.group, f"{resource.version}.{resource.group}")
        return called in self.all_words and (place in places if dot else True)
