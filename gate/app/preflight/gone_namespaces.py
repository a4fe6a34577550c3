"""Which namespaces of known objects were deleted, with all that was in them."""

from __future__ import annotations

from collections.abc import Iterable

from gate.app.runtime.session import Session
from gate.core.model.fact import Absent, Known
from gate.core.model.objects import Ref
from gate.kube.cluster import Cluster
from gate.side_by_side import each


def find_gone_namespaces(session: Session, namespaces: Iterable[str]) -> frozenset[str]:
    """Return those that do not exist or are being deleted; one that may not be read is neither."""
    asked = sorted({*namespaces} - {""})
    facts = each(session.clock, Cluster(session.client).terminating, asked)
    going = (Absent(), Known(value=True))
    return frozenset(name for name, fact in zip(asked, facts, strict=True) if fact in going)


def describe_gone(namespaces: Iterable[str], refs: Iterable[Ref]) -> str:
    """Say what of these objects went with their deleted namespaces."""
    names = sorted(namespaces)
    gone = ", ".join(str(ref) for ref in sorted(set(refs)) if ref.namespace in names)
    return f"deleted with namespace {', '.join(names)}: {gone}"
