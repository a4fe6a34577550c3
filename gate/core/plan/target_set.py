"""What a rollback returns to: one set of objects that stood together.

Either all objects as they were right before the attempt, or the last set that a gate verified.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import CleanText, Ref


@dataclass(frozen=True, slots=True)
class TargetSet:
    """The set that a failure returns to, as far as it differs from what was before the attempt.

    An object that is in neither map returns to what it was before. `bodies` are to be applied
    instead, `missing` says of which objects of the set no body can be had, and why: such a
    rollback leaves a mixture and is a failed one. `obstacles` says of which Deployments what ran
    before is nothing to return to, and why. `confidential` are the objects whose body came from a
    Secret: it may be written down in a Secret alone. `unverified` are the Deployments
    that return to an older ReplicaSet that still serves, since no gate verified a version.
    `beside` identifies, as `applied_digest` does, what stood beside the attempt of the objects that
    earlier ones had written and it did not: a version that it verifies was verified beside them.
    `undo_lacks` are the objects that an `undo` of each Deployment, to what served before the
    attempt, could not restore (`gate.core.versions.undo_set`); `undo_conflicts` are the managers of
    fields for which one is refused, as far as `verify` knows them. `applied_again` are the
    Deployments whose last verified version is what is about to be applied: they return to the one
    before that.
    """

    bodies: FrozenMap[Ref, Body] = field(default_factory=FrozenMap)
    missing: FrozenMap[Ref, CleanText] = field(default_factory=FrozenMap)
    obstacles: FrozenMap[Ref, CleanText] = field(default_factory=FrozenMap)
    confidential: tuple[Ref, ...] = ()
    unverified: tuple[Ref, ...] = ()
    beside: FrozenMap[Ref, str] = field(default_factory=FrozenMap)
    undo_lacks: FrozenMap[Ref, tuple[Ref, ...]] = field(default_factory=FrozenMap)
    applied_again: tuple[Ref, ...] = ()
    undo_conflicts: FrozenMap[Ref, tuple[str, ...]] = field(default_factory=FrozenMap)
