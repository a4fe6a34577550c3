"""What dooms a version before any clock, what is named as its cause, and what a signal goes by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.registry import unseen
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import CleanText, ContainerStatus, Pod, Template
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Crash, trouble_of
from gate.core.rollout.early_evidence import early_causes, has_evidence
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.observations import Kind, Listed, Vanished
from gate.core.rollout.policy import FailFast, Policy, Requirement
from tests.table import each
from tests.unit.core.rollout.failing_scenes import (
    BEHIND,
    FAILED,
    NOT_FOUND,
    POLICY,
    PROGRESSING,
    QUOTA,
    denied,
    scene,
)
from tests.unit.core.world import (
    WEB,
    Scene,
    after,
    container,
    crashing,
    later,
    pod,
    pods,
    replica_set,
    template,
    terminated,
    waiting,
)


def of(made: Template, scene: Scene) -> Scene:
    """Let the scene be one of another template."""
    new, *old = scene.sets
    sets = (replace(new, template=made), *old)
    return replace(scene, web=replace(scene.web, template=made), sets=sets, made=made)


# -- whose pods, and how many ----------------------------------------------------------------------

BARE = Scene(
    web=replace(BEHIND, updated_replicas=0), sets=(), pods=tuple(pods(2, crashing(), owner_uid=""))
)


TOLERANT = Policy(requirement=Requirement(tolerate=Share(50, percent=True)))


def restarts(limit: int | None) -> Policy:
    """Return a policy by which so many restarts doom a pod, None for any number of them."""
    return Policy(fail_fast=FailFast(crash_restarts=limit, readiness_losses=None))


@pytest.mark.contract("B40", "B80", "B81", "B82", "B83", "B112", "B113")
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
        ("half, tolerated", scene(*pods(2, crashing()), pod(7), policy=TOLERANT), PROGRESSING),
        ("more than half", scene(*pods(3, crashing()), pod(7), policy=TOLERANT), FAILED),
        ("below the limit", scene(*pods(2, crashing(4)), policy=restarts(5)), PROGRESSING),
        ("at the limit", scene(*pods(2, crashing(5)), policy=restarts(5)), FAILED),
        ("no limit", scene(*pods(2, crashing(99)), policy=restarts(None)), PROGRESSING),
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


# -- crashes ---------------------------------------------------------------------------------------


@pytest.mark.contract("B83", "B745", "B1374")
def test_restarts_of_before_our_write_do_not_count() -> None:
    """A no-op or `verify` does not doom what restarted long ago; three more do.

    On the way back these are counted again, and told as what the run saw.
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
    assert verdict.causes[0].crash == Crash(name, is_init=True, has_last_words=False)


@pytest.mark.contract("B86")
def test_out_of_memory_is_the_cause() -> None:
    """The rule is the crash loop; what was wrong underneath is the memory."""
    killed = crashing(last_terminated=terminated("OOMKilled", 137))
    verdict = scene(*pods(2, killed)).verdict()
    assert (verdict.reason, verdict.causes[0].reason) == (Reason.CRASH_LOOP, Reason.OUT_OF_MEMORY)
    assert "exit code 137" in verdict.causes[0].message


@pytest.mark.contract("B86")
def test_what_dooms_a_version_is_its_most_telling_cause_under_the_name_of_the_rule() -> None:
    """All else of that cause stays: its message, its pods, and the container that ended."""
    killed = crashing(last_terminated=terminated("OOMKilled", 137))
    rollout = scene(*pods(2, killed)).seen()
    doomed = rollout.new.fatal(rollout.snapshot, 1.0, 0)
    (cause, *_) = rollout.causes(1.0)
    assert cause.crash == Crash("web", is_init=False, has_last_words=False)
    assert doomed == replace(cause, reason=Reason.CRASH_LOOP)


