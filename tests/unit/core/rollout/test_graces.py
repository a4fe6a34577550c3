"""How long each trouble is waited for before it dooms a version, and from when on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.deployment.reasons import DeploymentReason
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import FailFast, Policy
from tests.table import each
from tests.unit.core.rollout.failing_scenes import (
    BEHIND,
    FAILED,
    NOT_FOUND,
    POLICY,
    PROGRESSING,
    QUOTA,
    WEBHOOK,
    denied,
    fails_at,
    scene,
)
from tests.unit.core.world import (
    Scene,
    after,
    condition,
    deployment,
    later,
    old_replica_set,
    pods,
    replica_set,
    template,
    waiting,
    warning,
)

# -- images and configuration ----------------------------------------------------------------------


@pytest.mark.contract("B90")
def test_the_last_message_of_a_pull_tells_its_class() -> None:
    """While a pod backs off, the class is that of the error before; the clock goes on."""
    rollout = scene(*pods(2, waiting("ErrImagePull", "503 Service Unavailable"))).seen(1.0)
    refused = [
        later(one, 200, containers=(waiting("ErrImagePull", NOT_FOUND),))
        for one in pods(2, ready=False)
    ]
    backing_off = [
        later(one, 300, containers=(waiting("ImagePullBackOff"),)) for one in pods(2, ready=False)
    ]
    rollout = after(after(rollout, 10.0, *refused), 20.0, *backing_off)
    assert rollout.verdict(30.9).kind is PROGRESSING
    verdict = rollout.verdict(31.0)
    assert (verdict.kind, verdict.reason) == (FAILED, Reason.IMAGE_PULL)
    assert "shop/web:2: not found" in verdict.message


@pytest.mark.contract("B90")
def test_an_event_tells_the_class_where_the_status_does_not() -> None:
    """Before Kubernetes 1.32 ImagePullBackOff names no cause; its event may come first."""
    starting = pods(2, waiting("ContainerCreating"))
    rollout = scene(*starting).seen(1.0)
    for number, one in enumerate(starting):
        event = warning(one, "Failed", f'Failed to pull image "x": {NOT_FOUND}', f"e{number}")
        rollout = rollout.observe(Observed(1.5, event))
    backing_off = [later(one, 200, containers=(waiting("ImagePullBackOff"),)) for one in starting]
    rollout = after(rollout, 2.0, *backing_off)
    assert rollout.verdict(31.9).kind is PROGRESSING
    assert rollout.verdict(32.0).reason is Reason.IMAGE_PULL


@pytest.mark.contract("B87")
def test_a_pull_error_that_recovered_starts_again() -> None:
    """Ten seconds of errors, then a running container, then errors again: 30 s from there."""
    failing = pods(2, waiting("ErrImagePull", NOT_FOUND))
    rollout = scene(*failing).seen(1.0)
    rollout = after(rollout, 11.0, *(later(one, 200) for one in pods(2)))
    assert rollout.verdict(40.0).kind is PROGRESSING
    rollout = after(rollout, 50.0, *(later(one, 300) for one in failing))
    assert rollout.verdict(79.9).kind is PROGRESSING
    assert rollout.verdict(80.0).kind is FAILED


def test_of_two_troubles_the_one_that_dooms_first_counts() -> None:
    """A pull with minutes to go does not hide a configuration that has run out of time."""
    two = (waiting("CreateContainerConfigError"), waiting("ErrImagePull", "EOF", name="helper"))
    [web] = template().containers
    named = replace(template(), containers=(web, replace(web, name="helper")))
    base = scene(*pods(2, *two))
    assert fails_at(replace(base, web=replace(BEHIND, template=named)), 121.0)


@pytest.mark.contract("B120")
def test_what_waited_before_our_write_has_its_whole_grace_again() -> None:
    """An old pod that pulled in vain for minutes does not doom a rollback to it at once."""
    starved = pods(2, waiting("ErrImagePull", NOT_FOUND))
    snapshot = scene(*starved).seen(1.0).snapshot
    applied = replace(scene().rollout().applied, at=100.0)
    rollout = Rollout.start(applied, replace(snapshot, written=False), Policy())
    assert rollout.verdict(129.9).kind is PROGRESSING
    assert rollout.verdict(130.0).reason is Reason.IMAGE_PULL


@pytest.mark.contract("B94", "B95")
@pytest.mark.parametrize(
    ("message", "fails_at"), [(WEBHOOK, 130.0), (QUOTA, 130.0), (POLICY, 16.0)]
)
def test_progress_restarts_the_time_of_a_quota_or_webhook(message: str, fails_at: float) -> None:
    """Denials are normal while old pods still count; what a policy forbids it will forbid again."""
    rollout = denied(message).seen(1.0)
    new = rollout.snapshot.current()
    assert new is not None
    rollout = after(rollout, 10.0, later(new, 200, status_replicas=2))
    assert rollout.verdict(fails_at - 0.1).kind is PROGRESSING
    assert rollout.verdict(fails_at).reason is Reason.POD_CREATE_DENIED


@pytest.mark.contract("B94")
def test_a_denial_that_ended_is_forgotten() -> None:
    """Its time starts again should it come again."""
    rollout = denied(POLICY).seen(1.0)
    new = rollout.snapshot.current()
    assert new is not None
    rollout = after(rollout, 10.0, later(new, 200, conditions=()))
    assert rollout.verdict(100.0).kind is PROGRESSING
    rollout = after(rollout, 110.0, later(new, 300))
    assert [rollout.verdict(at).kind for at in (124.9, 125.0)] == [PROGRESSING, FAILED]


@pytest.mark.contract("B80")
@pytest.mark.parametrize("where", ["old-replica-set", "failed-delete"])
def test_denials_that_are_not_of_new_pods_are_no_evidence(where: str) -> None:
    """Neither another ReplicaSet's failure nor a pod that cannot be deleted."""
    if where == "failed-delete":
        found = denied("cannot delete", "FailedDelete").verdict(100.0, seen_at=1.0)
    else:
        failure = condition("ReplicaFailure", "True", "FailedCreate", POLICY)
        sets = (replica_set(available_replicas=0), old_replica_set(conditions=(failure,)))
        found = Scene(web=BEHIND, sets=sets).verdict(100.0, seen_at=1.0)
    assert found.kind is PROGRESSING


