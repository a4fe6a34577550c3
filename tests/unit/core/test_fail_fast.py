"""What dooms a version before any clock: its own pods, two of them or all, each with its grace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.deployment.reasons import DeploymentReason
from gate.core.kinds.registry import unseen
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import CleanText, ContainerStatus, Pod, Template
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import trouble_of
from gate.core.rollout.early_evidence import early_causes, has_evidence
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.policy import FailFast, Policy, Requirement
from tests.table import each
from tests.unit.core.world import (
    WEB,
    Scene,
    after,
    condition,
    container,
    crashing,
    deployment,
    later,
    old_replica_set,
    pod,
    pods,
    replica_set,
    template,
    terminated,
    waiting,
    warning,
)

FAILED, PROGRESSING = VerdictKind.FAILED, VerdictKind.PROGRESSING
NOT_FOUND = 'failed to resolve reference "shop/web:typo": shop/web:typo: not found'
BEHIND = deployment(available_replicas=3, updated_replicas=2, status_replicas=5)
"""A Deployment in the middle of its rollout."""


def scene(*doomed: Any, **more: Any) -> Scene:
    """Make a rollout in its middle with these new pods, old ones still serving."""
    ready = sum(one.ready for one in doomed)
    sets = (replica_set(available_replicas=0, ready_replicas=ready), old_replica_set(replicas=3))
    return Scene(web=BEHIND, sets=sets, pods=doomed, **more)


def of(made: Template, scene: Scene) -> Scene:
    """Let the scene be one of another template."""
    new, *old = scene.sets
    sets = (replace(new, template=made), *old)
    return replace(scene, web=replace(scene.web, template=made), sets=sets, made=made)


def fails_at(scene: Scene, moment: float) -> bool:
    """Tell whether it has not failed just before `moment` and has at it, all seen at 1 s."""
    rollout = scene.seen(1.0)
    before, at = rollout.verdict(moment - 0.001), rollout.verdict(moment)
    return before.kind is PROGRESSING and at.kind is FAILED and rollout.wake_at(1.0) <= moment


# -- whose pods, and how many ----------------------------------------------------------------------

BARE = Scene(
    web=replace(BEHIND, updated_replicas=0), sets=(), pods=tuple(pods(2, crashing(), owner_uid=""))
)


@pytest.mark.contract("B40", "B80", "B81", "B82", "B83")
@each(
    ("case", "found", "kind"),
    [
        ("one of four", scene(pod(0, crashing()), *pods(3, first=1)), PROGRESSING),
        ("two of four", scene(*pods(2, crashing()), *pods(2, first=2)), FAILED),
        ("all that exist", scene(pod(0, crashing())), FAILED),
        (
            "each run ends well",
            scene(*pods(2, crashing(last_terminated=terminated("Completed", 0)))),
            FAILED,
        ),
        ("two restarts", scene(*pods(2, crashing(2))), PROGRESSING),
        ("of the old version", scene(*pods(2, crashing(), owner_uid="web-1-uid")), PROGRESSING),
        ("of no controller", BARE, PROGRESSING),
        ("going", scene(*pods(3, crashing(), deleting=True), pod(7)), PROGRESSING),
        (
            "evicted",
            scene(*pods(3, crashing(), phase="Failed", reason=CleanText("Evicted")), pod(7)),
            PROGRESSING,
        ),
        ("beside what goes", scene(*pods(3, deleting=True), pod(7, crashing())), FAILED),
        (
            "not observed",
            replace(scene(*pods(4, crashing())), web=replace(BEHIND, generation=3)),
            PROGRESSING,
        ),
    ],
)
def test_two_pods_of_the_new_version_or_all_of_them_doom_it(
    case: str, found: Scene, kind: VerdictKind
) -> None:
    """One bad node is no bad version; what belongs to others, or goes, says nothing of it."""
    assert found.verdict().kind is kind, case


@pytest.mark.contract("B38", "B82")
def test_the_cause_is_told_of_a_pod_that_decided() -> None:
    """The first by name has not reached the limit yet: three restarts failed the others."""
    verdict = scene(pod(0, crashing(2)), *pods(2, crashing(3), first=1), pod(3)).verdict()
    assert (verdict.kind, verdict.reason, verdict.causes[0].pods) == (FAILED, Reason.CRASH_LOOP, 3)
    assert "3 restarts" in verdict.causes[0].message
    assert "2 of 4 created pods" in verdict.message


@pytest.mark.contract("B80")
def test_a_pod_that_is_gone_speaks_no_more() -> None:
    """Deleted pods take their evidence with them, by a watch line as by a list."""
    rollout = scene(*pods(2, crashing()), *pods(2, first=2)).seen()
    by_line = rollout.observe(Vanished(2.0, Kind.POD, "p0-uid"))
    by_list = rollout.observe(Listed(2.0, Kind.POD, WEB, tuple(pods(2, first=2))))
    assert [by_line.verdict(2.0).kind, by_list.verdict(2.0).kind] == [PROGRESSING] * 2
    assert by_list.new.count == len(by_list.new_pods()) == 2


@pytest.mark.contract("B113")
@pytest.mark.parametrize(("crashing_pods", "kind"), [(2, PROGRESSING), (3, FAILED)])
def test_tolerated_pods_may_fail(crashing_pods: int, kind: VerdictKind) -> None:
    """`--tolerate 50%` of 4 lets two pods fail while the rest goes on."""
    policy = Policy(requirement=Requirement(tolerate=Share(50, percent=True)))
    found = scene(*pods(crashing_pods, crashing()), pod(7), policy=policy).verdict()
    assert found.kind is kind


# -- crashes ---------------------------------------------------------------------------------------


@pytest.mark.contract("B83", "B745", "B1374")
def test_restarts_of_before_our_write_do_not_count() -> None:
    """A no-op or `verify` does not doom what restarted long ago; three more do.

    On the way back these are counted anew, and told as what the run saw.
    """
    old = pods(2, crashing(7))
    rollout = Scene(web=BEHIND, sets=(replica_set(),), before=tuple(old)).seen()
    assert rollout.verdict(1.0).kind is PROGRESSING
    two_more = [later(one, 200, containers=(crashing(9),)) for one in old]
    rollout = after(rollout, 2.0, *two_more)
    assert rollout.verdict(2.0).kind is PROGRESSING
    rollout = after(rollout, 3.0, *(later(one, 300, containers=(crashing(10),)) for one in old))
    assert rollout.verdict(3.0).kind is FAILED
    back = rollout.snapshot.begin(4.0)
    (track, _), (limits, made) = back.pods.values(), (FailFast(), template())
    assert track.restarts(track.pod.containers[0]) == 0
    trouble = trouble_of(track, made, limits)
    assert trouble is not None
    assert "10 restarts, 3 of them while this run watched" in trouble.message


@pytest.mark.contract("B87")
def test_one_restart_that_recovered_is_no_failure() -> None:
    """A container that runs again is well, whatever its past."""
    recovered = container(restarts=1, last_terminated=terminated())
    rollout = scene(*pods(2, recovered)).seen()
    assert rollout.verdict(1.0).kind is PROGRESSING
    assert not rollout.troubles


@pytest.mark.contract("B85")
@pytest.mark.parametrize("name", ["migrate", "mesh"])
def test_init_containers_and_native_sidecars_count(name: str) -> None:
    """A crashing init container of the template dooms as any other, and is named."""
    crashed = pods(2, container(ready=False), crashing(name=name, init=True))
    verdict = of(template(inits=["migrate", "mesh"]), scene(*crashed)).verdict()
    assert verdict.reason is Reason.CRASH_LOOP
    assert f"init container {name}" in verdict.message


@pytest.mark.contract("B86")
def test_out_of_memory_is_the_cause() -> None:
    """The rule is the crash loop; what was wrong underneath is the memory."""
    killed = crashing(last_terminated=terminated("OOMKilled", 137))
    verdict = scene(*pods(2, killed)).verdict()
    assert (verdict.reason, verdict.causes[0].reason) == (Reason.CRASH_LOOP, Reason.OUT_OF_MEMORY)
    assert "exit code 137" in verdict.causes[0].message


@pytest.mark.contract("B99")
def test_injected_containers_are_reported_and_never_fail_fast() -> None:
    """A sidecar that the template does not name is somebody else's."""
    rollout = scene(*pods(4, container(), crashing(9, name="istio-proxy"))).seen()
    verdict = rollout.verdict(100.0)
    assert verdict.kind is PROGRESSING
    assert verdict.causes[0].reason is Reason.CRASH_LOOP
    assert "istio-proxy" in verdict.causes[0].message
    assert "injected" in verdict.causes[0].message


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
def test_a_pull_error_that_recovered_starts_anew() -> None:
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
    made = replace(template(), containers=(*template().containers, template().containers[0]))
    named = replace(
        made, containers=(made.containers[0], replace(made.containers[1], name="helper"))
    )
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


