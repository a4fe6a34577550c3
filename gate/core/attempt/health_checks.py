"""The health checks of an attempt: when they run, what they ask, what they say of the version.

They run on the way out alone, from the end of its writes to the end of the bake window. A verdict
of theirs stands beside that of the rollout: whichever is against the version counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import State
from gate.core.checks import tick_questions
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind, Tick
from gate.core.checks.spec import Check, During, OnInconclusive
from gate.core.checks.tick_questions import Unaskable
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Ask
from gate.core.protocol.events import Answered, Errored
from gate.core.rollout.verdict import Verdict, VerdictKind

_PHASES: Mapping[State, During] = {State.FOLLOWING: During.ROLLOUT, State.BAKING: During.BAKE}


# -- when they run ---------------------------------------------------------------------------------


def start_checks(attempt: Attempt, phase: During) -> Attempt:
    """Start the checks of a phase that begins; those of both phases go on.

    What runs in the bake window alone starts anew with each: it is to see all of one.
    """
    if attempt.course.leg is Leg.BACK or not attempt.plan.policy.checks:
        return attempt
    runs = {
        check.name: CheckRun.start(check, attempt.now)
        for check in attempt.plan.policy.checks
        if check.runs_in(phase) and _starts(attempt, check)
    }
    return replace(
        attempt, health=replace(attempt.health, checks=FrozenMap({**attempt.health.checks, **runs}))
    )


def _starts(attempt: Attempt, check: Check) -> bool:
    return check.name not in attempt.health.checks or check.schedule.during is During.BAKE


def wake_at(attempt: Attempt) -> float:
    """Return when the next check is due, monotonic seconds; infinity while none is."""
    return min((run.wake_at for run in _running(attempt)), default=math.inf)


def _running(attempt: Attempt) -> Iterator[CheckRun]:
    """Yield the checks that ask in the present state.

    None does once the window is over, nor one whose Deployments all are somebody else's.
    """
    phase = _PHASES.get(attempt.course.state)
    if phase is None or attempt.course.leg is Leg.BACK or attempt.now >= attempt.bake_ends_at:
        return
    for run in attempt.health.checks.values():
        if run.check.runs_in(phase) and _is_about_any(attempt, run.check):
            yield run


def ask_due_checks(attempt: Attempt) -> Step:
    """Ask every check that is due; the attempt itself where none is."""
    effects: list[Ask] = []
    for run in tuple(_running(attempt)):
        tick = run.due(attempt.now)
        if tick is not None:
            attempt = _ask_check(attempt, run.after_question(tick), tick, effects)
    return attempt, tuple(effects)


def _ask_check(attempt: Attempt, run: CheckRun, tick: Tick, effects: list[Ask]) -> Attempt:
    """Ask one check, or note that there is nothing to ask it with yet."""
    phase = _PHASES[attempt.course.state]
    questions = tick_questions.ask(run.check, tick.at, subject(attempt, run.check), phase)
    if isinstance(questions, Unaskable):
        return _with_run(attempt, run.after_unaskable(tick, attempt.now, questions))
    effect = Ask(attempt.requests.next_id, run.check.name, tick, questions)
    effects.append(effect)
    return _with_run(attempt, run).with_effect(effect)


def measure_answer(attempt: Attempt, effect: Ask, answer: Answered | Errored) -> Attempt:
    """Measure an answer; one to a run that has started anew meanwhile says nothing."""
    run = attempt.health.checks.get(effect.check)
    if run is None or run.outstanding != effect.tick:
        return attempt
    if isinstance(answer, Answered):
        return _with_run(attempt, run.after_answer(effect.tick, answer.at, answer.answers))
    return _with_run(attempt, run.after_error(effect.tick, answer.at, answer.error))


def _with_run(attempt: Attempt, run: CheckRun) -> Attempt:
    return replace(
        attempt,
        health=replace(attempt.health, checks=attempt.health.checks.put(run.check.name, run)),
    )


# -- what they are about ---------------------------------------------------------------------------


def about(attempt: Attempt, check: Check) -> tuple[Ref, ...]:
    """Return the Deployments that a check is about, of those that are followed and still ours."""
    refs = (
        ref for ref in attempt.deployments.rollouts if ref not in attempt.interference.departures
    )
    return tuple(ref for ref in refs if check.deployment in ("", ref.name))


def _is_about_any(attempt: Attempt, check: Check) -> bool:
    """Tell whether anything is left to be measured; a plan without Deployments always is."""
    return not attempt.plan.targets or bool(about(attempt, check))


def subject(attempt: Attempt, check: Check) -> Subject:
    """Return what the check's questions can name now.

    Of several Deployments, or of none, only what they have in common is known.
    """
    refs = about(attempt, check)
    if len(refs) != 1:
        return _common_subject(attempt, refs)
    (ref,) = refs
    rollout, target = attempt.deployments.rollouts[ref], attempt.plan.target(ref)
    current = rollout.snapshot.current()
    new = Version() if current is None else Version(current.name, current.pod_template_hash)
    baseline = None
    if isinstance(target.baseline, Known):
        served = target.baseline.value
        baseline = Version(served.replica_set, served.pod_template_hash)
    live = rollout.snapshot.live
    return Subject(
        namespace=ref.namespace,
        deployment=ref.name,
        new=new,
        started_at=rollout.applied.at,
        baseline=baseline,
        revision=live.revision if live is not None else None,
        first_available_at=rollout.progress.first_available_at,
    )


def _common_subject(attempt: Attempt, refs: tuple[Ref, ...]) -> Subject:
    """Return what is known of all: the window reaches back to the youngest of the new versions."""
    objects = refs or tuple(planned.ref for planned in attempt.plan.objects)
    namespaces = {ref.namespace for ref in objects}
    available = [attempt.deployments.rollouts[ref].progress.first_available_at for ref in refs]
    known = [at for at in available if at is not None]
    first = max(known, default=attempt.course.leg_at) if len(known) == len(available) else None
    namespace = next(iter(namespaces)) if len(namespaces) == 1 else ""
    return Subject(namespace, "", Version(), attempt.course.leg_at, first_available_at=first)


# -- what they say ---------------------------------------------------------------------------------


def conclusions(attempt: Attempt) -> tuple[Conclusion, ...]:
    """Return what each check says, in the policy's order: final once the way out is over.

    One that has not begun, as where the attempt ended before its phase, never ran.
    """
    if attempt.health.concluded:
        return attempt.health.concluded
    return tuple(_conclusion(attempt, check) for check in attempt.plan.policy.checks)


def _conclusion(attempt: Attempt, check: Check) -> Conclusion:
    run = attempt.health.checks.get(check.name)
    if run is None:
        return Conclusion(ConclusionKind.UNDECIDED, CleanText("never ran"), check=check.name)
    over_at = _over_at(attempt, run)
    return run.verdict_so_far if over_at is None else run.conclude(over_at)


def _over_at(attempt: Attempt, run: CheckRun) -> float | None:
    """Return when the check's phase ended, None while it lasts or an answer is awaited."""
    bakes = run.check.runs_in(During.BAKE)
    ended_at = attempt.bake_ends_at if bakes else attempt.course.baked_since
    if attempt.now < ended_at or (run.outstanding is not None and not attempt.answers_overdue):
        return None
    return ended_at


