"""The program as a process, with the sandbox on a socket."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sandbox.face import Answer, Request, Timers
from tests.e2e.sandbox_server import sandbox_server
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen

ROOT = Path(__file__).parents[3]
LONGEST_SECONDS = 60
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"


@dataclass(frozen=True, slots=True)
class OnASocket:
    """A server as `sandbox.server` takes it; the scene is set before it is served."""

    server: Server

    @property
    def timers(self) -> Timers:
        """The time of the sandbox, which is real from now on."""
        return self.server.played.cluster.timers

    def renew_admin_token(self, token: str) -> None:
        """Accept this token alone as the administrator's."""
        self.server.played.cluster.renew_admin_token(token)

    def handle(self, request: Request) -> Answer:
        """Answer from the script, else from the sandbox."""
        return self.server.through(request, self.server.played.cluster.handle)


class Start(Protocol):
    """Starts the program; options are those of `subprocess.Popen`."""

    def __call__(
        self, *arguments: str, program: Sequence[str] = ("-m", "gate"), **options: Any
    ) -> subprocess.Popen[str]:
        """Return the process, which is killed at the end of the test if it still runs."""


@contextmanager
def kubeconfig_of(server: Server, folder: Path) -> Iterator[Path]:
    """Serve within the block; yield the kubeconfig that leads there."""
    with sandbox_server(cluster=OnASocket(server)) as endpoint:
        path = folder / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(endpoint.kubeconfig)
        yield path


@contextmanager
def starting(kubeconfig: Path, folder: Path) -> Iterator[Start]:
    """Yield what starts the program in a folder."""
    started: list[subprocess.Popen[str]] = []

    def run(
        *arguments: str, program: Sequence[str] = ("-m", "gate"), **options: Any
    ) -> subprocess.Popen[str]:
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
        environ["KUBECONFIG"] = str(kubeconfig)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, *program, *arguments]
        process = subprocess.Popen(
            command, text=True, env=environ, cwd=folder, **{**streams, **options}
        )
        started.append(process)
        return process

    try:
        yield run
    finally:
        for process in started:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end; return the exit code, stdout and stderr."""
    out, err = process.communicate(timeout=LONGEST_SECONDS)
    return process.returncode, out, err


def applying(*arguments: str) -> list[str]:
    """Return the arguments of an apply with a document."""
    return ["apply", "-n", "shop", "--output", "json", *arguments]


def arrival(server: Server, is_meant: Callable[[Seen], bool]) -> threading.Event:
    """Return what is set when a request of that kind arrives."""
    arrived = threading.Event()

    def happen(seen: Seen) -> None:
        if is_meant(seen):
            arrived.set()

    server.on_request = happen
    return arrived
