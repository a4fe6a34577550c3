"""What our field manager applied of an object: as the body of an apply, and as a digest.

`metadata.managedFields` says which fields an Apply of our manager owns, so the part that is ours
can be told from defaults and from what others set, without a copy of any manifest.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

from gate.core.body import Body
from gate.core.effects import FIELD_MANAGER
from gate.core.events import LiveObject
from gate.core.fields import extract
from gate.core.last_applied import without_last_applied
from gate.core.objects import Ref
from gate.core.ownership import owned_fields

NOTHING: Final = ""
"""The digest of an object of which our manager applied nothing, or which is not there."""
_DIGITS: Final = 32
"""Of a SHA-256 in hexadecimal: 128 bits tell versions of one object apart."""


def applied_body(live: LiveObject, manager: str = FIELD_MANAGER) -> Body | None:
    """Return the body whose apply sets what `manager` owns of an object, None for nothing.

    `spec.replicas` is left out: how many pods there are is no part of a version. So is kubectl's
    annotation of what it applied last, which holds the whole manifest once more.
    """
    owned = owned_fields(live.managed.thaw()["managedFields"], manager)
    if not owned:
        return None
    applied = without_last_applied(extract(live.body.thaw(), owned))
    return Body.of(named_body(live.ref, _without_replicas(applied)))


def applied_digest(live: LiveObject | None) -> str:
    """Return what identifies the fields that our manager owns of an object, `NOTHING` for none.

    That of a Secret is keyed with the object's uid, which only those learn who may read the
    Secret: whoever can read the digest alone cannot try out values.
    """
    if live is None:
        return NOTHING
    body = applied_body(live)
    if body is None:
        return NOTHING
    if live.ref.kind == "Secret":
        return hmac.new(live.uid.encode(), body.canonical, hashlib.sha256).hexdigest()[:_DIGITS]
    return body.digest[:_DIGITS]


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
