"""Random walks: single operations of somebody else at chosen moments, and every invariant holds."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.bed.checked_gate import CheckedRun
from tests.bed.scene import Scene, template_annotation, web
from tests.cluster.kubelet.api import ApiError
from tests.e2e.faults.conftest import Play
from tests.faults import answers, connections, streams
from tests.faults.request import ANYTHING, APPLIES, READING, WATCHES
from tests.faults.script import Rule

WALKS = 12
MOMENTS = ("applied +deployment/web", "progress", "pod +pod/|available", "failed|rollback|retry")
BAKE_SECONDS = 6
"""An operation that was begun in mid-flight has to be done before the verdict that it is for."""
REFUSED = frozenset({404, 409, 422})
POSSIBLE = frozenset({0, 4, 5, 6, 8})

Operation = Callable[[Scene], object]


def kubectl(*words: str) -> Operation:
    """Return the operation of a command line, whose refusal is nobody's fault."""
    return lambda scene: scene.kubectl(*words)


def annotated(scene: Scene) -> object:
    """Add a reloader's annotation to the template."""
    return scene.change_as("reloader", template_annotation("reloader/hash", "abc"))


def applied(scene: Scene) -> object:
    """Apply a good version as another tool."""
    return scene.change_as("argocd-controller", {"spec": web(4)["spec"]})


OPERATIONS: dict[str, Operation] = {
    "nothing": lambda _: None,
    "image": kubectl("set", "image", "deployment/web", "web=shop/web:3"),
    "back": kubectl("set", "image", "deployment/web", "web=shop/web:1"),
    "variable": kubectl("set", "env", "deployment/web", "EXTRA=1"),
    "up": kubectl("scale", "deployment/web", "--replicas=3"),
    "zero": kubectl("scale", "deployment/web", "--replicas=0"),
    "pause": kubectl("rollout", "pause", "deployment/web"),
    "resume": kubectl("rollout", "resume", "deployment/web"),
    "delete": kubectl("delete", "deployment/web", "--wait=false"),
    "annotated": annotated,
    "applied": applied,
    "pods": kubectl("delete", "pods", "--all", "--wait=false"),
}

NOISE = [
    Rule(WATCHES, streams.CutAfter(seconds=1.5), chance=0.5),
    Rule(APPLIES, connections.LostAnswer(), chance=0.2),
    Rule(READING, answers.page(503), chance=0.1, after=APPLIES),
    Rule(ANYTHING, connections.Drop(), chance=0.03, after=APPLIES),
]


@pytest.mark.fault(46)
@pytest.mark.contract("B516")
@pytest.mark.parametrize("seed", range(WALKS))
def test_a_walk(scene: Scene, play: Play, seed: int) -> None:
    """Three operations over a network that fails; the run is held against the invariants."""
    chance = random.Random(seed)
    scene.serve(web())
    play(*NOISE, seed=seed)
    behaviour = chance.choice(["ready=1", "crash=0.1", "never-ready", "ready-then-crash=2"])
    body = web(2, behaviour=behaviour, progress_deadline_seconds=5)
    flags = ("--timeout", "15s", "--rollback-timeout", "10s", "--bake", f"{BAKE_SECONDS}s")
    with scene.applying(body, flags=flags) as running:
        for moment in sorted(chance.sample(MOMENTS, 3), key=MOMENTS.index):
            if not reaches(running, moment):
                break
            disturb(scene, chance.choice(sorted(OPERATIONS)))
        result = running.wait()
    assert result.exit_code in POSSIBLE, str(result)


def reaches(running: CheckedRun, moment: str) -> bool:
    """Wait for a line; False where the run ends without it."""
    try:
        running.wait_for_line(moment)
    except EOFError:
        return False
    return True


def disturb(scene: Scene, name: str) -> None:
    """Do an operation; what is gone cannot be changed."""
    try:
        OPERATIONS[name](scene)
    except ApiError as error:
        if error.status not in REFUSED:
            raise