# -- readiness -------------------------------------------------------------------------------------


def flapping(rollout: Rollout, times: int, *statuses: ContainerStatus) -> Rollout:
    """Let two pods win readiness and lose it, so many times; lost, they look like `statuses`."""
    version = 200
    for _ in range(times):
        for look in ((container(),), statuses):
            version += 1
            seen = [later(pod(number, *look), version) for number in range(2)]
            rollout = after(rollout, float(version), *seen)
    return rollout


@pytest.mark.contract("B93")
@pytest.mark.parametrize(("times", "kind"), [(2, PROGRESSING), (3, FAILED)])
def test_readiness_lost_three_times_dooms(times: int, kind: VerdictKind) -> None:
    """A probe that fails again and again after it passed."""
    rollout = flapping(scene().seen(), times, container(ready=False))
    verdict = rollout.verdict(300.0)
    assert verdict.kind is kind
    assert kind is PROGRESSING or verdict.reason is Reason.READINESS_LOST


@pytest.mark.contract("B93")
@pytest.mark.parametrize(
    "status",
    [crashing(0), crashing(1), container(ready=False, restarts=1)],
    ids=["down", "down-and-counted", "up-again"],
)
def test_readiness_that_goes_with_a_crash_is_a_crash(status: ContainerStatus) -> None:
    """A container that is down, or was, is not ready for another reason than its probe."""
    rollout = flapping(scene().seen(), 4, status)
    assert rollout.verdict(300.0).kind is PROGRESSING
    down = [later(pod(number, crashing(3)), 300) for number in range(2)]
    verdict = after(rollout, 301.0, *down).verdict(301.0)
    assert (verdict.kind, verdict.reason) == (FAILED, Reason.CRASH_LOOP)


