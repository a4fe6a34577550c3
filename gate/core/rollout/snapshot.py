"""What is known of one workload, its revisions and pods: a fold of observations.

Each pod carries its own history (`PodTrack`); a judge needs no other memory.
"""

from __future__ import annotations

from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.objects import ClusterEvent, Node, Pod, Ref, Revision, Watched, Workload
from gate.core.rollout.event_history import Events
from gate.core.rollout.node_history import Nodes
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.pod_history import PodTrack, first_track, next_track
from gate.core.rollout.pods_before import PodsBefore
from gate.core.rollout.workload_kind import AnyKind, LastWords, PodCounts


@dataclass(frozen=True, slots=True)
class OwnRevisions:
    """The revisions that a workload controls, and which of them the live template is.

    `key` is what the current revision's pods have in common (`WorkloadKind.key_of_pod`), "" while
    unknown; `taken_back` the same of the version that a way back, or an undo, takes back, "" for
    none. `before` is what the pods ran before the attempt; with `is_undo` those that ran the
    version that is taken back go, too.
    """

    all: tuple[Revision, ...] = ()
    current: Revision | None = None
    key: str = ""
    taken_back: str = ""
    before: PodsBefore = field(default_factory=PodsBefore)
    is_undo: bool = False

    def with_current(
        self, owned: tuple[Revision, ...], current: Revision | None, key: str
    ) -> OwnRevisions:
        """Return it with other revisions; spelled out, as `replace` is slower."""
        return OwnRevisions(owned, current, key, self.taken_back, self.before, self.is_undo)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One workload as it is known now.

    `written` is false while the state before our write is folded: restarts from that time do not
    count against the new version. `denied_since` holds when a revision (by uid) began to say that
    it cannot create pods. `own` follows from `workload` and `revisions`: every verdict asks for it.
    `nodes` stay empty for a kind that does not look at them.
    """

    ref: Ref
    kind: AnyKind
    workload: Fact[Workload] = field(default_factory=Unknown)
    revisions: FrozenMap[str, Revision] = field(default_factory=FrozenMap)
    pods: FrozenMap[str, PodTrack] = field(default_factory=FrozenMap)
    events: Events = field(default_factory=Events)
    denied_since: FrozenMap[str, float] = field(default_factory=FrozenMap)
    written: bool = False
    own: OwnRevisions = OwnRevisions()
    nodes: Nodes = field(default_factory=Nodes)

    def fold(self, event: Observed | Vanished | Listed) -> Snapshot:
        """Return the snapshot after `event`; what is not of this workload is left out."""
        match event:
            case Observed(at, thing):
                return self._with(at, thing)
            case Vanished(_, kind, uid):
                return self._without(kind, uid)
            case Listed(about=about) if about == self.ref:
                return self._fold_list(event)
            case _:
                return self

    def begin(self, at: float, *, is_retried: bool = True) -> Snapshot:
        """Return the snapshot at the moment of our write: every history and grace starts here.

        With `is_retried` the controller tries again what it could not do before.
        """
        return replace(
            self,
            pods=FrozenMap((uid, track.with_history_from(at)) for uid, track in self.pods.items()),
            denied_since=FrozenMap((uid, at) for uid in self.denied_since),
            written=True,
            nodes=self.nodes.begin(),
            events=self.events.begin() if is_retried else self.events,
        )

    @property
    def live(self) -> Workload | None:
        """The workload, if it is known to exist."""
        return self.workload.value if isinstance(self.workload, Known) else None

    def list_owned(self) -> tuple[Revision, ...]:
        """Return the revisions whose controller is this workload, by ownerReferences uid."""
        return self.own.all

    def current(self) -> Revision | None:
        """Return the revision of the live template."""
        return self.own.current

    @property
    def current_uid(self) -> str:
        """The uid of the revision of the live template, "" if none was seen."""
        return "" if self.own.current is None else self.own.current.uid

    @property
    def current_key(self) -> str:
        """What the pods of the live template have in common, "" while unknown."""
        return self.own.key

    @property
    def taken_back(self) -> str:
        """What the pods of the version that is taken back have in common, "" without one."""
        return self.own.taken_back

    @property
    def undone(self) -> str:
        """What the pods of the version that an undo takes back have in common, "" without one."""
        return self.own.taken_back if self.own.is_undo else ""

    def take_back(self, key: str) -> Snapshot:
        """Return it at the start of a way back, which takes the version with that key back."""
        own = replace(self.own, taken_back=key, is_undo=False)
        return replace(self, written=False, own=own)

    def undo(self, key: str) -> Snapshot:
        """Return it at the start of an undo, after which no pod is of the version with that key."""
        return replace(self, own=replace(self.own, taken_back=key, is_undo=bool(key)))

    def remember_pods(self) -> Snapshot:
        """Return it at the start of an attempt, which remembers what each pod runs."""
        owner_uid = "" if self.live is None else self.live.uid
        kind = self.kind
        there = [track.pod for track in self.pods.values() if track.pod.owner_uid == owner_uid]
        there.sort(key=lambda pod: (not pod.deleting, pod.ready))
        placed = {kind.place_of_pod(pod): kind.key_of_pod(pod) for pod in there}
        versions = {place: key for place, key in placed.items() if place and key}
        owners = {owner_uid, *(one.uid for one in self.list_owned())}
        pods = (track.pod for track in self.pods.values() if track.pod.owner_uid in owners)
        going = (pod.uid for pod in pods if pod.deleting)
        staying = {kind.place_of_pod(pod) for pod in there if not pod.deleting}
        leaving = versions.keys() - staying
        return self.with_pods_before(PodsBefore.of(versions, going, leaving))

    def starts_to_go(self, pod: Pod) -> bool:
        """Tell whether a pod is being deleted, and was not yet as the attempt began."""
        return pod.deleting and pod.uid not in self.own.before.going

    def with_pods_before(self, before: PodsBefore) -> Snapshot:
        """Return it with what the pods ran before the attempt."""
        return replace(self, own=replace(self.own, before=before))

    def has_moved(self, pod: Pod, key: str) -> bool:
        """Tell whether a pod is of the version with that key, and its predecessor was of another.

        One that ran it before the attempt is as it was, unless it is what an undo takes back.
        """
        if not key or self.kind.key_of_pod(pod) != key:
            return False
        return key == self.undone or not self.own.before.ran(self.kind.place_of_pod(pod), key)

    @property
    def is_stopping(self) -> bool:
        """Whether it has failed for good, and its pods are still being stopped."""
        return self.live is not None and self.kind.is_stopping(self.live)

    @property
    def last_words(self) -> LastWords | None:
        """Whose log explains its own failure, None if that of a pod in trouble does."""
        return None if self.live is None else self.kind.last_words(self, self.live)

    def count_pods(self, revision: Revision) -> PodCounts:
        """Count the pods of a revision."""
        return self.kind.count_pods(self, revision)

    def pods_of(self, revision: Revision | None) -> tuple[PodTrack, ...]:
        """Return the pods of a revision that count: not deleted, not replaced after eviction."""
        return () if revision is None else self.pods_with(self.kind.key_of_revision(revision))

    def has_pods(self, revision: Revision) -> bool:
        """Tell whether a revision has pods, or is to have some."""
        count = self.count_pods(revision)
        return bool(count.wanted or count.created)

    def pods_with(self, key: str) -> tuple[PodTrack, ...]:
        """Return the pods that count, of the revision with that key."""
        key_of = self.kind.key_of_pod
        return tuple(
            track for track in self.pods.values() if key_of(track.pod) == key and track.counts
        )

    def _with(self, at: float, thing: Watched) -> Snapshot:
        if isinstance(thing, Pod):
            return self._with_pod(at, thing)
        if isinstance(thing, Revision):
            return self._with_revision(at, thing)
        if isinstance(thing, Workload):
            return self._with_workload(thing)
        if isinstance(thing, Node):
            return self._with_node(thing)
        return self._with_event(thing)

    def _with_workload(self, thing: Workload) -> Snapshot:
        """Take a workload, unless a read has shown a later state of that name already."""
        live = self.live
        if thing.ref != self.ref or (live is not None and _is_outdated(thing, live)):
            return self
        return self._recast(Known(thing), self.revisions, self.denied_since)

    def _with_revision(self, at: float, thing: Revision) -> Snapshot:
        known = self.revisions.get(thing.uid)
        if thing.namespace != self.ref.namespace or (
            known is not None and _is_outdated(thing, known)
        ):
            return self
        denied = self.denied_since
        if thing.failure is None:
            denied = denied.drop(thing.uid)
        elif thing.uid not in denied:
            denied = denied.put(thing.uid, at)
        return self._recast(self.workload, self.revisions.put(thing.uid, thing), denied)

    def _with_pod(self, at: float, pod: Pod) -> Snapshot:
        if pod.namespace != self.ref.namespace:
            return self
        known = self.pods.get(pod.uid)
        if known is None:
            track = first_track(at, pod, written=self.written)
        elif _is_outdated(pod, known.pod):
            return self
        else:
            track = next_track(at, known, pod)
        after = self._with_pods(self.pods.put(pod.uid, track))
        if not self.kind.looks_at_nodes:
            return after
        nodes = self.nodes.with_pod(self.kind.key_of_pod(pod), pod)
        return after if nodes is self.nodes else replace(after, nodes=nodes)

    def _with_nodes(self, nodes: Nodes) -> Snapshot:
        return self if nodes is self.nodes else replace(self, nodes=nodes)

    def _with_node(self, node: Node) -> Snapshot:
        return self._with_nodes(self.nodes.with_node(node)) if self.kind.looks_at_nodes else self

    def _with_pods(self, pods: FrozenMap[str, PodTrack]) -> Snapshot:
        """Spell out what `replace` does, which is faster: most observations are of pods."""
        return Snapshot(
            self.ref,
            self.kind,
            self.workload,
            self.revisions,
            pods,
            self.events,
            self.denied_since,
            self.written,
            self.own,
            self.nodes,
        )

    def _after_deletion(self) -> Snapshot:
        """Return it without its workload; one that had ended stays as it was last seen."""
        live = self.live
        if self.written and live is not None and self.kind.has_ended(live):
            return self
        return self._recast(Absent(), self.revisions, self.denied_since)

    def _recast(
        self,
        workload: Fact[Workload],
        revisions: FrozenMap[str, Revision],
        denied_since: FrozenMap[str, float],
    ) -> Snapshot:
        """Find the revision of the live template again after either has changed."""
        owned: tuple[Revision, ...] = ()
        current, key = None, ""
        if isinstance(workload, Known):
            live = workload.value
            watched = tuple(one for one in revisions.values() if one.owner_uid == live.uid)
            owned = self.kind.own_revisions(live, watched)
            uid = self.kind.find_current(live, owned)
            current = next((one for one in owned if one.uid == uid), None)
            key = self.kind.current_key(live, current)
        return Snapshot(
            self.ref,
            self.kind,
            workload,
            revisions,
            self.pods,
            self.events,
            denied_since,
            self.written,
            self.own.with_current(owned, current, key),
            self.nodes,
        )

    def _with_event(self, event: ClusterEvent) -> Snapshot:
        """Keep what explains a state: warnings about pods and revisions."""
        events = self.events.with_event(event)
        if events is self.events:
            return self
        track, pods = self.pods.get(event.about_uid), self.pods
        if track is not None and event.reason == "Failed" and "pull" in event.message:
            pods = pods.put(event.about_uid, track.with_pull_message(event.message))
        return replace(self, events=events, pods=pods)

    def _without(self, kind: Kind, uid: str) -> Snapshot:
        if kind == self.kind.name:
            live = self.live
            gone = live is not None and live.uid == uid
            return self._after_deletion() if gone else self
        if kind == self.kind.revision_kind and uid in self.revisions:
            kept, denied = self.revisions.drop(uid), self.denied_since.drop(uid)
            return self._recast(self.workload, kept, denied)
        if kind == Kind.POD and uid in self.pods:
            return self._with_pods(self.pods.drop(uid))
        if kind == Kind.NODE:
            return self._with_nodes(self.nodes.without(uid))
        return self

    def _fold_list(self, event: Listed) -> Snapshot:
        """Drop the objects that a list no longer has, add those that it has."""
        at, kind, things = event.at, event.kind, event.objects
        result = self
        if kind == Kind.NODE:
            return self._fold_nodes(event)
        if not self._is_ahead_of(event):
            is_own = kind == self.kind.name
            if is_own and not any(_is_of(self.ref, thing) for thing in things):
                result = self._after_deletion()
            listed = {thing.uid for thing in things}
            for uid in self._list_resource_versions(kind).keys() - listed:
                result = result.fold(Vanished(at, kind, uid))
        for thing in things:
            result = result.fold(Observed(at, thing))
        return result

    def _fold_nodes(self, event: Listed) -> Snapshot:
        """Take a list of nodes unless it is older than one of them; an empty one says nothing."""
        listed = [thing for thing in event.objects if isinstance(thing, Node)]
        if not (listed and self.kind.looks_at_nodes) or self._is_ahead_of(event):
            return self
        return self._with_nodes(self.nodes.with_list(listed, written=self.written))

    def _is_ahead_of(self, event: Listed) -> bool:
        """Tell whether something later than a list was seen: then its server lags behind."""
        version = event.resource_version
        return any(
            older(version, known) for known in self._list_resource_versions(event.kind).values()
        )

    def _list_resource_versions(self, kind: Kind) -> dict[str, str]:
        """Return the resourceVersions of what is known of a kind, by uid."""
        if kind == self.kind.name:
            return {} if self.live is None else {self.live.uid: self.live.resource_version}
        if kind == self.kind.revision_kind:
            return {uid: one.resource_version for uid, one in self.revisions.items()}
        if kind == Kind.POD:
            return {uid: track.pod.resource_version for uid, track in self.pods.items()}
        return self.nodes.list_resource_versions() if kind == Kind.NODE else {}


def _is_of(ref: Ref, thing: Watched) -> bool:
    return isinstance(thing, Workload) and thing.ref == ref


def _is_outdated(one: Workload | Revision | Pod, known: Workload | Revision | Pod) -> bool:
    """Tell whether `one` says nothing beyond what is known: an earlier version, or the same."""
    if one.resource_version == known.resource_version:
        return one == known
    return older(one.resource_version, known.resource_version)


def older(one: str, other: str) -> bool:
    """Compare resourceVersions of a kind, across objects and lists too.

    They compare as numbers (Kubernetes 1.35 made that part of the API); if they are not numbers,
    nothing is older.
    """
    return one.isdigit() and other.isdigit() and int(one) < int(other)
