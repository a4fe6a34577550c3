"""A stage for one screen: a cluster in virtual time, and what each command on it showed.

A command runs as a step of a GitHub job, so that its annotations and its step summary are there
too. What differs from run to run (the attempt's id, the folder, the version) is replaced by a name.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import html5lib

from gate import __version__
from gate.app.rehearsal.measured import Scripted
from gate.app.rehearsal.pod_traffic import PodTraffic
from gate.app.rehearsal.virtual_world import Handle, Running, User
from gate.app.runtime.world import Streams, World
from gate.cli.main import run
from gate.clock import Clock
from gate.config import Settings, all_checks
from gate.wire.secret_values import SecretValues
from sandbox.face import JSON_TYPE, Answer, Measurement, Request
from tests.bed.bed import Bed
from tests.bed.scene import Scene
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON
from tests.played.bed import NAMESPACE, PlayedUsers, sandbox_bed, scene_through
from tests.played.gate import PlayedRun

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

END_SECONDS: Final = 3600.0
"""How long a command may take, of virtual time."""
JOB: Final = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_ACTOR": "alice",
    "GITHUB_JOB": "deploy",
    "GITHUB_REPOSITORY": "shop/web",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_RUN_ID": "7",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_SHA": "0f1e2d3c4b5a69788796a5b4c3d2e1f001234567",
    "HOME": "/home/deployer",
    "LANG": "C.UTF-8",
}
_AWAY: Final = Answer(
    503,
    json.dumps({"kind": "Status", "message": "apiserver is shutting down"}).encode(),
    {"content-type": JSON_TYPE},
)
_FRAMES: Final = re.compile(r"^::(stop-commands::)?[0-9a-f]{32}(::)?\n", re.MULTILINE)
_GROUPS: Final = re.compile(r"^::group::.*?^::endgroup::\n", re.MULTILINE | re.DOTALL)
_ANNOTATIONS: Final = re.compile(r"^::(?:error|warning) .*\n", re.MULTILINE)
_TIMELINE: Final = re.compile(r"<details><summary>Timeline</summary>.*?</details>\n", re.DOTALL)
"""In a summary: it has the lines of the log once more."""
_ATTEMPT: Final = re.compile(r"(?<![-0-9a-f])[0-9a-f]{12}\b")
_BLOCKS: Final = frozenset(
    ("dd", "div", "dt", "figcaption", "h1", "h2", "h3", "li", "p", "pre")
).union(("section", "summary", "text", "title", "tr"))
"""What begins a line of a page."""
_SILENT: Final = frozenset({"style", "script"})


@dataclass
class Stage:
    """One cluster; `measurements` are what health checks are answered, others are answered well."""

    scene: Scene
    bed: Bed
    users: PlayedUsers
    folder: Path
    measurements: dict[str, Measurement] = field(default_factory=dict)
    is_away: Callable[[Request], bool] = lambda _: False
    _parts: list[str] = field(default_factory=list)
    _traffic: PodTraffic = field(init=False)

    def __post_init__(self) -> None:
        """Follow the pods from the beginning, as what scrapes them would."""
        self._traffic = PodTraffic(self.users.played.cluster.api)

    def screen(self) -> str:
        """Return all that was shown so far."""
        return "\n".join(self._parts)

    def note(self, text: str) -> None:
        """Show what somebody else did in between."""
        self._parts.append(f"# {text}\n")

    def file(self, name: str, *bodies: JSON) -> str:
        """Write a manifest into the folder of the commands and return its name."""
        (self.folder / name).write_text(manifests.yaml_text(*bodies))
        return name

    def apply(self, *bodies: JSON, flags: str = "", page: bool = False) -> None:
        """Run `apply` of `web.yaml` with these objects to its end, and show it."""
        with self.applying(*bodies, flags=flags, page=page):
            pass

    def applying(
        self, *bodies: JSON, flags: str = "", page: bool = False
    ) -> contextlib.AbstractContextManager[PlayedRun]:
        """Run `apply` of `web.yaml` with these objects; leaving the block waits for its end."""
        self.file("web.yaml", *bodies)
        return self.running(f"apply -f web.yaml {flags}".rstrip(), page=page)

    def run(self, line: str, *, page: bool = False, user: str = "") -> None:
        """Run a command line to its end, and show it; `user` is a token."""
        with self.running(line, page=page, user=user):
            pass

    @contextlib.contextmanager
    def running(self, line: str, *, page: bool = False, user: str = "") -> Iterator[PlayedRun]:
        """Run a command line; leaving the block waits for its end, and shows it.

        With `page` the HTML report is written, and its text is shown.
        """
        summary, html = self.folder / "summary.md", self.folder / "page.html"
        summary.unlink(missing_ok=True)
        started = self.start(line, summary, html if page else None, user)
        with started as running:
            yield running
            result = running.wait(END_SECONDS)
        text = [f"$ rollout-gate {line}\n", _step_log(result.stdout, result.exit_code)]
        if summary.exists():
            text += ["\n== GitHub step summary ==\n", _TIMELINE.sub("", summary.read_text())]
        if page:
            text += ["\n== text of the page ==\n", visible(html.read_text())]
        self._parts.append(self._normal("".join(text)))

    def start(
        self, line: str, summary: Path | None = None, html: Path | None = None, user: str = ""
    ) -> PlayedRun:
        """Start a command line of which nothing is shown."""
        words = [*shlex.split(line), *([f"--report=html={html}"] if html else [])]
        played = self.users.played
        token = user or self.bed_token
        running = Running(played.clock)
        running.stderr = running.stdout  # as on a terminal
        environ = {**JOB, **({"GITHUB_STEP_SUMMARY": str(summary)} if summary else {})}

        def command(world: World) -> int:
            return run(words, replace(world, environ=environ), environ)

        world = played.world(
            running.signals,
            Streams(io.BytesIO(), running.stdout, running.stdout),
            user=User(token, NAMESPACE, self._through),
            sources=self._sources,
        )
        running.begin(command, world)
        return PlayedRun(running, played, tuple(words))

    @property
    def bed_token(self) -> str:
        """The token of a user with every right."""
        _, (token,) = self.users.everything()
        return token

    def _through(self, request: Request, handle: Handle) -> Answer:
        return _AWAY if self.is_away(request) else handle(request)

    def _sources(self, settings: Settings, _: Clock, __: SecretValues) -> Scripted:
        return Scripted(all_checks(settings), self.measurements.get, self._traffic)

    def _normal(self, text: str) -> str:
        for found, name in (
            (str(self.folder), "/work"),
            (f"rollout-gate {__version__}", "rollout-gate VERSION"),
        ):
            text = text.replace(found, name)
        lines = _ATTEMPT.sub("ATTEMPT", text).splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines)


@contextlib.contextmanager
def staged(folder: Path) -> Iterator[Stage]:
    """Play a cluster of its own, whose commands run in `folder`."""
    with contextlib.chdir(folder), sandbox_bed(folder, at_length=True) as bed:
        assert isinstance(bed.users, PlayedUsers)
        yield Stage(scene_through(bed), bed, bed.users, folder)


def visible(page: str) -> str:
    """Return what a reader of a page sees, a block a line."""
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    text = "".join(_texts(tree))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def _texts(element: Element) -> Iterator[str]:
    if element.tag in _SILENT:
        return
    edge = "\n" if element.tag in _BLOCKS else " "
    yield edge
    yield element.text or ""
    for child in element:
        yield from _texts(child)
        yield child.tail or ""
    yield edge


def _step_log(output: str, exit_code: int) -> str:
    """Return the log of a step and its exit code, with what GitHub takes out of it at the end."""
    text = _FRAMES.sub("", output)
    rest = _ANNOTATIONS.sub("", _GROUPS.sub("", text))
    annotations = _ANNOTATIONS.findall(text)
    heading = ["\n== annotations ==\n"] if annotations else []
    return "".join([rest, f"[exit {exit_code}]\n", *heading, *annotations])


Play = Callable[[Stage], None]
"""Plays what a screen shows."""
