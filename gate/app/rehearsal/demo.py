"""`demo`: the first minute with the gate, on this terminal and in this process alone."""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import yaml

from gate.app.rehearsal.paced import Paced
from gate.app.rehearsal.stage import Actor, Stage
from gate.app.rehearsal.trouble import CAUGHT, Before, Trouble, asked_for
from gate.app.rehearsal.virtual_world import Played
from gate.app.runtime.command_end import run_query
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console
from gate.app.runtime.live_tree import of_terminal
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.errors import UsageError
from gate.manifests.kinds.rules import LintCode
from gate.signals import SIGNAL_BASE
from gate.virtual_time import VirtualClock
from sandbox.face import JSON, Cluster, Key, Names, Timers

SPEED: Final = 10.0
USUAL: Final = "crash"
GOOD, BAD = "1.4.0", "1.5.0"
_PROGRAM: Final = "rollout-gate"
_LAST: Final = (
    "That was the gate. What would it make of your own manifest?\n$ {} rehearse -f MANIFEST --all"
)


def program_name(started: str, path: str | None) -> str:
    """Return what a shell has to be given to run this program again.

    `started` is the program as it was started (`sys.argv[0]`), `path` the PATH of the shell: from a
    checkout, as by `make demo`, the program's name alone is not found.
    """
    program = Path(started)
    if (program.parent.name, program.name) == ("gate", "__main__.py"):
        return "python -m gate"
    if program.name != _PROGRAM or shutil.which(_PROGRAM, path=path):
        return _PROGRAM
    shown = program.absolute()
    return str(shown.relative_to(Path.cwd()) if shown.is_relative_to(Path.cwd()) else shown)


def demo(world: World, settings: Settings, name: str) -> int:
    """Play one scenario; return 0 if the gate did its job."""

    def query(start: CommandStart) -> int:
        trouble = asked_for(name or USUAL, with_checks=False)
        if trouble.checks is not None:
            hint = "rollout-gate rehearse has it for yours"
            why = "the demo has no health checks"
            raise UsageError(f"{trouble} cannot be rehearsed here: {why}", hint=hint)
        timers = Timers()
        clock = VirtualClock(schedule=Paced(timers, world.clock, SPEED), started=timers.started)
        start.stack.callback(clock.end)
        show = _Show(start.console, world, settings, Played(Cluster(timers, Names()), clock))
        return show.play(trouble)

    return run_query(world, "demo", settings, query)


class _Show:
    """One sandbox, and what is played in it."""

    def __init__(self, console: Console, world: World, settings: Settings, played: Played) -> None:
        silent = {"file": ("-",), "silence": frozenset(LintCode), "output": "text"}
        self._settings = settings.with_values(**silent)
        self._console = console
        self._world = world
        self._program = program_name(sys.argv[0], world.environ.get("PATH"))
        web = Actor(Key("deployments.apps", "default", "web"), _web(BAD))
        self._stage = Stage(played, [web])

    def play(self, trouble: Trouble) -> int:
        """Deploy the good version, then the one with the trouble."""
        self._say(f"A cluster in this process; its time passes {SPEED:g} times as fast as yours.")
        if trouble.before is not Before.NOTHING:
            self._say("A good version first:")
            code = self._deploy(GOOD)
            if code:
                return code
        if trouble.before is Before.TIMED_OUT:
            self._say("Then a version that times out, rolled out by somebody without a gate.")
            self._stage.time_out()
        self._say(f"Now version {BAD} ({trouble.name}): {trouble.says}.")
        self._stage.play_out(trouble)
        return self._decide_exit_code(trouble, self._deploy(BAD))

    def _deploy(self, version: str) -> int:
        command = f"{self._program} apply -f web.yaml"
        if version != GOOD:
            command = f"sed s/{GOOD}/{version}/ web.yaml | {self._program} apply -f -"
        self._say(f"$ {command}")
        manifest = yaml.safe_dump(_web(version), sort_keys=False).encode()
        world = self._world
        code = self._stage.run(
            self._settings,
            replace(world.streams, stdin=io.BytesIO(manifest)),
            world.delivered,
            of_terminal(world.environ),
        )
        self._console.write(f"$ echo $?\n{code}\n")
        if code >= SIGNAL_BASE:
            self._say("Interrupted: the cluster ends here, and nothing of it is left.")
        return code

    def _decide_exit_code(self, trouble: Trouble, code: int) -> int:
        """Return 0 if the run ended as the trouble should end; the signal's code after a signal."""
        if code >= SIGNAL_BASE:
            return code
        verified = code == EXIT_CODES[Outcome.VERIFIED]
        caught = code in {EXIT_CODES[outcome] for outcome in CAUGHT}
        if not trouble.end.is_met(verified=verified, caught=caught):
            return EXIT_CODES[Outcome.FAILED]
        self._say(_LAST.format(self._program))
        return EXIT_CODES[Outcome.VERIFIED]

    def _say(self, line: str) -> None:
        self._console.write(f"\n{line}\n")


def _web(version: str) -> JSON:
    container = {
        "name": "web",
        "image": f"shop/web:{version}",
        "ports": [{"containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
    }
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 4,
            "minReadySeconds": 5,
            "progressDeadlineSeconds": 60,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
