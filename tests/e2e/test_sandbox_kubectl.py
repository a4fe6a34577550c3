"""Real kubectl against the sandbox: a script of usual commands says what it says elsewhere.

It is run with the kubectl of the control plane's own version, and with one of an earlier minor.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster import access, programs
from tests.cluster.build import BuildError, earlier_kubectl
from tests.cluster.cluster import Cluster
from tests.cluster.command import Program
from tests.e2e.kubectl_script import SCRIPT, Said, Step, run, write_manifests
from tests.e2e.sandbox_server import sandbox_server
from tests.table import check_each

pytestmark = pytest.mark.newest_only("the sandbox does as the newest Kubernetes")

SAME, EARLIER = "same-version", "earlier-version"

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Beds:
    """One kubectl, asked about two clusters."""

    real: Program
    sandbox: Program

    def each(self) -> Mapping[str, Program]:
        """Return both by name."""
        return {"real": self.real, "sandbox": self.sandbox}


@pytest.fixture(scope="module")
def sandbox_kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the kubeconfig of a sandbox that runs in real time."""
    path = tmp_path_factory.mktemp("sandbox") / "kubeconfig"
    path.touch(mode=0o600)
    with sandbox_server() as endpoint:
        path.write_text(endpoint.kubeconfig)
        yield path


@pytest.fixture(scope="module", params=[SAME, EARLIER])
def beds(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    sandbox_kubeconfig: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Beds:
    """Return a kubectl for both clusters, in a folder with the script's manifests."""
    folder = tmp_path_factory.mktemp("kubectl")
    write_manifests(folder)
    real = folder / "kubeconfig"
    real.touch(mode=0o600)
    real.write_text(cluster.kubeconfig(access.ADMIN))
    binary = cluster.kubectl if request.param == SAME else _earlier()
    kubectl = functools.partial(programs.kubectl, binary, cwd=folder)
    return Beds(kubectl(kubeconfig=real), kubectl(kubeconfig=sandbox_kubeconfig))


def _earlier() -> Path:
    """Return it; only who brings programs of their own, and no Go, goes without."""
    try:
        return earlier_kubectl()
    except BuildError as error:
        if os.environ.get("KUBEBUILDER_ASSETS"):
            pytest.skip(f"there is no second kubectl here, and none can be built: {error}")
        raise


@pytest.mark.contract("B302")
def test_kubectl_says_the_same(beds: Beds) -> None:
    """Each command of the script has the same exit code and says the same about both clusters."""
    namespace = f"kubectl-{os.getpid()}-{next(_numbers)}"

    def play(kubectl: Program) -> dict[str, Said]:
        return {step.name: run(step, kubectl, namespace) for step in SCRIPT}

    with ThreadPoolExecutor() as pool:
        played, real = pool.map(play, (beds.sandbox, beds.real))

    def check(step: Step) -> None:
        assert played[step.name] == real[step.name]

    check_each(check, [(step.name, step) for step in SCRIPT])


def test_a_watch_prints_changes_as_they_come(beds: Beds) -> None:
    """`get --watch` prints a row for what is there and a row for each change."""
    for kubectl in (beds.real, beds.sandbox):
        name = f"watched-{os.getpid()}-{next(_numbers)}"
        kubectl("create", "configmap", name, "-n", "default", check=True)
        watch = ("get", "configmap", name, "-n", "default", "--watch")
        with kubectl.start(*watch) as watching:
            watching.wait_for_line(rf"^{name} +0 +\d+s")
            patch = '{"data": {"a": "1"}}'
            kubectl("patch", "configmap", name, "-n", "default", "-p", patch, check=True)
            watching.wait_for_line(rf"^{name} +1 +\d+s")
        kubectl("delete", "configmap", name, "-n", "default", check=True)


def test_a_followed_log_ends_with_its_pod(beds: Beds) -> None:
    """`logs --follow` prints what is there, waits, and ends when the pod is gone."""
    for bed, kubectl in beds.each().items():
        name = f"talks-{os.getpid()}-{next(_numbers)}"
        kubectl("run", name, "--image=shop/talks:1", "-n", "default", check=True)
        ready = ("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=60s")
        kubectl(*ready, "-n", "default", check=True)
        with kubectl.start("logs", name, "--follow", "-n", "default") as following:
            following.wait_for_line("attempt 0 starts")
            if bed == "sandbox":
                kubectl("delete", "pod", name, "--now", "-n", "default", check=True)
                assert following.wait().exit_code == 0
        kubectl("delete", "pod", name, "--ignore-not-found", "--now", "-n", "default", check=True)
