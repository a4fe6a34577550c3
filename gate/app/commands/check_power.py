"""`checks --power`: what the comparisons by counts could show, before anything is deployed.

What is not given is asked of Prometheus: what serves has counted in the last hour.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from gate.app.command_context import connect
from gate.app.commands.checks import print_checks
from gate.app.commands.running_version import (
    choose_checks,
    list_refs,
    list_serving,
    with_namespaces,
)
from gate.app.preflight.check_subjects import ref_of, require_answerable, require_askable
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.live_state import Live, read_live
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of
from gate.config import Settings
from gate.core.checks.bake_window import least_bake_seconds, least_phase_seconds
from gate.core.checks.measurement import Measurement, measure_error, no_data, unaskable
from gate.core.checks.power import foresee
from gate.core.checks.power_plan import Exposure, ExposureOrigin, PowerPlan, exposure_of
from gate.core.checks.questions import Answer, Errored, MetricQuestion, Questions, Samples
from gate.core.checks.running_traffic import MeasuredTraffic, add_traffic, ask_traffic, read_traffic
from gate.core.checks.spec import Check, Counts, During
from gate.core.checks.tick_questions import Unaskable
from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.statistics.simulated_looks import Uniform
from gate.errors import UsageError
from gate.report.check_report.asked_check import AskedCheck
from gate.report.check_report.foreseen_check import ForeseenCheck
from gate.report.check_report.power_document import power_document
from gate.report.check_report.power_text import power_text

_SEED = 1


@dataclass(frozen=True, slots=True)
class _Known:
    """What a check is about as it runs now, and what that has counted; each None if not asked."""

    about: str = ""
    live: Live | None = None
    measured: MeasuredTraffic | None = None


def power(start: CommandStart, names: tuple[str, ...]) -> int:
    """Print what each comparison by counts could show; return the exit code.

    UsageError without such a check, or where a figure is neither given nor can be asked for.
    """
    settings = start.settings
    wanted = [one for one in choose_checks(settings, names) if isinstance(one.probe, Counts)]
    if not wanted:
        about = f" about {', '.join(names)}" if names else ""
        hint = "to print one: rollout-gate checks --show error-share"
        raise UsageError(f"there is no comparison by counts{about}", hint=hint)
    found: list[ForeseenCheck | AskedCheck] = []
    for check, known in _know(start, names, wanted):
        found.append(
            known if isinstance(known, AskedCheck) else _foresee(settings, check, known, wanted)
        )
    return _print_power(start, found)


def _know(
    start: CommandStart, names: tuple[str, ...], wanted: Sequence[Check]
) -> list[tuple[Check, _Known | AskedCheck]]:
    """Read workloads and traffic as far as figures are missing."""
    settings = start.settings
    if settings.exposure is not None and not _measures(settings):
        return [(check, _Known()) for check in wanted]
    if _measures(settings):
        require_answerable(settings, wanted)
    refs = list_refs(settings, names, wanted, start.world.streams.stdin)
    if not refs:
        what = "the traffic" if _measures(settings) else "which part of it each version gets"
        given = "--traffic, --rate and --exposure" if _measures(settings) else "--exposure NEW:OLD"
        raise UsageError(f"nothing says {what}", hint=f"name the workload, or give {given}")
    require_askable(wanted, refs)
    session = connect(start).session
    placed = with_namespaces(refs, session.namespace)
    lives: dict[Ref, Live] = {}
    return [(check, _know_one(session, settings, check, placed, lives)) for check in wanted]


def _measures(settings: Settings) -> bool:
    return settings.traffic is None or settings.rate is None


def _know_one(
    session: Session,
    settings: Settings,
    check: Check,
    refs: Sequence[Ref],
    lives: dict[Ref, Live],
) -> _Known | AskedCheck:
    ref = ref_of(check, refs)
    if ref is None:
        raise UsageError(f"check {check.name} is about no single workload", hint="name one")
    if ref not in lives:
        lives[ref] = read_live(replace(session, namespace=ref.namespace), argument_of(ref))
    live = lives[ref]
    if not _measures(settings):
        return _Known(str(ref), live)
    measured = _measure(session, check, str(ref), live)
    return measured if isinstance(measured, AskedCheck) else _Known(str(ref), live, measured)


def _measure(
    session: Session, check: Check, about: str, live: Live
) -> MeasuredTraffic | AskedCheck:
    """Ask what the versions that serve counted; a check that cannot be asked says why."""
    at = session.clock.now()
    if not isinstance(check.probe, Counts):
        raise TypeError(f"{check.name} compares no counts")
    found: list[MeasuredTraffic] = []
    asked: list[MetricQuestion] = []
    for subject in list_serving(live, at):
        questions = ask_traffic(check, check.probe, at, subject)
        if isinstance(questions, Unaskable):
            return AskedCheck(check, about, unaskable(questions.missing))
        answers = _ask(session, check, about, questions)
        if isinstance(answers, AskedCheck):
            return answers
        measured = read_traffic(check.probe, subject.new.name, *answers)
        if isinstance(measured, Measurement):
            return _make_unanswered(check, about, questions[0], measured)
        found.append(measured)
        asked.append(questions[0])
    traffic = add_traffic(found)
    if isinstance(traffic, Measurement):
        return _make_unanswered(check, about, asked[0], traffic)
    return traffic


def _ask(
    session: Session, check: Check, about: str, questions: tuple[MetricQuestion, MetricQuestion]
) -> tuple[Answer, Answer] | AskedCheck:
    answers: list[Answer] = []
    for question in questions:
        said = session.sources.ask(Questions(question), check.name)
        if isinstance(said, Errored):
            return _make_unanswered(check, about, question, measure_error(said), said)
        if isinstance(said.value, Samples) and said.value.remarks:
            partial = no_data(f"partial: {said.value.remarks[0]}")
            return _make_unanswered(check, about, question, partial)
        answers.append(said.value)
    grown, seen = answers
    return grown, seen


def _make_unanswered(
    check: Check,
    about: str,
    question: MetricQuestion,
    why: Measurement,
    error: Errored | None = None,
) -> AskedCheck:
    role = "" if error is None else "value"
    return AskedCheck(check, about, why, Questions(question), error=error, error_role=role)


def _foresee(
    settings: Settings, check: Check, known: _Known, wanted: Sequence[Check]
) -> ForeseenCheck:
    measured = known.measured
    per_second, rate = settings.traffic, settings.rate
    if measured is not None:
        per_second = measured.per_second if per_second is None else per_second
        rate = measured.rate if rate is None else rate
    plan = PowerPlan(
        check,
        _exposure(settings, known.live),
        per_second or 0.0,
        rate or 0.0,
        _phase_seconds(settings, check, wanted),
    )
    return ForeseenCheck(
        foresee(plan, _begin),
        known.about,
        measured,
        gave_traffic=settings.traffic is not None,
        gave_rate=settings.rate is not None,
        gave_phase=settings.bake is not None,
    )


def _exposure(settings: Settings, live: Live | None) -> Exposure:
    if settings.exposure is not None:
        return Exposure(*settings.exposure, ExposureOrigin.FLAG)
    if live is None:
        raise TypeError("a workload is read where no exposure is given")
    return exposure_of(live.workload)


def _phase_seconds(settings: Settings, check: Check, wanted: Sequence[Check]) -> float:
    """Return how long the check has: the bake window, or as long as it would take by itself."""
    if settings.bake is not None:
        return settings.bake
    if check.schedule.during is During.ROLLOUT:
        return least_phase_seconds(check)
    return max(least_bake_seconds(wanted), least_phase_seconds(check))


def _begin() -> Uniform:
    return random.Random(_SEED).random  # noqa: S311 - a simulation, the same each time


def _print_power(start: CommandStart, found: Sequence[ForeseenCheck | AskedCheck]) -> int:
    foreseen = [one for one in found if isinstance(one, ForeseenCheck)]
    unanswered = [one for one in found if isinstance(one, AskedCheck)]
    made = power_document(foreseen, unanswered, start.console.clock.wall())
    return print_checks(start, made, power_text)
