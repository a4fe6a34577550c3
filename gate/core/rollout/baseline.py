"""What ran and served before our write: what a rollback returns to, and checks compare with."""

from __future__ import annotations

from dataclasses import dataclass

from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.objects import Revision, Template
from gate.core.rollout.causes import Cause
from gate.core.rollout.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Baseline:
    """The version that served: its revision's name and number (None if unknown), its template.

    `unverified` is why the last attempt on it left it unverified; None if it was verified, or if
    nothing is remembered of it.
    """

    replica_set: str
    revision: int | None
    template: Template
    label_value: str = ""
    unverified: Cause | None = None


def baseline_of(snapshot: Snapshot) -> Fact[Baseline]:
    """Return what serves in `snapshot`.

    It serves if all available pods are of the live template, and at least one is
    (`WorkloadKind.serves`).
    """
    live = snapshot.live
    if live is None:
        return snapshot.workload if isinstance(snapshot.workload, Unknown) else Absent()
    current = snapshot.current()
    if current is None or not snapshot.kind.serves(snapshot, live):
        return Absent()
    revision = current.revision or live.revision
    return Known(Baseline(current.name, revision, live.template, current.label_value))


def find_most_available(snapshot: Snapshot, without: str = "") -> Revision | None:
    """Return the revision of which most pods are available, None if none has an available pod.

    `without` is the uid of one that is left out. Of several the live one comes first.
    """
    current = snapshot.current()
    owned = sorted(snapshot.list_owned(), key=lambda one: one is not current)
    found = [(snapshot.count_pods(one).available, one) for one in owned if one.uid != without]
    most = max(found, key=lambda one: one[0], default=(0, None))
    return most[1] if most[0] else None
