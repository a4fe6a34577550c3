"""Configuration whose way back the server does not do: a workload waits for it, or does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sandbox.face import Answer
from tests.bed.checked_gate import CheckedRun
from tests.bed.expectations import assert_verified
from tests.bed.scene import settings, web
from tests.scenarios.proxy import Proxy, counted, says, status, writes
from tests.scenarios.versions import CRASH

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