@pytest.mark.contract("B99")
def test_injected_containers_are_reported_and_never_fail_fast() -> None:
    """A sidecar that the template does not name is somebody else's."""
    rollout = scene(*pods(4, container(), crashing(9, name="istio-proxy"))).seen()
    verdict = rollout.verdict(100.0)
    assert verdict.kind is PROGRESSING
    assert verdict.causes[0].reason is Reason.CRASH_LOOP
    assert "istio-proxy" in verdict.causes[0].message
    assert "injected" in verdict.causes[0].message


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


@pytest.mark.contract("B115")
def test_what_could_not_be_read_fails_nothing() -> None:
    """A Deployment that nobody could read is unknown; no clock runs out on it."""
    rollout = Scene(total_seconds=10.0).rollout()
    unread = replace(rollout, snapshot=unseen(WEB))
    verdict = unread.verdict(1000.0)
    assert (verdict.kind, verdict.reason) == (PROGRESSING, Reason.PROGRESSING)


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
        (pod(0, container(ready=False)), "running, but not ready"),
        (pod(0, waiting("ContainerCreating")), "not started yet"),
        (pod(0, crashing(1)), "web: Error, exit code 1, 1 restart"),
        (
            pod(0, crashing(2, last_terminated=terminated(message="no database"))),
            "web: Error, exit code 1, 2 restarts: no database",
        ),
        (pod(0, waiting("ErrImagePull", NOT_FOUND)), "shop/web:2: not found"),
    ],
)
def test_a_cause_says_what_a_reader_needs(look: Pod, message: str) -> None:
    """How it ended, how often, in whose words, and for how many of the new pods."""
    first = scene(look).seen().causes(1.0)[0]
    assert first.message == f"{message} (1 of 1 created pods)"
    crash = Crash("web", is_init=False, has_last_words="database" in message)
    assert first.crash == (crash if "exit code" in message else None)
    assert (first.reason is Reason.NOT_STARTED) == message.startswith("not started")


@pytest.mark.contract("B98")
def test_a_pod_that_finds_no_node_waits_for_the_clocks() -> None:
    """Never fails fast, and is named as the cause."""
    lost = pods(4, waiting(""), unschedulable=CleanText("0/3 nodes are available"))
    verdict = scene(*lost).verdict(500.0, seen_at=1.0)
    assert verdict.kind is PROGRESSING
    assert verdict.causes[0].reason is Reason.UNSCHEDULABLE


ONCE_FAILED: dict[str, Any] = {"restarts": 1, "last_terminated": terminated()}
ONCE_ENDED: dict[str, Any] = {"restarts": 1, "last_terminated": terminated("Completed", 0)}


@pytest.mark.contract("B151")
@each(
    ("case", "scene_", "speaks"),
    [
        ("crash", scene(pod(0, crashing(1))), True),
        ("image", scene(pod(0, waiting("ErrImagePull", "EOF"))), True),
        ("config", scene(pod(0, waiting("CreateContainerConfigError"))), True),
        ("policy", denied(POLICY), True),
        ("quota", denied(QUOTA), False),
        ("injected", scene(pod(0, container(), crashing(9, name="istio-proxy"))), False),
        ("not ready", scene(pod(0, container(ready=False))), False),
        ("nothing", scene(), False),
        ("runs again", scene(pod(0, container(ready=False, **ONCE_FAILED))), True),
        ("ready again", scene(pod(0, container(**ONCE_FAILED))), False),
        (
            "injected runs again",
            scene(pod(0, container(), container("istio-proxy", ready=False, **ONCE_FAILED))),
            False,
        ),
        ("deleted", scene(pod(0, container(ready=False, **ONCE_FAILED), deleting=True)), False),
        ("ended well", scene(pod(0, container(ready=False, **ONCE_ENDED))), False),
    ],
)
def test_what_speaks_against_a_version_for_a_signal(case: str, scene_: Scene, speaks: bool) -> None:
    """Trouble that has not run out of its grace is evidence already; slowness is none.

    Nor is a crash forgotten while its container runs again, before that is ready.
    """
    assert has_evidence(scene_.seen(), 2.0) is speaks, case


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
