"""`rehearse`: the user's manifest and gate against a sandbox, in virtual time."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, TextIO

from gate.app.preflight.manifest_reading import say_if_typed
from gate.app.rehearsal.bound import longest_seconds
from gate.app.rehearsal.measured import BASELINE
from gate.app.rehearsal.misuse import as_usage_error
from gate.app.rehearsal.row import at_fault, late_changes, remarks, row_of
from gate.app.rehearsal.stage import Stage, actors_of, requests_of, unlucky
from gate.app.rehearsal.trouble import TROUBLES, Before, End, Trouble, asked_for
from gate.app.rehearsal.virtual_world import Played
from gate.app.runtime.command_end import run_query
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console
from gate.app.runtime.world import Streams, World
from gate.config import Settings, all_checks
from gate.core.checks.spec import Counts
from gate.core.frozen import dataclass
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.errors import UsageError
from gate.manifests.allowed import require_allowed
from gate.manifests.generated_names import name_prefixes
from gate.manifests.images import with_images
from gate.manifests.load import load
from gate.report.views.rehearsals import (
    RehearsalResult,
    Rehearsals,
    RequestsResult,
    document,
    rehearsals_text,
)
from gate.signals import SIGNAL_BASE, Signalled
from sandbox.face import Cast, Cluster, ClusterOptions, Names, Scenario, Timers, load_scenario

DEFAULT_NAMESPACE = "default"
_NO_PAUSE = "it pauses a Deployment, and the workload that it would strike is {}"
_ENDS = "the workload that it would strike comes to its own end, and has no other version: {}"
_NO_DEADLINE = "no Deployment of the manifest has both pods and a progress deadline"
_NO_CHECK = "no check can have it"
_UNCHECKED = "no check is configured"
_HOW_TO_CHECK = "checks stand in a configuration file, or: --check, --http-check, --smoke-test"
_AS_REHEARSED = {"output": "json", "report": (), "plain": True}
"""A run this short needs no live tree."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The result of one rehearsal, and how long such a run may take at worst."""

    row: RehearsalResult
    warnings: Sequence[str]
    at_worst_seconds: float
    at_fault: Sequence[str] = ()


class Rehearsing:
    """Rehearses one manifest, each time on a stage of its own."""

    def __init__(self, world: World, settings: Settings) -> None:
        """Read the manifest; UsageError for faults in it."""
        self._world = world
        self._settings = settings.with_values(**_AS_REHEARSED)
        self._checks = all_checks(settings)
        say_if_typed(settings, world.streams.stdin)
        self._stdin = world.streams.stdin.read() if "-" in settings.file else b""
        manifest = load(settings.file, stdin=io.BytesIO(self._stdin))
        require_allowed(manifest, settings.allow_kind)
        self._objects = with_images(manifest, settings.image).objects
        self._actors = tuple(actors_of(self._objects, settings.namespace or DEFAULT_NAMESPACE))
        self._workloads = [actor for actor in self._actors if actor.is_workload]
        if not self._workloads:
            raise UsageError("nothing to rehearse: the manifest has no workload")

    def lacks(self, trouble: Trouble) -> str:
        """Return what the manifest or its checks lack to have the trouble; "" for nothing."""
        if trouble.checks is not None and not trouble.checks(self._checks):
            return _NO_CHECK if self._checks else _UNCHECKED
        struck = unlucky(self._workloads)
        if trouble.pauses and not struck.can_be_paused:
            return _NO_PAUSE.format(struck.called)
        if trouble.runs_on and struck.comes_to_an_end:
            return _ENDS.format(struck.called)
        late = trouble.before is Before.TIMED_OUT
        able = not late or any(actor.can_time_out for actor in self._workloads)
        return "" if able else _NO_DEADLINE

    def of(self, trouble: Trouble, lines: TextIO, scenario: Scenario | None = None) -> Rehearsed:
        """Rehearse one trouble, or a scenario of the user; the run's lines go to `lines`.

        Raises Signalled if a signal ended it, UsageError for what cannot be rehearsed.
        """
        lacking = self.lacks(trouble)
        if lacking:
            hint = _HOW_TO_CHECK if lacking == _UNCHECKED else ""
            raise UsageError(f"{trouble} cannot be rehearsed here: {lacking}", hint=hint)
        # Start at a whole second: conditions have no fractions of seconds, so the fraction at which
        # a run begins would shift its verdict.
        started = self._world.clock.wall().replace(microsecond=0)
        nodes = (scenario or Scenario()).nodes
        cluster = Cluster(Timers(started), Names(), ClusterOptions(nodes=nodes))
        played = Played.of(cluster)
        try:
            stage = Stage(played, self._actors)
            stage.set_up(trouble.before)
            if scenario is None:
                play = stage.play_out(trouble, self._checks)
            else:
                play = stage.play(scenario)
            result = self._ran(stage, lines)
            at_worst = longest_seconds(self._settings, stage.stored)
            late = late_changes(scenario, result, play) if scenario is not None else ()
            told = (name_prefixes(line, self._objects) for line in result["warnings"])
            warnings = [*late, *remarks(trouble, result, play), *told]
            comparisons = [check.name for check in self._checks if check.compares]
            row = row_of(trouble, result, comparisons)
            return Rehearsed(row, warnings, at_worst, self._at_fault(trouble, result))
        finally:
            played.clock.end()

    @property
    def cast(self) -> Cast:
        """What a scenario can be about."""
        images = dict.fromkeys(image for actor in self._actors for image in actor.played_images)
        names = [each.name for each in self._checks]
        return Cast(
            tuple(images),
            tuple(actor.key for actor in self._workloads),
            unlucky(self._workloads).key.namespace,
            (*names, *(BASELINE.format(name) for name in names)),
        )

    @property
    def requests(self) -> RequestsResult | None:
        """The requests that are taken to come, where a check counts them."""
        if not any(isinstance(check.probe, Counts) for check in self._checks):
            return None
        taken = requests_of(self._settings)
        return {"per_second": taken.per_second, "rate": taken.rate}

    def _at_fault(self, trouble: Trouble, result: dict[str, Any]) -> list[str]:
        """Return which of several workloads it went wrong in; empty if there is only one.

        Trouble with an image affects each workload that runs it, even if the run ended before
        that workload had a verdict.
        """
        if len(self._workloads) == 1 or not (found := at_fault(result)):
            return []
        image = unlucky(self._workloads).images[:1] if trouble.pods else ()
        return [
            actor.called
            for actor in self._workloads
            if actor.called in found or any(one in actor.images for one in image)
        ]

    def _ran(self, stage: Stage, lines: TextIO) -> dict[str, Any]:
        """Run the gate; return its result document.

        UsageError where the gate would not begin: nothing was judged that a row could tell of.
        """
        out, said = io.StringIO(), io.StringIO()
        streams = Streams(io.BytesIO(self._stdin), out, said)
        code = stage.run(self._settings, streams, self._world.delivered)
        result: dict[str, Any] = {} if code >= SIGNAL_BASE else json.loads(out.getvalue())
        if result and result["outcome"] == Outcome.USAGE:
            raise UsageError(result["message"], hint=result["hint"])
        lines.write(said.getvalue())
        if code >= SIGNAL_BASE:
            raise Signalled(code - SIGNAL_BASE)
        return result