def awaits(attempt: Attempt) -> bool:
    """Tell whether the window's end still waits for a measurement that may decide."""
    if attempt.answers_overdue:
        return False
    runs = attempt.health.checks.values()
    return any(run.check.decides and run.outstanding is not None for run in runs)


def against(attempt: Attempt) -> Mapping[Ref, Verdict]:
    """Return what deciding checks have against Deployments, the first check of each."""
    found: dict[Ref, Verdict] = {}
    for check, verdict in _verdicts(attempt):
        for ref in about(attempt, check):
            found.setdefault(ref, verdict)
    return found


def combine_verdicts(ruled: Verdict | None, of_checks: Verdict | None) -> Verdict | None:
    """Return what stands of a rollout with what checks have against it.

    What is somebody else's, or held by somebody, is not for the checks to fail.
    """
    if ruled is None or ruled.kind in (VerdictKind.COMPLETE, VerdictKind.PROGRESSING):
        return of_checks or ruled
    return ruled


def against_all(attempt: Attempt) -> Verdict | None:
    """Return what a deciding check has against an attempt that follows no Deployment."""
    if attempt.plan.targets:
        return None
    return next((verdict for _, verdict in _verdicts(attempt)), None)


def _verdicts(attempt: Attempt) -> Iterator[tuple[Check, Verdict]]:
    """Yield the failures; doubts too where the policy takes them for failures."""
    if attempt.course.leg is Leg.BACK:
        return
    doubts_count = attempt.plan.policy.on_inconclusive is OnInconclusive.ROLLBACK
    for check, said in zip(attempt.plan.policy.checks, conclusions(attempt), strict=True):
        failed = said.kind is ConclusionKind.FAIL
        doubtful = said.kind is ConclusionKind.INCONCLUSIVE
        if check.decides and (failed or (doubtful and doubts_count)):
            yield check, _verdict(said)


def _verdict(said: Conclusion) -> Verdict:
    reason = said.reason or Reason.CHECK_INCONCLUSIVE
    return Verdict(VerdictKind.FAILED, reason, CleanText(f"{said.check}: {said.message}"))


def doubt(attempt: Attempt, ref: Ref | None) -> Conclusion | None:
    """Return the first deciding check that could not tell and is about `ref`, or about anything.

    Those of an attempt that died before they had said anything are asked by nobody any more.
    """
    resumed = attempt.plan.resumed
    if resumed is not None and resumed.record.checks:
        why = CleanText("not asked again, since the gate that asked it died")
        kind, name = ConclusionKind.INCONCLUSIVE, resumed.record.checks[0]
        return Conclusion(kind, why, Reason.CHECK_INCONCLUSIVE, name)
    for check, said in zip(attempt.plan.policy.checks, conclusions(attempt), strict=True):
        concerned = ref is None or ref in about(attempt, check)
        if check.decides and concerned and said.kind is ConclusionKind.INCONCLUSIVE:
            return said
    return None


def has_evidence(attempt: Attempt) -> bool:
    """Tell whether any measurement that may decide was bad already (for an interrupt)."""
    return any(
        run.check.decides and run.tally.failures and _is_about_any(attempt, run.check)
        for run in attempt.health.checks.values()
    )
