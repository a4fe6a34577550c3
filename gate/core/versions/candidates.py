"""What a failure may return to, before the choice: what is live, and what is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.environment_values import with_values
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref, Template
from gate.core.plan.plan import PlannedObject, Target
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.versions.history import History
from gate.core.versions.shared_members import Neighbours


@dataclass(frozen=True, slots=True)
class Candidates:
    """What there is to choose from: the attempt's objects, and what is remembered of each target.

    `objects` have their live state and what the server would make of them. `kept` are the bodies,
    by digest, that were read from the Secrets beside the locks. `beside` are the objects that
    earlier attempts wrote and this one does not, as they were read. `neighbours` are the other
    workloads with a lock in the same namespaces.
    """

    targets: tuple[Target, ...]
    objects: tuple[PlannedObject, ...]
    histories: Mapping[Ref, History]
    kept: Mapping[str, Body] = field(default_factory=dict)
    beside: LiveFacts = field(default_factory=dict)
    neighbours: Neighbours = field(default_factory=Neighbours)

    def history(self, ref: Ref) -> History:
        """Return what is remembered of a target, or of a neighbour."""
        return self.histories.get(ref) or self.neighbours.histories.get(ref, History())

    def before(self) -> dict[Ref, str]:
        """Return, by object, the digest of what our manager has applied so far."""
        return {one.ref: applied_digest(live_before(one)) for one in self.objects}

    def live_digests(self) -> dict[Ref, str]:
        """Return the digests of `before`, and those of the objects beside the attempt."""
        return {**digests_of(self.beside), **self.before()}

    def collect_proposed_digests(self) -> dict[Ref, str]:
        """Return, by object, the digest of what our manager would apply; none without a dry run."""
        return {one.ref: applied_digest(one.trial) for one in self.objects if one.trial is not None}

    def object(self, ref: Ref) -> PlannedObject:
        """Return an object of the attempt; raise KeyError if it is not one."""
        for one in self.objects:
            if one.ref == ref:
                return one
        raise KeyError(ref)

    def body(self, history: History, digest: str, source: Template | None = None) -> Body | None:
        """Return the remembered body of a digest, None without one.

        It comes from the history, with its environment values from `source`, else from a Secret.
        """
        remembered = history.bodies.get(digest)
        body = with_values(remembered, source) if remembered is not None else None
        return body if body is not None else self.kept.get(digest)


def live_before(planned: PlannedObject) -> LiveObject | None:
    """Return an object as it was before an attempt, None if it did not exist or is not known."""
    return planned.before.value if isinstance(planned.before, Known) else None