def test_never_ready_is_no_lost_readiness() -> None:
    """What was never won cannot be lost."""
    rollout = scene(*pods(2, container(ready=False))).seen()
    for version in range(200, 210):
        rollout = after(rollout, 2.0, later(pod(0, container(ready=False)), version))
    assert rollout.verdict(100.0).kind is PROGRESSING


# -- denials ---------------------------------------------------------------------------------------


def denied(message: str, reason: str = "FailedCreate", **more: Any) -> Scene:
    """Make a rollout whose new ReplicaSet may not create pods."""
    failure = condition("ReplicaFailure", "True", reason, message)
    counters: dict[str, Any] = {"status_replicas": 1, "ready_replicas": 0, "available_replicas": 0}
    new = replace(replica_set(conditions=(failure,)), **counters)
    return Scene(web=BEHIND, sets=(new, old_replica_set(replicas=3)), **more)


POLICY = 'admission webhook "policy.example" denied the request: no latest tags'
WEBHOOK = 'failed calling webhook "policy.example": connection refused'
QUOTA = 'pods "web-2-x" is forbidden: exceeded quota: compute, requested: pods=1'


@pytest.mark.contract("B94", "B95")
@pytest.mark.parametrize(
    ("message", "fails_at"), [(WEBHOOK, 130.0), (QUOTA, 130.0), (POLICY, 16.0)]
)
def test_progress_starts_the_time_of_a_quota_or_webhook_anew(message: str, fails_at: float) -> None:
    """Denials are normal while old pods still count; what a policy forbids it will forbid again."""
    rollout = denied(message).seen(1.0)
    new = rollout.snapshot.current()
    assert new is not None
    rollout = after(rollout, 10.0, later(new, 200, status_replicas=2))
    assert rollout.verdict(fails_at - 0.1).kind is PROGRESSING
    assert rollout.verdict(fails_at).reason is Reason.POD_CREATE_DENIED


@pytest.mark.contract("B94")
def test_a_denial_that_ended_is_forgotten() -> None:
    """Its time starts anew should it come again."""
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


@pytest.mark.contract("B83", "B112")
def test_counts_can_be_set_and_switched_off() -> None:
    """Three restarts doom; five instead of three, or none at all that count."""
    assert scene(*pods(2, crashing(3))).verdict().kind is FAILED
    for limit, restarts, kind in ((5, 4, PROGRESSING), (5, 5, FAILED), (None, 99, PROGRESSING)):
        policy = Policy(fail_fast=FailFast(crash_restarts=limit, readiness_losses=None))
        found = scene(*pods(2, crashing(restarts)), policy=policy).verdict()
        assert found.kind is kind


@pytest.mark.contract("B38")
def test_causes_name_the_most_telling_first() -> None:
    """Memory before crashes, those before images, configuration, no node, and not ready."""
    looks = [
        pod(0, container(ready=False)),
        pod(1, waiting(""), unschedulable=CleanText("0/3 nodes are available")),
        pod(2, waiting("CreateContainerConfigError")),
        pod(3, waiting("ErrImagePull", NOT_FOUND)),
        pod(4, crashing(1)),
        pod(5, crashing(1, last_terminated=terminated("OOMKilled", 137))),
    ]
    assert [cause.reason for cause in scene(*looks).seen().causes(1.0)] == [
        Reason.OUT_OF_MEMORY,
        Reason.CRASH_LOOP,
        Reason.IMAGE_PULL,
        Reason.CONTAINER_CONFIG,
        Reason.UNSCHEDULABLE,
        Reason.NOT_READY,
    ]


