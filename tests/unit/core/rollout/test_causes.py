"""What is named as the cause of a failure, and what is evidence enough for a signal."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.objects import CleanText, Pod
from gate.core.model.outcome import Reason
from gate.core.rollout.early_evidence import early_causes, has_evidence
from tests.table import each
from tests.unit.core.rollout.failing_scenes import (
    NOT_FOUND,
    POLICY,
    PROGRESSING,
    QUOTA,
    denied,
    scene,
)
from tests.unit.core.world import Scene, container, crashing, pod, pods, terminated, waiting


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
