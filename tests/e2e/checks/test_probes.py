"""Smoke tests and HTTP checks: what teams have before they have metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bed.expectations import assert_runs, assert_verified, warned
from tests.bed.scene import Scene, web
from tests.e2e.checks.conftest import FrontBefore
from tests.e2e.checks.trial import assert_failed_by_a_check, row
from tests.engines.front import Reply


def smoke_test(folder: Path, code: int) -> Path:
    """Write a program that notes its environment and ends with an exit code."""
    path = folder / "smoke"
    path.write_text(f"#!/bin/sh\nenv >{folder}/seen\necho checkout answers $1\nexit {code}\n")
    path.chmod(0o700)
    return path


@pytest.mark.contract("B486", "B425", "B426")
@pytest.mark.parametrize("code", [0, 1])
def test_a_smoke_test_decides(scene: Scene, code: int) -> None:
    """A command's exit code keeps the version or rolls it back; it knows what it judges."""
    scene.serve(web())
    command = f"{smoke_test(scene.folder, code)} 'not at all'"
    result = scene.apply(web(2), flags=["--smoke-test", command])
    if code:
        ended = assert_failed_by_a_check(result, "smoke: exit 1: checkout answers not at all")
    else:
        ended = assert_verified(result)
    assert row(result, "smoke")["measurements"] == 1
    seen = dict(
        line.split("=", 1)
        for line in (scene.folder / "seen").read_text().splitlines()
        if "=" in line
    )
    assert seen["ROLLOUT_GATE_NAMESPACE"] == scene.objects.namespace
    assert seen["ROLLOUT_GATE_DEPLOYMENT"] == "web"
    assert seen["ROLLOUT_GATE_REPLICASET"] == ended["new"]["name"]
    assert seen["ROLLOUT_GATE_REVISION"] == "2"
    assert seen["ROLLOUT_GATE_PHASE"] == "bake"
    assert "KUBECONFIG" not in seen


@pytest.mark.contract("B486", "B424")
@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 4)])
def test_an_http_check_decides(scene: Scene, front: FrontBefore, status: int, code: int) -> None:
    """What the service answers keeps the version or rolls it back."""
    scene.serve(web())
    service = front(answer=lambda _: Reply(status, [b"{}"]))
    flags = ["--http-check", f"{service.url}/healthz", "--check-interval", "1s", "--bake", "3s"]
    result = scene.apply(web(2), flags=flags)
    assert result.exit_code == code, str(result)
    [said] = result.document["checks"]
    assert (said["source"], said["verdict"]) == ("http", "fail" if code else "pass")
    assert str(status) in said["message"]
    assert_runs(scene.objects, "shop/web:1" if code else "shop/web:2")
    assert warned(result, "what serves now fails it already") == bool(code)
