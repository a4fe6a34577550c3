"""`rehearse`: the user's manifest and gate against a sandbox, in virtual time."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TextIO

from gate.app.console import Console
from gate.app.finishing import concluded, style_of
from gate.app.played import Played
from gate.app.rehearsal.bound import longest_seconds
from gate.app.rehearsal.row import came_too_late, row_of
from gate.app.rehearsal.stage import Stage, actors_of
from gate.app.rehearsal.trouble import TROUBLES, Trouble, asked_for
from gate.app.world import World
from gate.config import Settings
from gate.core.outcome import EXIT_CODES, Outcome
from gate.errors import UsageError
from gate.manifests.allowed import require_allowed
from gate.manifests.images import with_images
from gate.manifests.load import load
from gate.report.rehearsals import RehearsalResult, Rehearsals, document, rehearsals_text
from gate.sandbox.cluster import Cluster
from gate.sandbox.scenario import scenario as scenarios
from gate.sandbox.scenario.scenario import Scenario
from gate.sandbox.times import Names, Timers

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What one rehearsal came to, and how long one like it may take at worst."""

    row: RehearsalResult
    warnings: Sequence[str]
    at_worst_seconds: float


class Rehearsing:
    """Rehearses one manifest, each time on a stage of its own."""

    def __init__(self, world: World, settings: Settings) -> None:
        """Read the manifest; UsageError for what is wrong with it."""
        self._world = world
        self._settings = settings.model_copy(update={"output": "json", "report": ()})
        self._stdin = world.stdin.read() if "-" in settings.file else b""
        manifest = load(settings.file, stdin=io.BytesIO(self._stdin))
        require_allowed(manifest, settings.allow_kind)
        placed = with_images(manifest, settings.image).objects
        self._actors = tuple(actors_of(placed, settings.namespace or DEFAULT_NAMESPACE))
        if not any(actor.is_deployment for actor in self._actors):
            raise UsageError("nothing to rehearse: the manifest has no Deployment")

    def of(self, trouble: Trouble, lines: TextIO, scenario: Scenario | None = None) -> Rehearsed:
        """Rehearse one trouble, or a scenario of the user's; the run's lines go to `lines`."""
        played = Played.of(Cluster(Timers(), Names()))
        try:
            stage = Stage(played, self._actors)
            stage.set_up(trouble.before)
            if scenario is None:
                stage.play_out(trouble)
            else:
                stage.play(scenario)
            out = io.StringIO()
            stage.run(self._settings, self._stdin, out, lines, self._world.delivered)
            result: dict[str, Any] = json.loads(out.getvalue())
            at_worst = longest_seconds(self._settings, stage.stored)
            late = came_too_late(trouble, result)
            warnings = [*([late] if late else []), *result["warnings"]]
            return Rehearsed(row_of(trouble, result), warnings, at_worst)
        finally:
            played.clock.end()


def rehearse(world: World, settings: Settings) -> int:
    """Rehearse what the settings ask for, and print what came of it."""

    def prepare(console: Console, _stack: ExitStack) -> int:
        rehearsing = Rehearsing(world, settings)
        if settings.all_:
            found = [rehearsing.of(trouble, io.StringIO()) for trouble in TROUBLES.values()]
        else:
            found = [_one(rehearsing, settings, _lines(world, settings))]
        told = document([each.row for each in found], found[0].warnings, found[0].at_worst_seconds)
        _print(console, settings, told)
        return _exit_code(told) if settings.all_ else told["rehearsals"][0]["exit_code"]

    return concluded(world, "rehearse", settings, prepare)


def _one(rehearsing: Rehearsing, settings: Settings, lines: TextIO) -> Rehearsed:
    if settings.scenario:
        trouble = Trouble(settings.scenario, "what the scenario file says")
        return rehearsing.of(trouble, lines, scenarios.load(settings.scenario))
    return rehearsing.of(asked_for(settings.with_ or "good"), lines)


def _lines(world: World, settings: Settings) -> TextIO:
    return io.StringIO() if settings.quiet else world.stderr


def _print(console: Console, settings: Settings, told: Rehearsals) -> None:
    if settings.output == "json":
        console.write(json.dumps(told, indent=2) + "\n")
    else:
        console.write(rehearsals_text(told, style_of(console.stdout, settings)))


def _exit_code(told: Rehearsals) -> int:
    """Return 0 where every failure is caught and nothing harmless is taken for one, else 6."""
    fine = all(each["as_expected"] for each in told["rehearsals"])
    return EXIT_CODES[Outcome.VERIFIED if fine else Outcome.FAILED]