def rehearse(world: World, settings: Settings) -> int:
    """Rehearse what the settings ask for, and print the results."""

    def query(start: CommandStart) -> int:
        rehearsing = Rehearsing(world, settings)
        found = _rehearse(rehearsing, settings, world)
        _print(start.console, settings, found)
        is_alone = not settings.all_ and len(found["rehearsals"]) == 1
        of_apply = found["rehearsals"][0]["exit_code"] if is_alone else 0
        return of_apply or _exit_code(found)

    return run_query(world, "rehearse", settings, query)


def _rehearse(rehearsing: Rehearsing, settings: Settings, world: World) -> Rehearsals:
    if settings.all_:
        return _all(rehearsing)
    lines = io.StringIO() if settings.quiet else world.streams.stderr
    if settings.scenario:
        trouble = Trouble(settings.scenario, "what the scenario file says", end=End.UNSAID)
        with as_usage_error():
            scenario = load_scenario(settings.scenario, rehearsing.cast)
        return _document(rehearsing, [rehearsing.of(trouble, lines, scenario)])
    troubles = [_trouble_of(text) for text in settings.with_ or ("good",)]
    if len(troubles) > 1:
        lines = io.StringIO()
    return _document(rehearsing, [rehearsing.of(trouble, lines) for trouble in troubles])


def _trouble_of(text: str) -> Trouble:
    try:
        return asked_for(text)
    except UsageError as error:
        raise UsageError(f"--with: {error.message}", hint=error.hint) from error


def _all(rehearsing: Rehearsing) -> Rehearsals:
    """Rehearse every trouble; the good version's warnings count as the manifest's."""
    found: list[Rehearsed] = []
    left_out: list[str] = []
    for trouble in TROUBLES.values():
        lacks = rehearsing.lacks(trouble)
        try:
            found += [] if lacks else [rehearsing.of(trouble, io.StringIO())]
        except UsageError as error:
            if not found:
                raise
            lacks = error.message
        if lacks not in ("", _UNCHECKED):
            left_out.append(f"{trouble} is left out: {lacks}")
    return _document(rehearsing, found, [*left_out, *found[0].warnings])


def _document(
    rehearsing: Rehearsing, found: Sequence[Rehearsed], warnings: Sequence[str] | None = None
) -> Rehearsals:
    """Return the document of these rehearsals, with each of their warnings unless some are given.

    It names each workload that it went wrong in during any of them.
    """
    said = [warning for each in found for warning in each.warnings]
    return document(
        [each.row for each in found],
        list(dict.fromkeys(said)) if warnings is None else warnings,
        found[0].at_worst_seconds,
        subject=", ".join(dict.fromkeys(name for each in found for name in each.at_fault)),
        requests=rehearsing.requests,
    )


def _print(console: Console, settings: Settings, document: Rehearsals) -> None:
    if settings.output == "json":
        console.write(json.dumps(document, indent=2) + "\n")
    else:
        style = console.style(settings)
        console.write(rehearsals_text(document, style, whole=not console.stdout.isatty()))


def _exit_code(document: Rehearsals) -> int:
    """Return 6 if a failure is not caught or something harmless is taken for one, else 0."""
    fine = all(each["as_expected"] is not False for each in document["rehearsals"])
    return EXIT_CODES[Outcome.VERIFIED if fine else Outcome.FAILED]
