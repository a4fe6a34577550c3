"""Which versions of a workload there are, read from a finished attempt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gate.core.attempt.state import Attempt
from gate.core.endings.unwritten import has_gone
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.objects import Ref, Revision
from gate.core.model.outcome import Outcome
from gate.core.plan.leg import Leg
from gate.core.rollout.judge import Rollout
from gate.core.rollout.snapshot import Snapshot
from gate.report.schema.version import NewVersion, ServedVersion, Version


def judged_rollout(attempt: Attempt, ref: Ref) -> Rollout | None:
    """Return the rollout of the new version, also after the way back; None before its write."""
    if is_as_found(attempt, ref):
        return None
    before = attempt.workloads.followed_before.get(ref)
    # If another gate began the way back, this one follows what serves again, not what failed.
    is_return = attempt.course.leg is Leg.BACK and ref in attempt.ledger.restored
    return before if before is not None or is_return else attempt.workloads.rollouts.get(ref)


def is_as_found(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a way back follows a workload that this attempt never wrote."""
    return attempt.course.leg is Leg.BACK and ref not in attempt.ledger.written


def latest_snapshot(attempt: Attempt, ref: Ref) -> Snapshot | None:
    """Return what is known about a workload at the end."""
    rollout = attempt.workloads.rollouts.get(ref)
    return rollout.snapshot if rollout is not None else attempt.workloads.snapshots.get(ref)


def latest_snapshot_of_run(attempt: Attempt, ref: Ref) -> Snapshot | None:
    """Return what is known of a workload at the end; of a run that is gone, what it had done."""
    snapshot, judged = latest_snapshot(attempt, ref), attempt.workloads.followed_before.get(ref)
    is_gone = snapshot is not None and snapshot.live is None and not has_way_back(ref)
    return judged.snapshot if is_gone and judged is not None else snapshot


def new_revision(rollout: Rollout) -> Revision | None:
    """Return the new version: additions of others to our template are part of it.

    If the live template is no longer ours, it is the one with exactly what we applied.
    """
    live = rollout.snapshot.live
    if live is not None and rollout.still_ours(live):
        return rollout.snapshot.current()
    same = (
        revision
        for revision in rollout.snapshot.list_owned()
        if revision.template.body == rollout.applied.template.body
    )
    return next(same, None)


def is_drawn_in(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload went back because of another one's failure."""
    return bool(attempt.result.failures) and ref not in attempt.result.failures


def baseline_version(attempt: Attempt, ref: Ref) -> ServedVersion | None:
    """Return what an attempt, or an undo, returns to, None if there is nothing or it is unknown.

    If a field that somebody else added kept its revision from being used again, it is the one
    that the way back ended with.
    """
    baseline = attempt.plan.target(ref).baseline
    if not isinstance(baseline, Known):
        return None
    before, name = baseline.value.revision, baseline.value.revision_name
    doubt = baseline.value.unverified
    unverified = doubt.reason.value if doubt is not None else ""
    returned = _returned_to(attempt, ref)
    if returned is not None and returned.name != name:
        return {
            "revision": returned.revision,
            "was_revision": None,
            "name": returned.name,
            "images": list(returned.template.images()),
            "served": baseline.value.served,
            "unverified": unverified,
        }
    snapshot = latest_snapshot(attempt, ref)
    owned = snapshot.list_owned() if snapshot is not None else ()
    now = next((one.revision for one in owned if one.name == name), None) or before
    return {
        "revision": now,
        "was_revision": before if before != now else None,
        "name": name,
        "images": list(baseline.value.template.images()),
        "served": baseline.value.served,
        "unverified": unverified,
    }


def _returned_to(attempt: Attempt, ref: Ref) -> Revision | None:
    """Return the version that a complete way back ended with, None if there was none."""
    ending, rollout = attempt.result.endings.get(ref), attempt.workloads.rollouts.get(ref)
    is_back = ending is not None and ending.outcome is Outcome.ROLLED_BACK
    return rollout.snapshot.current() if is_back and rollout is not None else None


def new_version(attempt: Attempt, ref: Ref) -> NewVersion:
    """Return the version that was rolled out or, if none was, what the manifest asks for."""
    rollout = judged_rollout(attempt, ref)
    was_written = ref in attempt.ledger.written or ref in attempt.ledger.restored
    if rollout is None and (was_written or has_gone(attempt, ref)):
        return _tried_before(attempt, ref)
    if rollout is None:
        return _version_of(attempt, ref, None, _planned_images(attempt, ref), [])
    revision = new_revision(rollout)
    image_ids = _image_ids(rollout.snapshot, revision)
    template = revision.template if revision is not None else rollout.applied.template
    return _version_of(attempt, ref, revision, list(template.images()), image_ids)


def undone_version(attempt: Attempt, ref: Ref) -> Version | None:
    """Return the version that ran as an undo began, None of other commands, or if unknown."""
    current = attempt.plan.target(ref).snapshot.current()
    if attempt.plan.command != "undo" or current is None:
        return None
    return {
        "revision": current.revision,
        "was_revision": None,
        "name": current.name,
        "images": list(current.template.images()),
    }


def _version_of(
    attempt: Attempt,
    ref: Ref,
    revision: Revision | None,
    images: list[str],
    image_ids: list[str],
) -> NewVersion:
    number = revision.revision if revision is not None else None
    found = attempt.plan.target(ref).snapshot.revisions
    earlier = found.get(revision.uid) if revision is not None else None
    before = earlier.revision if earlier is not None else None
    return {
        "revision": number,
        "was_revision": before if before != number else None,
        "name": revision.name if revision is not None else "",
        "images": images,
        "image_ids": image_ids,
        "restored": attempt.plan.target(ref).is_restored,
    }


def _tried_before(attempt: Attempt, ref: Ref) -> NewVersion:
    """Return the version rolled out by an earlier gate, which died on its way back from it."""
    trial = attempt.plan.trial(ref)
    workload = trial.workload if trial is not None else None
    if workload is None:
        return _version_of(attempt, ref, None, _planned_images(attempt, ref), [])
    tried = find_tried_before(attempt, ref)
    return _version_of(attempt, ref, tried, list(workload.template.images()), [])


def find_tried_before(attempt: Attempt, ref: Ref) -> Revision | None:
    """Return the version that an earlier gate rolled out, None if it is gone."""
    trial, snapshot = attempt.plan.trial(ref), latest_snapshot(attempt, ref)
    if trial is None or trial.workload is None or snapshot is None:
        return None
    body = trial.workload.template.body
    return next((one for one in snapshot.list_owned() if one.template.body == body), None)


def _planned_images(attempt: Attempt, ref: Ref) -> list[str]:
    for write in attempt.plan.writes:
        if write.ref == ref:
            return list(_images(write.body))
    return []


def _images(body: Body) -> Iterable[str]:
    """Yield the images of an applied body, which may be of any shape."""
    value: Any = body.thaw()
    for key in ("spec", "template", "spec", "containers"):
        value = value.get(key) if isinstance(value, Mapping) else None
    for container in value if isinstance(value, list) else ():
        if isinstance(container, Mapping) and isinstance(container.get("image"), str):
            yield container["image"]


def _image_ids(snapshot: Snapshot, revision: Revision | None) -> list[str]:
    """Return each image id once: a tag that moved has two."""
    found = {
        status.image_id: None
        for track in snapshot.pods_of(revision)
        for status in track.pod.containers
        if status.image_id and not status.init
    }
    return list(found)
