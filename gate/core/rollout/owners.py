"""Which workload each watched object belongs to, so that each rollout sees only its own.

The watches of several workloads are shared. A revision names its workload by
`metadata.ownerReferences` (the uid of the controller), and a pod names its revision or workload.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import ClusterEvent, Node, Ref, Watched, Workload
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.snapshot import Snapshot

Observation = Observed | Vanished | Listed


@dataclass(frozen=True, slots=True)
class Owners:
    """The workload of each workload, revision and pod that was seen, by uid.

    An orphaned object stays with its former workload, so that its deletion is reported there. If
    the owner was not seen yet, the object may belong to any workload: watches of different kinds
    have no common order.
    """

    refs: FrozenMap[str, Ref] = field(default_factory=FrozenMap)

    @classmethod
    def of(cls, snapshots: Collection[Snapshot]) -> Owners:
        """Return the owners of all that is known already."""
        lives = [snapshot.live for snapshot in snapshots if snapshot.live is not None]
        revisions = [one for snapshot in snapshots for one in snapshot.revisions.values()]
        pods = [track.pod for snapshot in snapshots for track in snapshot.pods.values()]
        return cls().with_objects(lives).with_objects(revisions).with_objects(pods)

    def after(self, event: Observation) -> Owners:
        """Return the owners after `event`."""
        match event:
            case Observed(_, thing):
                return self.with_objects((thing,))
            case Listed(objects=things):
                return self.with_objects(things)
            case Vanished(kind=Kind.POD, uid=uid):
                return replace(self, refs=self.refs.drop(uid)) if uid in self.refs else self
            case _:
                return self  # pods may outlive their revision, and it its workload

    def with_objects(self, things: Iterable[Watched]) -> Owners:
        """Return the owners after objects of one kind were seen; Events and nodes own nothing."""
        changed: dict[str, Ref] = {}
        for thing in things:
            if isinstance(thing, ClusterEvent | Node):
                continue
            ref = thing.ref if isinstance(thing, Workload) else self.refs.get(thing.owner_uid)
            if ref is not None and self.refs.get(thing.uid) != ref:
                changed[thing.uid] = ref
        return replace(self, refs=self.refs.put_all(changed)) if changed else self

    def find_concerned(self, event: Observation) -> frozenset[Ref] | None:
        """Return which workloads `event` is about, None if it may be about any.

        Ask before folding the event in: the former owner of an object has to see that it has
        another.
        """
        match event:
            case Observed(_, thing):
                return self._of(thing)
            case Listed(about=about):
                return frozenset((about,))
            case Vanished(uid=uid):
                return frozenset((self.refs[uid],)) if uid in self.refs else None

    def narrow(self, event: Observation, ref: Ref) -> Observation:
        """Return what `event` says of one workload: a list without what others own."""
        if not isinstance(event, Listed):
            return event
        own = tuple(thing for thing in event.objects if self._may_be_of(thing, ref))
        return event if len(own) == len(event.objects) else replace(event, objects=own)

    def _may_be_of(self, thing: Watched, ref: Ref) -> bool:
        concerned = self._of(thing)
        return concerned is None or ref in concerned

    def _of(self, thing: Watched) -> frozenset[Ref] | None:
        if isinstance(thing, Workload):
            return frozenset((thing.ref,))
        if isinstance(thing, Node):
            return None
        if isinstance(thing, ClusterEvent):
            about = self.refs.get(thing.about_uid)
            return None if about is None else frozenset((about,))
        if thing.owner_uid and thing.owner_uid not in self.refs:
            return None
        found = (self.refs.get(uid) for uid in (thing.uid, thing.owner_uid))
        return frozenset(ref for ref in found if ref is not None) or None
