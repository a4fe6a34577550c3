"""A run over several namespaces says of each object in which it is, wherever a verdict names it."""

from __future__ import annotations

import re

import pytest

from tests.bed.bed import Bed
from tests.bed.scene import ALL_AT_ONCE, Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.bed import PlayedUsers
from tests.played.gate import PlayedGate
from tests.scenarios.versions import CRASH

pytestmark = pytest.mark.sandbox_only("namespaces of the test's own, and a user for all of them")

BLOG = "blog"
_OBJECT = re.compile(r"\b(?:deployment|configmap)/[a-z]+\b(?! in (?:blog|shop)\b|, namespace )")


@pytest.fixture
def program(bed: Bed) -> PlayedGate:
    """Return the gate as a program that may write into every namespace."""
    assert isinstance(bed.users, PlayedUsers)
    return bed.users.everything()[0]


def post(version: int = 1, **over: object) -> JSON:
    """Return a Deployment `post` in the namespace blog."""
    body = web(version, name="post", **over)
    body["metadata"]["namespace"] = BLOG
    return body


def shown(program: PlayedGate, scene: Scene, *bodies: JSON, flags: tuple[str, ...] = ()) -> Result:
    """Apply objects with the report as text on stdout."""
    return program("apply", "-f", scene.manifest(*bodies), *flags)


@pytest.mark.contract("B875")
def test_every_sentence_names_the_namespace(scene: Scene, program: PlayedGate) -> None:
    """Of a failure for which another one went back, and of the same again with what it left."""
    scene.objects.create("namespaces", {"metadata": {"name": BLOG}})
    assert shown(program, scene, web(), post()).exit_code == 0
    second = settings("x"), web(2), post(2, behaviour=CRASH, strategy=ALL_AT_ONCE)
    failed = shown(program, scene, *second)
    assert failed.exit_code == 4, str(failed)
    kept = shown(program, scene, *second, flags=("--on-failure", "keep"))
    assert kept.exit_code == 6, str(kept)
    assert "deployment/post in blog: this very template failed" in kept.stdout
    said = f"{failed}{kept}"
    unplaced = [line for line in said.splitlines() if _OBJECT.search(line) and "next" not in line]
    assert not unplaced, "\n".join(unplaced)


@pytest.mark.contract("B875")
def test_what_the_server_rejects_is_told_apart(scene: Scene, program: PlayedGate) -> None:
    """Its own words name an object alone, and the other one has the same name."""
    scene.objects.create("namespaces", {"metadata": {"name": BLOG}})
    twin = web()
    twin["metadata"]["namespace"] = BLOG
    del twin["spec"]["template"]["spec"]["containers"][0]["image"]
    result = shown(program, scene, web(), twin)
    assert result.exit_code == 3, str(result)
    assert 'error: deployment/web in blog: Deployment.apps "web" is invalid' in result.stderr