@pytest.mark.contract("B97")
@pytest.mark.parametrize("observed", [1, 2], ids=["unobserved", "observed"])
def test_a_replica_set_that_cannot_be_created_gets_15_s(observed: int) -> None:
    """The one failure that shows before the generation is observed."""
    erring = condition("Progressing", "False", "ReplicaSetCreateError", "quota for replicasets")
    web = deployment(observed_generation=observed, conditions=(erring,), updated_replicas=0)
    scene_ = Scene(web=web, sets=(old_replica_set(replicas=4),), before=())
    rollout = after(scene_.rollout(), 5.0, later(web, 200))
    assert rollout.verdict(14.9).kind is PROGRESSING
    verdict = rollout.verdict(15.0)
    assert (verdict.kind, verdict.reason) == (FAILED, DeploymentReason.REPLICA_SET_CREATE_ERROR)
    assert verdict.causes[0].message == "quota for replicasets"


# -- graces and causes -----------------------------------------------------------------------------


def pulling(message: str, reason: str = "ErrImagePull") -> Scene:
    """Make a rollout whose two new pods do not get their image."""
    return scene(*pods(2, waiting(reason, message)))


def unconfigured(reason: str) -> Scene:
    """Make a rollout whose two new pods lack what configures them."""
    return scene(*pods(2, waiting(reason, 'secret "db" not found')))


NO_NAME = "invalid reference format: repository name (shop/W) must be lowercase"
GRACES: list[tuple[Scene, float, str, Reason, str]] = [
    *(
        (pulling("", reason), 0.0, "image_invalid_seconds", Reason.IMAGE_PULL, "")
        for reason in ("InvalidImageName", "ErrImageNeverPull")
    ),
    (
        pulling(
            f'Failed to apply default image tag "shop/W:2": couldn\'t parse image name: {NO_NAME}',
            "InvalidImageName",
        ),
        0.0,
        "image_invalid_seconds",
        Reason.IMAGE_PULL,
        NO_NAME,
    ),
    *(
        (pulling(message), 30.0, "image_refused_seconds", Reason.IMAGE_PULL, "")
        for message in (
            NOT_FOUND,
            "pull access denied, repository does not exist or may require authorization",
            "unexpected status from HEAD request: 401 Unauthorized",
            "manifest unknown",
        )
    ),
    *(
        (pulling(message), 300.0, "image_unclear_seconds", Reason.IMAGE_PULL, "")
        for message in (
            "toomanyrequests: You have reached your pull rate limit",
            "429 Too Many Requests: denied: try again later",
            "received unexpected HTTP status: 503 Service Unavailable",
            "dial tcp 10.0.0.1:443: i/o timeout",
            'failed to resolve reference "ghcr.io/forbidden/denied:1": unexpected EOF',
            "",
        )
    ),
    *(
        (unconfigured(reason), 120.0, "container_config_seconds", Reason.CONTAINER_CONFIG, '"db"')
        for reason in ("CreateContainerConfigError", "CreateContainerError")
    ),
    (denied(POLICY), 15.0, "denied_by_policy_seconds", Reason.POD_CREATE_DENIED, POLICY),
    (denied(WEBHOOK), 120.0, "denied_by_webhook_seconds", Reason.POD_CREATE_DENIED, WEBHOOK),
    (denied(QUOTA), 120.0, "denied_by_quota_seconds", Reason.POD_CREATE_DENIED, QUOTA),
]
"""What is wrong, how long it is waited for, the key that sets this, the reason and its words."""


@pytest.mark.contract("B88", "B89", "B90", "B92", "B94", "B95", "B112", "B1251")
@each(("found", "seconds", "key", "reason", "words"), GRACES)
def test_each_trouble_has_its_grace(
    found: Scene, seconds: float, key: str, reason: Reason, words: str
) -> None:
    """A registry that says no gets 30 s, one that is away five minutes; each can be set or off."""
    assert fails_at(found, 1.0 + seconds) or (seconds == 0.0 and found.verdict().kind is FAILED)
    verdict = found.verdict(1.0 + seconds, seen_at=1.0)
    assert verdict.reason is reason
    assert words in verdict.message

    def waiting_for(chosen: Any) -> Scene:
        return replace(found, policy=Policy(fail_fast=FailFast(**{key: chosen})))

    assert fails_at(waiting_for(7.0), 8.0)
    assert waiting_for(None).verdict(500.0, seen_at=1.0).kind is PROGRESSING