@pytest.mark.contract("B38", "B1311")
@pytest.mark.parametrize(
    ("look", "message"),
    [
        (pod(0, container(ready=False)), "running, but not ready (1 of 1 created pods)"),
        (pod(0, waiting("ContainerCreating")), "not started yet (1 of 1 created pods)"),
        (pod(0, crashing(1)), "web: Error, exit code 1, 1 restart (1 of 1 created pods)"),
        (
            pod(0, crashing(2, last_terminated=terminated(message="no database"))),
            "web: Error, exit code 1, 2 restarts: no database (1 of 1 created pods)",
        ),
        (pod(0, waiting("ErrImagePull", NOT_FOUND)), "shop/web:2: not found (1 of 1 created pods)"),
    ],
)
def test_a_cause_says_what_a_reader_needs(look: Pod, message: str) -> None:
    """How it ended, how often, in whose words, and for how many of the new pods."""
    first = scene(look).seen().causes(1.0)[0]
    assert first.message == message
    assert (first.reason is Reason.NOT_STARTED) == message.startswith("not started")


@pytest.mark.contract("B98")
def test_a_pod_that_finds_no_node_waits_for_the_clocks() -> None:
    """Never fails fast, and is named as the cause."""
    lost = pods(4, waiting(""), unschedulable=CleanText("0/3 nodes are available"))
    verdict = scene(*lost).verdict(500.0, seen_at=1.0)
    assert verdict.kind is PROGRESSING
    assert verdict.causes[0].reason is Reason.UNSCHEDULABLE


@pytest.mark.contract("B115")
def test_what_could_not_be_read_fails_nothing() -> None:
    """A Deployment that nobody could read is unknown; no clock runs out on it."""
    rollout = Scene(total_seconds=10.0).rollout()
    unread = replace(rollout, snapshot=unseen(WEB))
    verdict = unread.verdict(1000.0)
    assert (verdict.kind, verdict.reason) == (PROGRESSING, Reason.PROGRESSING)


# -- for an interrupt ------------------------------------------------------------------------------


ONCE_FAILED: dict[str, Any] = {"restarts": 1, "last_terminated": terminated()}
ONCE_ENDED: dict[str, Any] = {"restarts": 1, "last_terminated": terminated("Completed", 0)}


@pytest.mark.contract("B151")
@pytest.mark.parametrize(
    ("scene_", "speaks"),
    [
        (scene(pod(0, crashing(1))), True),
        (scene(pod(0, waiting("ErrImagePull", "EOF"))), True),
        (scene(pod(0, waiting("CreateContainerConfigError"))), True),
        (denied(POLICY), True),
        (denied(QUOTA), False),
        (scene(pod(0, container(), crashing(9, name="istio-proxy"))), False),
        (scene(pod(0, container(ready=False))), False),
        (scene(), False),
        (scene(pod(0, container(ready=False, **ONCE_FAILED))), True),
        (scene(pod(0, container(**ONCE_FAILED))), False),
        (scene(pod(0, container(), container("istio-proxy", ready=False, **ONCE_FAILED))), False),
        (scene(pod(0, container(ready=False, **ONCE_FAILED), deleting=True)), False),
        (scene(pod(0, container(ready=False, **ONCE_ENDED))), False),
    ],
    ids=[
        "crash",
        "image",
        "config",
        "policy",
        "quota",
        "injected",
        "not-ready",
        "nothing",
        "runs-again",
        "ready-again",
        "injected-runs-again",
        "deleted",
        "ended-well",
    ],
)
def test_what_speaks_against_a_version_for_a_signal(scene_: Scene, speaks: bool) -> None:
    """Trouble that has not run out of its grace is evidence already; slowness is none.

    Nor is a crash forgotten while its container runs again, before that is ready.
    """
    assert has_evidence(scene_.seen(), 2.0) is speaks


@pytest.mark.contract("B1373")
def test_what_a_signal_goes_back_for_is_the_crash_and_not_what_runs_since() -> None:
    """One pod runs again, one was never ready: the crash comes first, each counts its own."""
    again = container(ready=False, **ONCE_FAILED)
    rollout = scene(pod(0, again), pod(1, container(ready=False))).seen()
    assert [one.reason for one in rollout.causes(2.0)] == [Reason.NOT_READY]
    causes = early_causes(rollout, 2.0)
    assert [(one.reason, one.pods) for one in causes] == [
        (Reason.CRASH_LOOP, 1),
        (Reason.NOT_READY, 1),
    ]
    assert "Error, exit code 1, 1 restart" in causes[0].message
    beside = denied(POLICY, pods=(pod(0, again),)).seen()
    assert [one.reason for one in early_causes(beside, 2.0)] == [
        Reason.CRASH_LOOP,
        Reason.POD_CREATE_DENIED,
    ]
