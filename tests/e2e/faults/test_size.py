"""Much at once, and much in a row: memory, requests and what is left behind stay bounded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bed.expectations import assert_verified
from tests.bed.scene import Scene, web
from tests.cluster import manifests
from tests.cluster.programs import REPOSITORY
from tests.e2e.conftest import GateWith
from tests.faults.proxy import Proxy
from tests.faults.request import WRITES

DOCUMENTS, PODS = 500, 2_000
MOST_MEBIBYTES = 250
REQUESTS_A_DOCUMENT = 4
"""What it is now, the dry run, the apply, the last look."""
REQUESTS_BESIDE = 50
"""What any rollout takes; reads and watches that are opened again add one a second at most."""
MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open(sys.argv[1], "w").write(str(peak))
sys.exit(code)
"""


@pytest.mark.fault(45)
@pytest.mark.contract("B515")
def test_five_hundred_documents_and_two_thousand_pods(
    scene: Scene, gate_with: GateWith, kubeconfig: Path, proxy: Proxy
) -> None:
    """Requests grow with the documents alone, memory hardly with either."""
    names = [f"settings-{number}" for number in range(DOCUMENTS - 1)]
    bodies = [manifests.config_map(name, {"mode": "one"}) for name in names]
    path = scene.manifest(web(2, replicas=PODS, progress_deadline_seconds=600), *bodies)
    peak = scene.folder / "peak"
    gate = gate_with(kubeconfig, sys.executable, "-c", MEASURED, str(peak))
    result = gate("apply", "-f", path, "--output", "json", timeout_seconds=560)
    assert_verified(result)
    assert int(peak.read_text()) / 1024 < MOST_MEBIBYTES
    assert len(proxy.log.like(WRITES)) == DOCUMENTS
    most = REQUESTS_A_DOCUMENT * DOCUMENTS + REQUESTS_BESIDE + result.duration_seconds
    assert len(proxy.log) < most


ATTEMPTS = 20
END_SECONDS = 600.0


@pytest.mark.contract("B517")
def test_nothing_is_left_behind() -> None:
    """No wrong verdict, thread or descriptor; the growth of so few says nothing about memory."""
    command = [sys.executable, "-m", "tests.soak", str(ATTEMPTS)]
    ended = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=END_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{ATTEMPTS} attempts" in ended.stdout
