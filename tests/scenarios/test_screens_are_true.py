"""What a verdict says of evidence, causes, objects and places, held against what happened."""

from __future__ import annotations

import re

import pytest

from tests.bed.scene import ALL_AT_ONCE, Scene, quota, settings, web
from tests.cluster import manifests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.versions import CRASH, one_line

pytestmark = pytest.mark.sandbox_only("namespaces of the test's own, and a user for all of them")


@pytest.mark.contract("B740", "B741")
def test_two_logs_of_a_container_are_told_apart(scene: Scene) -> None:
    """The run before and the one after it; the reader is sent to the container that crashed."""
    scene.serve(web())
    first = {"name": "migrate", "image": "shop/migrate:1"}
    path = scene.manifest(web(2, behaviour="init-crash", init_containers=[first]))
    text = scene.gate("apply", "-f", path).stdout
    headings = [line.strip() for line in text.splitlines() if "log of pod/" in line]
    assert len(headings) == len(set(headings)) == 2, text
    assert headings[0].removeprefix("evidence").strip().startswith("previous log of pod/")
    assert "read the log of init container migrate" in text
    assert "restarting failed container migrate" in " ".join(text.split())
    assert "_shop(" not in text


@pytest.mark.contract("B740", "B742")
def test_a_quota_is_no_fault_of_the_version(scene: Scene) -> None:
    """Each try of the controller has a pod of another name: told once, with the quota's words."""
    scene.objects.create("resourcequotas", quota({"pods": "1"}))
    result = scene.gate("apply", "-f", scene.manifest(web()))
    assert result.exit_code == 6, str(result)
    text = one_line(result.stdout)
    assert "the new version of deployment/web did not complete" in text
    assert " is bad" not in text
    assert text.count("FailedCreate") == 1
    assert "used: pods=1, limited: pods=1" in text.partition("FailedCreate")[2]


@pytest.mark.contract("B743")
def test_all_that_was_created_is_named(scene: Scene) -> None:
    """Who cleans up by hand needs each name."""
    names = [f"settings-{number}" for number in range(12)]
    maps = [manifests.config_map(name, {"a": "b"}) for name in names]
    result = scene.gate("apply", "-f", scene.manifest(*maps, web()))
    created = " ".join(result.stdout.partition("  created")[2].partition("  unjudged")[0].split())
    assert [name for name in names if f"configmap/{name}" not in created] == [], str(result)


@pytest.mark.contract("B743")
def test_a_long_image_is_whole_off_a_terminal(scene: Scene) -> None:
    """It is there to be compared and copied."""
    image = f"registry.example.com/{'team/' * 12}web@sha256:{'0123456789abcdef' * 4}"
    scene.serve(web(image=image))
    for command in ("status", "history"):
        assert image in scene.gate(command, "web").stdout, command


@pytest.mark.contract("B744")
def test_the_first_line_names_where_the_objects_go(scene: Scene) -> None:
    """The context's namespace is another one."""
    for name in ("north", "south"):
        scene.objects.create("namespaces", {"metadata": {"name": name}})
    path = scene.manifest(web(namespace="north"), web(namespace="south"))
    first, *_ = scene.gate("preflight", "-f", path).stderr.splitlines()
    assert "namespaces north, south," in first
    assert scene.objects.namespace not in first.partition("namespaces")[2]


BLOG = "blog"
_OBJECT = re.compile(r"\b(?:deployment|configmap)/[a-z]+\b(?! in (?:blog|shop)\b|, namespace )")


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
