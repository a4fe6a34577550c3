"""Configuration whose way back the server does not do: a workload waits for it, or does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gate.core.ssa.last_applied import LAST_APPLIED
from sandbox.face import Answer
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_rolled_back, assert_verified, warned
from tests.bed.scene import MERGE_PATCH, Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.proxy import Proxy, counted, says, status, writes
from tests.scenarios.versions import CRASH

HAND: Final = "kubectl-edit"
BY_HAND: Final = "configmap/settings is as it was before: kubectl-edit wrote that"
LOOK_SECONDS: Final = 8.0
"""In which a gate that waits has read again what it waits for."""
NOT_BACK: Final = ("could not be restored", "not as this run", "as others have it", "left alone")
"""What is said of an object that is not as it was before."""
BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "90s")
DOWN: Final = status(500, 'Internal error occurred: failed calling webhook "policy.example": EOF')
MODES: Final = ("one", "two")
WAITING: Final = "waiting     writing configmap/settings, deployment/web"


def keep_off(proxy: Proxy, answer: Answer) -> None:
    """Answer so to each write of a ConfigMap after that of the way out."""
    proxy.on(counted(writes("/configmaps"), lambda number: number > 1), says(answer))


@contextmanager
def waiting(proxy: Proxy) -> Iterator[CheckedRun]:
    """Fail a version whose configuration gets errors on its way back; the gate waits for that."""
    assert_verified(proxy.scene.apply(settings("one"), web()))
    keep_off(proxy, DOWN)
    bad = settings("two"), web(2, behaviour=CRASH)
    with proxy.scene.applying(*bad, flags=BUDGETS) as running:
        running.wait_for_line(WAITING, 60.0)
        yield running


def mend(
    scene: Scene, value: str | None = "one", key: str = "mode", note: str | None = None
) -> None:
    """Write a value into the configuration by hand, or remove it, with kubectl's annotation."""
    patch: JSON = {"data": {key: value}}
    if note is not None:
        patch["metadata"] = {"annotations": {LAST_APPLIED: note}}
    path = scene.objects.path("configmaps", "settings")
    scene.client.json("PATCH", f"{path}?fieldManager={HAND}", patch, MERGE_PATCH)


def assert_mended(result: Result) -> None:
    """Expect that all is as before, and that the report says who wrote the configuration."""
    assert warned(result, BY_HAND)
    assert_back(result)


def assert_back(result: Result) -> None:
    """Expect that all is as before, and that the report says of nothing that it is not."""
    assert_rolled_back(result, "CrashLoop")
    assert not [words for words in NOT_BACK if warned(result, words)]
