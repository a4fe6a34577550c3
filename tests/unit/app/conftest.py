"""Commands of the app, run in this process on a sandbox in virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import responses
import yaml

from gate import log
from gate.app import entry
from gate.app.runtime.world import World, outside
from gate.config import load
from sandbox.face import JSON
from tests.bed.bed import Bed
from tests.unit.app.bodies import web
from tests.unit.app.metrics import Metrics
from tests.unit.app.processes import Start, kubeconfig_of, starting
from tests.unit.app.server import Server

Manifest = Callable[..., str]


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

    @property
    def warnings(self) -> list[str]:
        """The warnings of its document."""
        found: list[str] = self.document["warnings"]
        return found


def assert_refused(ended: Ended, server: Server, reason: str, *words: str, code: int = 3) -> None:
    """The end says so on stderr and in the document, and nothing was written."""
    assert server.writes() == []
    document = ended.document
    found = (ended.code, document["exit_code"], document["outcome"], document["reason"])
    assert found == (code, code, "refused" if code == 3 else "usage", reason), ended.err
    for word in words:
        assert word in ended.err


def assert_passed(ended: Ended, server: Server) -> None:
    """Nothing refused the manifest, and nothing was written."""
    assert server.writes() == []
    assert ended.code == 0, ended.err
    assert ended.document["outcome"] == "observed"


@dataclass(frozen=True)
class Gate:
    """Runs a command with options as a file would have them; names come after it.

    `output` is json unless told otherwise; `environ` is the environment, else empty.
    """

    run: Callable[..., Ended]
    manifest: Manifest

    def __call__(self, command: str, *names: Any, **options: Any) -> Ended:
        """Run any command."""
        return self.run(command, *names, **options)

    def apply(self, *objects: JSON, **options: Any) -> Ended:
        """Apply a manifest of these objects."""
        return self.run("apply", file=[self.manifest(*objects)], **options)

    def preflight(self, *objects: JSON, **options: Any) -> Ended:
        """Preflight a manifest of these objects."""
        return self.run("preflight", file=[self.manifest(*objects)], **options)


@pytest.fixture
def server(bed: Bed) -> Server:
    """Return the API server of a sandbox with the namespace shop."""
    return Server(bed)


@pytest.fixture
def gate(server: Server, tmp_path: Path, manifest: Manifest) -> Gate:
    """Return a runner of commands against the server; checks are asked as in a real run."""

    def run(command: str, *names: Any, **options: Any) -> Ended:
        environ: dict[str, str] = options.pop("environ", {})
        settings = load(command, {"output": "json", **options}, environ={}, folder=tmp_path)

        def work(world: World) -> int:
            form, level = settings.log_format, settings.log_level
            log.configure(form, level, quiet=settings.quiet, stream=world.streams.stderr)
            here = replace(world, environ=environ, sources=outside().sources)
            code: int = getattr(entry, command)(here, settings, *names)
            return code

        server.running = server.played.start(work, user=server.user)
        code = server.running.finish()
        return Ended(code, server.running.stdout.getvalue(), server.running.stderr.getvalue())

    return Gate(run, manifest)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], tmp_path: Path, manifest: Manifest) -> Iterator[Gate]:
    """Return a runner of commands that need no cluster, in real time."""

    def run(command: str, *names: Any, **options: Any) -> Ended:
        environ: dict[str, str] = options.pop("environ", {})
        settings = load(command, {"output": "json", **options}, environ={}, folder=tmp_path)
        log.configure(settings.log_format, settings.log_level, quiet=settings.quiet)
        capsys.readouterr()
        world = replace(outside(), environ=environ)
        code = getattr(entry, command)(world, settings, *names)
        return Ended(code, *capsys.readouterr())

    yield Gate(run, manifest)
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
def start(server: Server, tmp_path: Path) -> Iterator[Start]:
    """Return what starts the program against version 1 of web, which serves."""
    server.put(web())
    with kubeconfig_of(server, tmp_path) as kubeconfig, starting(kubeconfig, tmp_path) as run:
        yield run
