"""The pods of the followed revision: how many count, and what is wrong with which of them.

Kept up to date pod by pod, so that an observation costs the same among 10 pods and 1,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Template
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import NEVER, Cause, Trouble, sum_up_troubles, trouble_of
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.policy import FailFast
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import AnyKind

SUSPECTS = (Reason.CRASH_LOOP, Reason.IMAGE_PULL, Reason.CONTAINER_CONFIG)
"""Troubles that are evidence against a version even before their grace is over."""


@dataclass(frozen=True, slots=True)
class NewPods:
    """The new pods that count, with the troubles of those that have some, by uid.

    `soonest_ripe_at` is the earliest time at which any of them is unrecoverable; `ready` is how
    many are ready.
    """

    key: str = ""
    count: int = 0
    troubles: FrozenMap[str, Trouble] = field(default_factory=FrozenMap)
    soonest_ripe_at: float = NEVER
    ready: int = 0

    @classmethod
    def of(cls, snapshot: Snapshot, limits: FailFast) -> NewPods:
        """Look at all pods again: another revision is followed, or a list was read."""
        live, key = snapshot.live, snapshot.current_key
        if live is None or not key:
            return cls(key)
        tracks = snapshot.pods_with(key)
        judged = ((track.pod.uid, trouble_of(track, live.template, limits)) for track in tracks)
        troubles = FrozenMap((pod, trouble) for pod, trouble in judged if trouble is not None)
        ready = sum(track.pod.ready for track in tracks)
        return cls(key, len(tracks), troubles, _soonest(troubles), ready)

    def after(
        self,
        kind: AnyKind,
        before: PodTrack | None,
        after: PodTrack | None,
        template: Template,
        limits: FailFast,
    ) -> NewPods:
        """Return the pods after one of them changed from `before` to `after`, None for no pod."""
        new = after if after is not None and self.is_of(kind, after) else None
        old = before if before is not None and self.is_of(kind, before) else None
        one = new or old
        if one is None:
            return self
        count = self.count + (new is not None) - (old is not None)
        ready = self.ready + _is_ready(new) - _is_ready(old)
        trouble = trouble_of(new, template, limits) if new is not None else None
        known = self.troubles.get(one.pod.uid)
        if trouble == known:
            troubles, soonest = self.troubles, self.soonest_ripe_at
        else:
            troubles = _put(self.troubles, one.pod.uid, trouble)
            soonest = self._soonest_after(known, trouble, troubles)
        return NewPods(self.key, count, troubles, soonest, ready)

    def is_of(self, kind: AnyKind, track: PodTrack) -> bool:
        """Tell whether a pod is one of these: of the followed revision, and it counts."""
        return kind.key_of_pod(track.pod) == self.key != "" and track.counts

    def _soonest_after(
        self, gone: Trouble | None, come: Trouble | None, troubles: FrozenMap[str, Trouble]
    ) -> float:
        """Look through all troubles only if the soonest of them may be the one that is gone."""
        soonest = self.soonest_ripe_at
        if gone is not None and gone.ripe_at != NEVER and gone.ripe_at <= soonest:
            return _soonest(troubles)
        return soonest if come is None else min(soonest, come.ripe_at)

    def fatal(self, snapshot: Snapshot, now: float, tolerated: int) -> Cause | None:
        """Return what dooms the version at `now`: more pods than tolerated that are unrecoverable.

        The reason is that of the rule, all else is that of the most telling cause.
        """
        if now < self.soonest_ripe_at:
            return None
        pods = {
            uid: snapshot.pods[uid].pod
            for uid, trouble in self.troubles.items()
            if now >= trouble.ripe_at and self.is_evidence(snapshot, uid)
        }
        if len(pods) <= tolerated or not snapshot.kind.may_fail_fast(
            snapshot, pods.values(), self.count
        ):
            return None
        doomed = [self.troubles[uid] for uid in pods]
        telling = sum_up_troubles(doomed, self.count)[0]
        rule = next(trouble.rule for trouble in doomed if trouble.cause is telling.reason)
        return replace(telling, reason=rule)

    def are_suspicious(self, snapshot: Snapshot) -> bool:
        """Tell if a container of the template is evidence against the version, grace or none."""
        return any(
            trouble.own and trouble.rule in SUSPECTS and self.is_evidence(snapshot, uid)
            for uid, trouble in self.troubles.items()
        )

    @staticmethod
    def is_evidence(snapshot: Snapshot, uid: str) -> bool:
        """Tell whether what is wrong with a pod speaks against the version."""
        return snapshot.kind.is_evidence(snapshot, snapshot.pods[uid].pod)

    def ripe_times(self, now: float) -> Iterator[float]:
        """Iterate times, the next one after `now` first, at which more may become unrecoverable."""
        if now < self.soonest_ripe_at:
            yield self.soonest_ripe_at
        else:
            yield from (t.ripe_at for t in self.troubles.values() if t.ripe_at > now)


def _is_ready(track: PodTrack | None) -> bool:
    return track is not None and track.pod.ready


def _put(
    troubles: FrozenMap[str, Trouble], uid: str, trouble: Trouble | None
) -> FrozenMap[str, Trouble]:
    return troubles.drop(uid) if trouble is None else troubles.put(uid, trouble)


def _soonest(troubles: FrozenMap[str, Trouble]) -> float:
    return min((trouble.ripe_at for trouble in troubles.values()), default=NEVER)
