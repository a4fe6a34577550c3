"""Revisions and the other annotations that the Deployment controller keeps on ReplicaSets."""

from __future__ import annotations

import re
from typing import Final

from sandbox.controllers.deployment.facts import REVISION, annotations_of, limits_of, size
from sandbox.json import JSON

HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        HISTORY,
        DESIRED,
        MOST,
        "deprecated.deployment.rollback.to",
    }
)
LONGEST_HISTORY = 2000
"""Characters of the revision history; beyond them the oldest revisions are dropped."""
_COUNT: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
"""An annotation that is a number: anybody may write something else into it."""


def with_annotations(body: JSON, found: dict[str, str]) -> JSON:
    """Return a copy of an object with other annotations; the rest is shared."""
    return {**body, "metadata": {**body["metadata"], "annotations": found}}


def annotated_as_new(deployment: JSON, replica_set: JSON, new_revision: int) -> JSON:
    """Return the Deployment's ReplicaSet with its annotations and a revision of at least this.

    The very same object is returned where nothing has to change. A ReplicaSet that gets a higher
    revision than it had is returned to: what it was stays in its history.
    """
    own = annotations_of(deployment)
    found = {**annotations_of(replica_set)}
    found |= {key: value for key, value in own.items() if key not in NOT_COPIED}
    before = found.get(REVISION)
    if before is not None and not _COUNT.fullmatch(before):
        return replica_set
    if int(before or 0) < new_revision:
        found[REVISION] = str(new_revision)
        if before is not None:
            found[HISTORY] = append_revision(found.get(HISTORY, ""), before)
    return (
        replica_set
        if found == annotations_of(replica_set)
        else with_annotations(replica_set, found)
    )


def append_revision(history: str, revision: str) -> str:
    """Return a history with one more revision, without the oldest where it gets too long."""
    kept = [each for each in history.split(",") if each]
    while kept and len(",".join([*kept, revision])) > LONGEST_HISTORY:
        kept.pop(0)
    return ",".join([*kept, revision])


def replica_annotations(deployment: JSON) -> dict[str, str]:
    """Return what tells a ReplicaSet the size of its Deployment, which shows when it was scaled."""
    replicas = size(deployment)
    return {DESIRED: str(replicas), MOST: str(replicas + limits_of(deployment).surge)}


def read_noted_count(replica_set: JSON, name: str) -> int | None:
    """Return a count that was noted in an annotation, None where there is none that is one."""
    found = annotations_of(replica_set).get(name, "")
    return int(found) if _COUNT.fullmatch(found) and int(found) < 2**31 else None
