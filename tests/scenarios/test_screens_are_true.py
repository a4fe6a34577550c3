"""What a verdict says of evidence, causes, objects and places, held against what happened."""

from __future__ import annotations

import pytest

from tests.bed.scene import Scene, quota, web
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON

pytestmark = pytest.mark.sandbox_only("the words of a run; the same code says them anywhere")


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
    assert "read the end of the log of init container migrate" in text
    assert "restarting failed container migrate" in " ".join(text.split())
    assert "_shop(" not in text


@pytest.mark.contract("B740", "B742")
def test_a_quota_is_no_fault_of_the_version(scene: Scene) -> None:
    """Each try of the controller has a pod of another name: told once, with the quota's words."""
    scene.objects.create("resourcequotas", quota({"pods": "1"}))
    result = scene.gate("apply", "-f", scene.manifest(web()))
    assert result.exit_code == 6, str(result)
    text = " ".join(result.stdout.split())
    assert "the new version of deployment/web did not complete" in text
    assert " is bad" not in text
    assert text.count("FailedCreate") == 1
    assert "used: pods=1, limited: pods=1" in text.partition("FailedCreate")[2]


@pytest.mark.contract("B742")
def test_a_crash_is_a_fault_of_the_version(scene: Scene) -> None:
    """It ran, and ended by itself."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="crash"))
    result = scene.gate("apply", "-f", path, "--on-failure", "keep")
    assert "the new version of deployment/web failed" in " ".join(result.stdout.split())


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


@pytest.mark.contract("B745")
def test_restarts_of_before_are_told_apart(scene: Scene) -> None:
    """Somebody else's version had crashed before anybody looked."""
    scene.serve(web())
    scene.change(web(2, behaviour="crash", progress_deadline_seconds=600))
    scene.objects.wait("pods", lambda pods: any(_restarts(pod) >= 1 for pod in pods), 60.0)
    result = scene.gate("verify", "web", timeout_seconds=1000.0)
    assert result.exit_code == 6, str(result)
    assert "3 of them while this run watched" in " ".join(result.stdout.split())


def _restarts(pod: JSON) -> int:
    statuses = pod.get("status", {}).get("containerStatuses", [])
    return sum(each["restartCount"] for each in statuses)
