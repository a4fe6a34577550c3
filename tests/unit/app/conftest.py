"""The scene of the app's tests: an API server in memory, and commands run against it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
import responses
import yaml

from gate import log
from gate.app import entry
from gate.app.runtime.world import outside
from gate.config import load
from tests.unit.app.metrics import Metrics
from tests.unit.app.server import JSON, ApiServer
from tests.unit.app.wire import URL, ByCall, OverHttp

Manifest = Callable[..., str]
Start = Callable[..., subprocess.Popen[str]]
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The result document; nothing else may be on stdout."""
        document: dict[str, Any] = json.loads(self.out)
        return document


class Gate(Protocol):
    """Runs a command with options as a file would have them; names come after it."""

    def __call__(self, command: str, *names: Any, **options: Any) -> Ended:
        """`output` is json unless it is told otherwise."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Return an API server with the namespace shop, which this process reaches by calls."""
    server = ApiServer()
    monkeypatch.setattr("gate.kube.api.Api.request", ByCall(server).request)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> str:
    """Return the path of a kubeconfig for the server, its namespace being shop."""
    return write_kubeconfig(tmp_path / "kubeconfig", URL)


def write_kubeconfig(file: Path, url: str) -> str:
    """Write a kubeconfig for a server and return its path."""
    context = {"cluster": "c", "user": "ci", "namespace": "shop"}
    document = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "ci", "user": {"token": "sesame"}}],
        "contexts": [{"name": "here", "context": context}],
    }
    file.touch(mode=0o600)
    file.write_text(json.dumps(document))
    return str(file)


@pytest.fixture
def gate(kubeconfig: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Gate]:
    """Return a runner of commands against the server."""

    def run(command: str, *names: Any, **options: Any) -> Ended:
        given = {"output": "json", **options}
        if command != "replay":
            given = {"kubeconfig": kubeconfig, "allow_insecure": True, **given}
        settings = load(command, given, environ={}, folder=tmp_path)
        log.configure(settings.log_format, settings.log_level, quiet=settings.quiet)
        capsys.readouterr()
        code = getattr(entry, command)(outside(), settings, *names)
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    yield run
    log.configure("console", "info")


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    """Return a writer of manifests; it returns their path."""

    def write(*objects: JSON, name: str = "web.yaml") -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(objects))
        return str(path)

    return write


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    """Return a Prometheus, in the place of whatever `requests` would reach."""
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield Metrics(mock)


@pytest.fixture
def start(server: ApiServer, tmp_path: Path) -> Iterator[Start]:
    """Return what starts the program in an empty folder, with the server on loopback."""
    started: list[subprocess.Popen[str]] = []
    listening = OverHttp(server)
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", listening.url)

    def run(
        *arguments: str, program: Sequence[str] = ("-m", "gate"), **options: Any
    ) -> subprocess.Popen[str]:
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "KUBECONFIG": kubeconfig}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, *program, *arguments]
        process = subprocess.Popen(
            command, text=True, env=environ, cwd=tmp_path, **{**streams, **options}
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    server.close()
    listening.close()
