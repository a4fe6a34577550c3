"""A Deployment's revisions as what they are: ReplicaSets."""

from __future__ import annotations

from typing import cast

from gate.core.model.objects import ReplicaSet
from gate.core.rollout.workload_kind import View


def current_of(view: View) -> ReplicaSet | None:
    """Return the ReplicaSet of the live template, None if it was not seen."""
    return cast("ReplicaSet | None", view.current())


def owned_by(view: View) -> tuple[ReplicaSet, ...]:
    """Return the Deployment's ReplicaSets."""
    return cast("tuple[ReplicaSet, ...]", view.list_owned())
