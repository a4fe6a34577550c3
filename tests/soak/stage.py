"""The stage of the soak: a sandbox, a failing proxy in front of it, and the ways to both."""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster.access import self_signed
from tests.cluster.kubelet.api import Api, from_kubeconfig
from tests.cluster.programs import REPOSITORY
from tests.cluster.server_process import ServerError, ServerProcess

SPEED = 20.0
START_SECONDS = 30.0
NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Stage:
    """`kubeconfig` leads through the proxy, `api` straight to the sandbox."""

    api: Api
    kubeconfig: Path
    folder: Path


@contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """Start both processes, and end them with the block."""
    straight = folder / "sandbox.kubeconfig"
    command = [sys.executable, "-m", "gate", "sandbox", "--kubeconfig", str(straight)]
    command += ["--speed", f"{SPEED:g}"]
    with _running(ServerProcess("sandbox", command, folder, REPOSITORY)) as sandbox:
        _wait_until(lambda: straight.exists() and "server" in straight.read_text(), sandbox)
        document = yaml.safe_load(straight.read_text())
        [cluster] = document["clusters"]
        authority = folder / "sandbox.crt"
        authority.write_bytes(base64.b64decode(cluster["cluster"]["certificate-authority-data"]))
        own = self_signed(folder)
        command = [sys.executable, "-m", "tests.soak.failing", cluster["cluster"]["server"]]
        command += [str(authority), str(own.certificate), str(own.key)]
        with _running(ServerProcess("proxy", command, folder, REPOSITORY)) as proxy:
            _wait_until(lambda: proxy.log_tail().startswith("https://"), proxy)
            url = proxy.log_tail().splitlines()[0]
            cluster["cluster"] = {"server": url, "certificate-authority": str(own.certificate)}
            kubeconfig = folder / "soak.kubeconfig"
            kubeconfig.touch(mode=0o600)
            kubeconfig.write_text(yaml.safe_dump(document))
            with closing(from_kubeconfig(straight, folder, "tests/soak")) as api:
                yield Stage(api, kubeconfig, folder)


@contextmanager
def _running(process: ServerProcess) -> Iterator[ServerProcess]:
    process.start()
    try:
        yield process
    finally:
        process.stop()


def _wait_until(is_ready: Callable[[], bool], process: ServerProcess) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_ready():
        process.check()
        if time.monotonic() > deadline:
            raise ServerError(f"{process.name} does not begin; its log ends:\n{process.log_tail()}")
        time.sleep(0.05)  # a process offers nothing to wait on before it serves
