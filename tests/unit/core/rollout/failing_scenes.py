"""Rollouts in their middle whose new pods have a trouble."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gate.core.rollout.judge import VerdictKind
from tests.unit.core.world import Scene, condition, deployment, old_replica_set, replica_set

FAILED, PROGRESSING = VerdictKind.FAILED, VerdictKind.PROGRESSING
NOT_FOUND = 'failed to resolve reference "shop/web:typo": shop/web:typo: not found'
BEHIND = deployment(available_replicas=3, updated_replicas=2, status_replicas=5)
"""A Deployment in the middle of its rollout."""


def scene(*doomed: Any, **more: Any) -> Scene:
    """Make a rollout in its middle with these new pods, old ones still serving."""
    ready = sum(one.ready for one in doomed)
    sets = (replica_set(available_replicas=0, ready_replicas=ready), old_replica_set(replicas=3))
    return Scene(web=BEHIND, sets=sets, pods=doomed, **more)


def fails_at(scene: Scene, moment: float) -> bool:
    """Tell whether it has not failed just before `moment` and has at it, all seen at 1 s."""
    rollout = scene.seen(1.0)
    before, at = rollout.verdict(moment - 0.001), rollout.verdict(moment)
    return before.kind is PROGRESSING and at.kind is FAILED and rollout.wake_at(1.0) <= moment


def denied(message: str, reason: str = "FailedCreate", **more: Any) -> Scene:
    """Make a rollout whose new ReplicaSet may not create pods."""
    failure = condition("ReplicaFailure", "True", reason, message)
    counters: dict[str, Any] = {"status_replicas": 1, "ready_replicas": 0, "available_replicas": 0}
    new = replace(replica_set(conditions=(failure,)), **counters)
    return Scene(web=BEHIND, sets=(new, old_replica_set(replicas=3)), **more)


POLICY = 'admission webhook "policy.example" denied the request: no latest tags'
WEBHOOK = 'failed calling webhook "policy.example": connection refused'
QUOTA = 'pods "web-2-x" is forbidden: exceeded quota: compute, requested: pods=1'
