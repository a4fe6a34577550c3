"""What our field manager applied of an object: as the body of an apply, and as a digest.

`metadata.managedFields` says which fields an Apply of our manager owns, so the part that is ours
can be distinguished from defaults and from what others set, without a copy of any manifest.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from gate.core.model.body import NOTHING, Body
from gate.core.model.confidential_bodies import body_digest
from gate.core.model.fact import Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref
from gate.core.ssa.field_set import extract
from gate.core.ssa.last_applied import without_last_applied
from gate.core.ssa.managed_fields import owned_fields

MOST_KEPT: Final = 2048
"""How many bodies are cached: the history of each workload names every object of its set."""


def applied_body(live: LiveObject) -> Body | None:
    """Return the body whose apply sets what our manager owns of an object, None for nothing.

    `spec.replicas` is left out: the number of pods is not part of a version. So is kubectl's
    last-applied annotation, which repeats the whole manifest.
    """
    return extract_applied(live.ref, live.body, live.managed, FIELD_MANAGER)


@functools.lru_cache(maxsize=MOST_KEPT)
def extract_applied(ref: Ref, body: Body, managed: Body, manager: str) -> Body | None:
    """Return `applied_body` of an object given as its parts, cached."""
    owned = owned_fields(managed.thaw()["managedFields"], manager)
    if not owned:
        return None
    applied = without_last_applied(extract(body.thaw(), owned))
    return Body.of(named_body(ref, _without_replicas(applied)))


def applied_digest(live: LiveObject | None) -> str:
    """Return what identifies the fields that our manager owns of an object, `NOTHING` for none."""
    if live is None:
        return NOTHING
    body = applied_body(live)
    return NOTHING if body is None else body_digest(live.ref.kind, live.uid, body)


def digests_of(facts: LiveFacts) -> dict[Ref, str]:
    """Return `applied_digest` of each object, without those that could not be read."""
    read = ((ref, fact) for ref, fact in facts.items() if not isinstance(fact, Unknown))
    return {
        ref: applied_digest(fact.value if isinstance(fact, Known) else None) for ref, fact in read
    }


def named_body(ref: Ref, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value` as the body of an apply to `ref`."""
    names = {"name": ref.name, **({"namespace": ref.namespace} if ref.namespace else {})}
    return {
        **value,
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {**value.get("metadata", {}), **names},
    }


def _without_replicas(value: dict[str, Any]) -> dict[str, Any]:
    spec = value.get("spec")
    if not isinstance(spec, Mapping) or "replicas" not in spec:
        return value
    return {**value, "spec": {key: entry for key, entry in spec.items() if key != "replicas"}}
