"""What is known of one Deployment, its ReplicaSets and pods: a fold of observations.

Each pod carries its own history (`PodTrack`); a judge needs no other memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gate.core.body import FrozenMap
from gate.core.events import Kind, Listed, Observed, Vanished
from gate.core.fact import Absent, Fact, Known, Unknown
from gate.core.objects import ClusterEvent, Deployment, Pod, Ref, ReplicaSet, Watched
from gate.core.tracks import PodTrack, first_track, next_track


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One Deployment as it is known now.

    `written` is false while the state before our write is folded: what has restarted then does
    not count against the new version. `denied_since` holds since when a ReplicaSet (by uid)
    says that it cannot create pods.
    """

    ref: Ref
    deployment: Fact[Deployment] = field(default_factory=Unknown)
    replica_sets: FrozenMap[str, ReplicaSet] = field(default_factory=FrozenMap)
    pods: FrozenMap[str, PodTrack] = field(default_factory=FrozenMap)
    events: FrozenMap[str, ClusterEvent] = field(default_factory=FrozenMap)
    denied_since: FrozenMap[str, float] = field(default_factory=FrozenMap)
    written: bool = False

    def fold(self, event: Observed | Vanished | Listed) -> Snapshot:
        """Return the snapshot after `event`; what is not of this Deployment is left out."""
        match event:
            case Observed(at, thing):
                return self._with(at, thing)
            case Vanished(_, kind, uid):
                return self._without(kind, uid)
            case Listed(at, kind, about, things) if about == self.ref:
                return self._listed(at, kind, things)
            case _:
                return self

    def begin(self) -> Snapshot:
        """Return the snapshot at the moment of our write: every history starts here."""
        fresh = {uid: track.begun() for uid, track in self.pods.items()}
        return replace(self, pods=FrozenMap(fresh), written=True)

    @property
    def live(self) -> Deployment | None:
        """The Deployment, if it is known to exist."""
        return self.deployment.value if isinstance(self.deployment, Known) else None

    def owned(self) -> tuple[ReplicaSet, ...]:
        """Return the ReplicaSets whose controller is this Deployment, by ownerReferences uid."""
        live = self.live
        if live is None:
            return ()
        return tuple(rs for rs in self.replica_sets.values() if rs.owner_uid == live.uid)

    def current(self) -> ReplicaSet | None:
        """Return the ReplicaSet of the live template.

        Found by owner and template, never by hash or revision: hashes collide and revisions are
        renumbered. Of several the oldest counts, as for the deployment controller
        (FindNewReplicaSet).
        """
        live = self.live
        if live is None:
            return None
        same = [rs for rs in self.owned() if rs.template.body == live.template.body]
        return min(same, key=lambda rs: (rs.created_at, rs.name), default=None)

    def pods_of(self, replica_set: ReplicaSet | None) -> tuple[PodTrack, ...]:
        """Return the pods of a ReplicaSet that count: not deleted, not replaced after eviction."""
        if replica_set is None:
            return ()
        return tuple(
            track
            for track in self.pods.values()
            if track.pod.owner_uid == replica_set.uid
            and not track.pod.deleting
            and track.pod.phase not in ("Failed", "Succeeded")
        )

    def _with(self, at: float, thing: Watched) -> Snapshot:
        if isinstance(thing, Pod):
            return self._with_pod(at, thing)
        if isinstance(thing, ReplicaSet):
            return self._with_replica_set(at, thing)
        if isinstance(thing, Deployment):
            if thing.ref != self.ref or self._stale(thing):
                return self
            return replace(self, deployment=Known(thing))
        return self._with_event(thing)

    def _stale(self, thing: Deployment) -> bool:
        """Tell whether a watch line is late: it must not undo what a read has shown."""
        live = self.live
        return live is not None and live.uid == thing.uid and _older(thing, live)

    def _with_replica_set(self, at: float, thing: ReplicaSet) -> Snapshot:
        known = self.replica_sets.get(thing.uid)
        if thing.namespace != self.ref.namespace or (known is not None and _older(thing, known)):
            return self
        denied = self.denied_since
        if thing.failure is None:
            denied = denied.drop(thing.uid)
        elif thing.uid not in denied:
            denied = denied.put(thing.uid, at)
        return replace(
            self, replica_sets=self.replica_sets.put(thing.uid, thing), denied_since=denied
        )

    def _with_pod(self, at: float, pod: Pod) -> Snapshot:
        if pod.namespace != self.ref.namespace:
            return self
        known = self.pods.get(pod.uid)
        if known is None:
            track = first_track(at, pod, written=self.written)
        elif _older(pod, known.pod):
            return self
        else:
            track = next_track(at, known, pod)
        return replace(self, pods=self.pods.put(pod.uid, track))

    def _with_event(self, event: ClusterEvent) -> Snapshot:
        """Keep what tells why: warnings about pods and ReplicaSets."""
        if event.type != "Warning":
            return self
        events = self.events.put(event.uid, event)
        track = self.pods.get(event.about_uid)
        if track is None or event.reason != "Failed" or "pull" not in event.message:
            return replace(self, events=events)
        changed = track.with_pull_message(event.message)
        return replace(self, events=events, pods=self.pods.put(event.about_uid, changed))

    def _without(self, kind: Kind, uid: str) -> Snapshot:
        match kind:
            case Kind.DEPLOYMENT:
                live = self.live
                gone = live is not None and live.uid == uid
                return replace(self, deployment=Absent()) if gone else self
            case Kind.REPLICA_SET:
                return replace(self, replica_sets=self.replica_sets.drop(uid))
            case Kind.POD:
                return replace(self, pods=self.pods.drop(uid))
            case Kind.EVENT:
                return self

    def _listed(self, at: float, kind: Kind, things: tuple[Watched, ...]) -> Snapshot:
        result = self._dropping(kind, {thing.uid for thing in things})
        for thing in things:
            result = result.fold(Observed(at, thing))
        return result

    def _dropping(self, kind: Kind, uids: set[str]) -> Snapshot:
        """Drop what a list no longer has."""
        match kind:
            case Kind.DEPLOYMENT:
                live = self.live
                known_gone = live is None or live.uid not in uids
                return replace(self, deployment=Absent()) if known_gone else self
            case Kind.REPLICA_SET:
                kept = {uid: rs for uid, rs in self.replica_sets.items() if uid in uids}
                return replace(self, replica_sets=FrozenMap(kept))
            case Kind.POD:
                pods = {uid: track for uid, track in self.pods.items() if uid in uids}
                return replace(self, pods=FrozenMap(pods))
            case Kind.EVENT:
                return self


def _older(one: Deployment | ReplicaSet | Pod, other: Deployment | ReplicaSet | Pod) -> bool:
    """Tell whether `one` is an earlier version of the same object.

    resourceVersions compare as numbers (Kubernetes 1.35 made that part of the API); where they
    are none, nothing is older.
    """
    if one.resource_version.isdigit() and other.resource_version.isdigit():
        return int(one.resource_version) < int(other.resource_version)
    return False
