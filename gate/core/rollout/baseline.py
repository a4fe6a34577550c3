"""What ran and served before our write: what a rollback returns to, and checks compare with."""

from __future__ import annotations

from collections.abc import Callable

from gate.core.frozen import dataclass
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.objects import Revision, Template, Workload
from gate.core.rollout.causes import Cause
from gate.core.rollout.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Baseline:
    """The version to return to: its revision's name and number (None if unknown), its template.

    `unverified` is why the last attempt on it left it unverified; None if it was verified, or if
    nothing is remembered of it. `served` is false if it had no available pod when it was chosen,
    and was not what was live: it is the last one that a gate verified. `falls_short`: fewer of its
    pods were available than its strategy keeps up.
    """

    revision_name: str
    revision: int | None
    template: Template
    label_value: str = ""
    unverified: Cause | None = None
    served: bool = True
    falls_short: bool = False

    @property
    def revision_words(self) -> str:
        """`revision 2`; `a new revision` where its controller has made none yet, or it is gone."""
        return "a new revision" if self.revision is None else f"revision {self.revision}"

    def __str__(self) -> str:
        """Return `revision 2 (shop/web:1)`."""
        return f"{self.revision_words} ({', '.join(self.template.images())})"


def baseline_of(snapshot: Snapshot) -> Fact[Baseline]:
    """Return what serves in `snapshot`.

    It serves if all available pods are of the live template, and at least one is
    (`WorkloadKind.find_serving`).
    """
    live = snapshot.live
    if live is None:
        return snapshot.workload if isinstance(snapshot.workload, Unknown) else Absent()
    found: Fact[Revision] = snapshot.kind.find_serving(snapshot, live)
    if not isinstance(found, Known):
        return found
    current = found.value
    revision = current.revision or live.revision
    short = snapshot.kind.falls_short(live)
    name, label = current.name, current.label_value
    return Known(Baseline(name, revision, live.template, label, falls_short=short))


def return_to(snapshot: Snapshot, revision: Revision) -> Baseline:
    """Return a revision of `snapshot` as the version to return to."""
    current = snapshot.current()
    is_live = current is not None and current.uid == revision.uid
    served = is_live or bool(snapshot.count_pods(revision).available)
    name, number, label = revision.name, revision.revision, revision.label_value
    return Baseline(name, number, revision.template, label, served=served)


def find_most_available(snapshot: Snapshot) -> Revision | None:
    """Return the revision of which most pods are available, None if none has an available pod.

    Of several the live one comes first.
    """
    return _find_most(snapshot, "", lambda one: snapshot.count_pods(one).available)


def find_serving_beside(snapshot: Snapshot) -> Revision | None:
    """Return the revision that serves beside what is live, None if none does.

    All of its pods are available, and no other revision has an available pod.
    """
    counts = [(one, snapshot.count_pods(one)) for one in snapshot.list_owned()]
    serving = [(one, count) for one, count in counts if count.available]
    if len(serving) != 1 or serving[0][1].available < serving[0][1].created:
        return None
    current, (found, _) = snapshot.current(), serving[0]
    return None if current is None or found.uid == current.uid else found


def find_beside(snapshot: Snapshot, new: str, live: Workload | None) -> Revision | None:
    """Return the revision that served in `snapshot`, and serves beside the one with the uid `new`.

    That is the one of which the strategy of the workload, as it is now, holds most ready pods. If
    it holds none it is the one of which most were available, None if none was.
    """

    def count_held(revision: Revision) -> int:
        pods = (track.pod for track in snapshot.pods_of(revision))
        return sum(pod.ready and live is not None and live.holds_pod(pod) for pod in pods)

    held = _find_most(snapshot, new, count_held)
    return held or _find_most(snapshot, new, lambda one: snapshot.count_pods(one).available)


def _find_most(
    snapshot: Snapshot, without: str, count: Callable[[Revision], int]
) -> Revision | None:
    current = snapshot.current()
    owned = sorted(snapshot.list_owned(), key=lambda one: one is not current)
    found = [(count(one), one) for one in owned if one.uid != without]
    most = max(found, key=lambda one: one[0], default=(0, None))
    return most[1] if most[0] else None
