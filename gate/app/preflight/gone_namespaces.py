"""Which namespaces of known objects were deleted, with all that was in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gate.app.runtime.session import Session
from gate.core.model.fact import Absent, Known
from gate.core.model.objects import Ref
from gate.kube.reads.cluster import Cluster
from gate.side_by_side import each

NOTHING_KNOWN: Final[Mapping[str, str]] = {}


def find_gone_namespaces(
    session: Session, namespaces: Iterable[str], lived_at: Mapping[str, str] = NOTHING_KNOWN
) -> frozenset[str]:
    """Return those that do not exist or are being deleted; one that may not be read is neither.

    One that was made again since had been deleted: it is younger than something that was in it
    (`lived_at`, RFC 3339).
    """
    asked = sorted({*namespaces} - {""})
    facts = each(session.clock, Cluster(session.client).terminating, asked)
    going = (Absent(), Known(value=True))
    gone = {name for name, fact in zip(asked, facts, strict=True) if fact in going}
    here = [name for name in asked if name not in gone and name in lived_at]
    made = each(session.clock, Cluster(session.client).created_at, here)
    made_again = (
        name
        for name, fact in zip(here, made, strict=True)
        if isinstance(fact, Known) and fact.value > lived_at[name]
    )
    return frozenset({*gone, *made_again})


def describe_gone(namespaces: Iterable[str], refs: Iterable[Ref]) -> str:
    """Say what of these objects went with their deleted namespaces."""
    names = sorted(namespaces)
    gone = ", ".join(str(ref) for ref in sorted(set(refs)) if ref.namespace in names)
    return f"deleted with namespace {', '.join(names)}: {gone}"
