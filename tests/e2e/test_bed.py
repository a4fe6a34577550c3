"""The bed itself: what its audit log and its programs promise to tests."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tests.cluster import access, programs
from tests.cluster.audit import Trail
from tests.cluster.command import Program
from tests.cluster.kubelet.api import JSON, from_kubeconfig
from tests.cluster.objects import Objects

Deployment = Callable[..., JSON]
Manifest = Callable[..., Path]


def test_the_audit_log_answers_for_the_invariants(
    audit: Trail,
    namespace: str,
    deployment: Deployment,
    write_kubeconfig: Callable[..., Path],
    tmp_path: Path,
) -> None:
    """Rollbacks, dry runs and what the gate keeps for itself are told apart."""
    apply = "application/apply-patch+yaml"
    with from_kubeconfig(write_kubeconfig(access.GATE), tmp_path, "rollout-gate/0") as api:
        objects = Objects(api, namespace)
        web = objects.path("deployments", "web") + "?fieldManager=rollout-gate"
        api.json("PATCH", web, deployment(image="shop/web:1"), apply)
        api.json("PATCH", web + "&dryRun=All", deployment(image="shop/web:2"), apply)
        api.json("PATCH", web + "&force=true", deployment(image="shop/web:2"), apply)
        objects.create("leases", {"metadata": {"name": "rollout-gate.deployment.web"}})
        objects.create("configmaps", {"metadata": {"name": "stray"}})
    requests = audit.requests()
    assert len(requests) == 5
    assert len(requests.writes()) == 4
    [rollback] = requests.rollbacks(namespace, "web")
    assert isinstance(rollback.body, dict)
    assert rollback.body["spec"]["template"]["spec"]["containers"][0]["image"] == "shop/web:2"
    assert rollback.answer
    assert rollback.answer["metadata"]["generation"] == 2
    assert [each.resource for each in requests.writes().of_objects()] == [
        "deployments",
        "deployments",
        "configmaps",
    ]


def has_ended(pid: int, timeout_seconds: float = 10.0) -> bool:
    """Whether a process, not necessarily a child, is gone or goes within the time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], timeout_seconds)[0])
    finally:
        os.close(handle)


def test_a_killed_run_leaves_no_process(tmp_path: Path) -> None:
    """The servers of a cluster end with the process that started them, even by SIGKILL."""
    python = Program((sys.executable,), os.environ, programs.REPOSITORY)
    with python.start("-m", "tests.cluster", "--folder", tmp_path / "bed") as bed:
        bed.wait_for_line("export KUBECONFIG=")
        children = children_of(bed.pid)
        bed.send(signal.SIGKILL)
        bed.wait()
    assert len(children) == 4
    assert all(map(has_ended, children))


def children_of(pid: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]
