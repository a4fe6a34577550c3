"""How a run names its objects in sentences: with the namespace if it is about several."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gate.core.model.objects import Ref

Naming = Callable[[Ref], str]
"""Returns what a run calls an object."""


def naming(refs: Iterable[Ref]) -> Naming:
    """Return how a run about these objects names each: `deployment/web`, or with ` in shop`."""
    return with_namespace if len({ref.namespace for ref in refs} - {""}) > 1 else str


def with_namespace(ref: Ref) -> str:
    """Return `deployment/web in shop`; without a namespace the name alone."""
    return f"{ref} in {ref.namespace}" if ref.namespace else str(ref)
