"""When pods and revisions were created, by `metadata.creationTimestamp` of the API server."""

from __future__ import annotations

from datetime import datetime

from gate.core.model.moments import parse_moment
from gate.core.model.objects import Pod, Revision
from gate.core.rollout.snapshot import Snapshot


def created_at(thing: Pod | Revision) -> datetime | None:
    """Return when it was created, None if that is not known."""
    return parse_moment(thing.created_at)


def find_newest_creation(snapshot: Snapshot) -> datetime | None:
    """Return when controllers last created a pod or a revision of a workload, None if unknown."""
    revisions = snapshot.list_owned()
    owners = {one.uid for one in revisions}
    if snapshot.live is not None:
        owners.add(snapshot.live.uid)
    pods = (track.pod for track in snapshot.pods.values() if track.pod.owner_uid in owners)
    made: tuple[Pod | Revision, ...] = (*revisions, *pods)
    return max((at for one in made if (at := created_at(one))), default=None)
