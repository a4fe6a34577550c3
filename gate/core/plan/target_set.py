"""What a rollback returns to: one set of objects that were live together.

Either all objects as they were right before the attempt, or the last set that a gate verified.
"""

from __future__ import annotations

from dataclasses import field

from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import CleanText, Ref


@dataclass(frozen=True, slots=True)
class AppliedVersion:
    """What the histories say of the version that an attempt applies.

    `beside` has the digests (`applied_digest`) of objects that earlier attempts wrote and this one
    does not: a version that it verifies was verified beside them. `again` are the workloads whose
    last verified version is about to be applied again: they return to the one before that. `doubts`
    are the workloads whose version is applied again as it is, with what was found of it that this
    attempt does not find out again. `left_by_check` are those that a check left at all. `unproven`
    are the objects that it leaves as they are, and that none of its workloads was verified with so.
    """

    beside: FrozenMap[Ref, str] = field(default_factory=FrozenMap)
    again: tuple[Ref, ...] = ()
    doubts: FrozenMap[Ref, CleanText] = field(default_factory=FrozenMap)
    left_by_check: tuple[Ref, ...] = ()
    unproven: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoLimits:
    """What an `undo` to what served before the attempt could not do, for each workload.

    `lacks` are the objects that it could not restore (`gate.core.versions.undo_set`), `conflicts`
    the field managers for whose fields it would be refused, as far as `verify` knows them.
    `beyond` are the workloads of which an `undo` goes to another verified version once the attempt
    has failed and all is as it was before.
    """

    lacks: FrozenMap[Ref, tuple[Ref, ...]] = field(default_factory=FrozenMap)
    conflicts: FrozenMap[Ref, tuple[str, ...]] = field(default_factory=FrozenMap)
    beyond: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetSet:
    """The set that a failure returns to, as far as it differs from what was before the attempt.

    An object that is neither in `bodies` nor in `missing` returns to what it was before. `bodies`
    are applied instead. `missing` has the objects of the set without an available body, each with
    the reason: a rollback without them leaves a mixture and counts as failed. `obstacles` has the
    workloads whose version of before is not to be returned to, each with the reason.
    `confidential` are the objects whose body came from a Secret and may be stored in a Secret only.
    `unverified` are the workloads that return to an older revision that still serves, because
    no gate verified a version. `shared` has the objects that return to what another workload was
    verified with since, each with that workload. `applied` and `undo` are what the same histories
    say beside that. `other_run_returns` says what the way back returns objects to whose state
    another run, which was not verified, had brought. `is_set_aside` is whether the way back
    restores what was before instead: it found no workload that the attempt had changed.
    """

    bodies: FrozenMap[Ref, Body] = field(default_factory=FrozenMap)
    missing: FrozenMap[Ref, CleanText] = field(default_factory=FrozenMap)
    obstacles: FrozenMap[Ref, CleanText] = field(default_factory=FrozenMap)
    confidential: tuple[Ref, ...] = ()
    unverified: tuple[Ref, ...] = ()
    shared: FrozenMap[Ref, Ref] = field(default_factory=FrozenMap)
    applied: AppliedVersion = AppliedVersion()
    undo: UndoLimits = UndoLimits()
    other_run_returns: FrozenMap[Ref, CleanText] = field(default_factory=FrozenMap)
    is_set_aside: bool = False

    @property
    def members(self) -> FrozenMap[Ref, Body]:
        """The bodies that the way back applies."""
        return FrozenMap() if self.is_set_aside else self.bodies

    @property
    def missing_members(self) -> FrozenMap[Ref, CleanText]:
        """The objects of the set that the way back has no body of, with the reasons."""
        return FrozenMap() if self.is_set_aside else self.missing
