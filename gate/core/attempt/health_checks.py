"""The health checks of an attempt: when they run, what they ask, what they say of the version.

They run only on the way out, from the end of its writes to the end of the bake window. Their
verdict is combined with that of the rollout: whichever is against the version counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.core.attempt.awaited_objects import objects_verdict
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.suspension import STOOD_STILL, extend_window
from gate.core.checks import tick_questions
from gate.core.checks.old_pods import NO_OLD_PODS, OldPods
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind
from gate.core.checks.spec import Check, ComparedPods, Counts, During, OnInconclusive
from gate.core.checks.tick_grid import Tick
from gate.core.checks.tick_measurement import hangs_on_time
from gate.core.checks.tick_questions import Unaskable
from gate.core.kinds.check_variables import is_measured, variables_of
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.protocol.effects import Ask
from gate.core.protocol.events import Answered, Errored
from gate.core.rollout.baseline import find_beside
from gate.core.rollout.causes import Cause
from gate.core.rollout.fresh_pods import has_old_pods, sort_old_pods
from gate.core.rollout.verdict import Verdict, VerdictKind

# -- when they run ---------------------------------------------------------------------------------


def start_checks(attempt: Attempt, phase: During) -> Attempt:
    """Start the checks of a phase that begins; those of both phases go on.

    A check of the bake window alone starts again with each window: it has to see a whole one, and
    the answer that it awaited is no measurement of this one. A comparison by counts keeps what it
    has counted, or whoever scales often enough would keep it undecided.
    """
    if attempt.course.leg is Leg.BACK or not attempt.plan.policy.checks:
        return attempt
    runs = {
        check.name: _start(attempt, check)
        for check in attempt.plan.policy.checks
        if check.runs_in(phase) and _starts(attempt, check)
    }
    asked = attempt.requests.outstanding
    for number, effect in asked.items():
        if isinstance(effect, Ask) and effect.check in runs:
            asked = asked.drop(number)
    return replace(
        attempt,
        requests=replace(attempt.requests, outstanding=asked),
        health=replace(attempt.health, checks=attempt.health.checks.put_all(runs)),
    )


def _starts(attempt: Attempt, check: Check) -> bool:
    return check.name not in attempt.health.checks or check.schedule.during is During.BAKE


def _start(attempt: Attempt, check: Check) -> CheckRun:
    versions, known = subject(attempt, check).versions, attempt.health.checks.get(check.name)
    if known is None:
        return CheckRun.start(check, attempt.now, versions)
    return known.start_again(attempt.now, versions)


def wake_at(attempt: Attempt, phase: During) -> float:
    """Return when the next check of a phase is due (monotonic seconds), infinity for never."""
    return min((run.wake_at for run in _running(attempt, phase)), default=math.inf)


def _running(attempt: Attempt, phase: During) -> Iterator[CheckRun]:
    """Yield the checks that ask in a phase.

    None asks once the bake window is over, nor one whose workloads were all taken over by others.
    """
    if attempt.course.leg is Leg.BACK or attempt.now >= attempt.bake_ends_at:
        return
    for run in attempt.health.checks.values():
        if run.check.runs_in(phase) and _is_about_any(attempt, run.check):
            yield run


def ask_due_checks(attempt: Attempt, phase: During) -> Step:
    """Ask every check of a phase that is due; the attempt is returned unchanged if none is."""
    effects: list[Ask] = []
    for run in tuple(_running(attempt, phase)):
        tick = run.due(attempt.now)
        if tick is not None:
            attempt = _ask_check(attempt, run.after_question(tick), phase, tick, effects)
    return attempt, tuple(effects)


def _ask_check(
    attempt: Attempt, run: CheckRun, phase: During, tick: Tick, effects: list[Ask]
) -> Attempt:
    """Ask one check, or record that it cannot be asked yet."""
    about_it = subject(attempt, run.check)
    questions = tick_questions.ask(run.check, tick.at, about_it, phase, begins=run.begins)
    if isinstance(questions, Unaskable):
        return _with_run(attempt, run.after_unaskable(tick, attempt.now, questions))
    effect = Ask(attempt.requests.next_id, run.check.name, tick, questions)
    effects.append(effect)
    return _with_run(attempt, run).with_effect(effect)


def measure_answer(attempt: Attempt, effect: Ask, answer: Answered | Errored) -> Attempt:
    """Measure the answer that a check awaits."""
    run = attempt.health.checks[effect.check]
    if isinstance(answer, Answered):
        if effect.asleep_seconds and hangs_on_time(run.check, answer.answers):
            after = run.after_error(effect.tick, answer.at, STOOD_STILL)
            return _with_run(extend_window(attempt, run, effect), after)
        pods = _find_old_pods(attempt, run.check)
        after = run.after_answer(effect.tick, answer.at, answer.answers, pods)
        return _with_run(attempt, after)
    return _with_run(attempt, run.after_error(effect.tick, answer.at, answer.error))


def _find_old_pods(attempt: Attempt, check: Check) -> OldPods:
    """Return whether the old version has pods, and which, for a check that compares by counts.

    They are those of now: a pod that was created since the question has counted nothing then.
    """
    refs = about(attempt, check)
    if not isinstance(check.probe, Counts) or len(refs) != 1:
        return NO_OLD_PODS
    served = _find_served(attempt, refs[0])
    if served is None:
        return NO_OLD_PODS
    snapshot = attempt.workloads.rollouts[refs[0]].snapshot
    if check.probe.compared_pods is ComparedPods.FRESH:
        return sort_old_pods(snapshot, served.name)
    return OldPods(are_there=has_old_pods(snapshot, served.name))


def _with_run(attempt: Attempt, run: CheckRun) -> Attempt:
    return replace(
        attempt,
        health=replace(attempt.health, checks=attempt.health.checks.put(run.check.name, run)),
    )


# -- what they are about ---------------------------------------------------------------------------


def about(attempt: Attempt, check: Check) -> tuple[Ref, ...]:
    """Return the workloads that a check is about, out of those followed and still ours.

    What wants no pod any more serves nothing that could be measured.
    """
    departures = attempt.interference.departures
    rollouts = attempt.workloads.rollouts.items()
    refs = (ref for ref, one in rollouts if ref not in departures and not one.is_emptied)
    return tuple(ref for ref in refs if is_measured(ref) and check.is_about(ref))


def _is_about_any(attempt: Attempt, check: Check) -> bool:
    """Tell whether a check still has something to measure; without workloads it always has."""
    return not measures_any(attempt) or bool(about(attempt, check))


def measures_any(attempt: Attempt) -> bool:
    """Tell whether the plan has a workload that checks can be about."""
    return any(is_measured(target.ref) for target in attempt.plan.targets)


def subject(attempt: Attempt, check: Check) -> Subject:
    """Return what the check's questions can name now.

    For several workloads, or none, that is only what they have in common.
    """
    refs = about(attempt, check)
    if len(refs) != 1:
        return _common_subject(attempt, refs)
    (ref,) = refs
    rollout = attempt.workloads.rollouts[ref]
    current = rollout.snapshot.current()
    new = Version() if current is None else Version(current.name, current.label_value)
    live = rollout.snapshot.live
    return Subject(
        namespace=ref.namespace,
        workload=ref.name,
        new=new,
        started_at=rollout.applied.at,
        baseline=_find_served(attempt, ref),
        revision=live.revision if live is not None else None,
        first_available_at=rollout.progress.first_available_at,
        variables=variables_of(refs),
    )


def describe_alone(attempt: Attempt, phase: During) -> Iterator[str]:
    """Say of each comparison of a phase that no old version serves, and what follows."""
    for run in _running(attempt, phase):
        if not _lacks_baseline(attempt, run.check):
            continue
        follows = "it cannot be decided"
        if _decides_alone(run.check):
            follows = "only a negligible rate of the new one can pass it"
        name = run.check.name
        yield f"{name}: no old version serves, there is nothing to compare with: {follows}"


def longest_window_seconds(attempt: Attempt) -> float:
    """Return how long the bake window may last, at most, as it begins.

    Comparisons beside which no old version serves, and that cannot decide alone, extend none.
    """
    chosen = attempt.plan.policy.budgets.bake_seconds
    deciding = [one.check for one in _running(attempt, During.BAKE) if one.check.decides]
    if all(_lacks_baseline(attempt, one) and not _decides_alone(one) for one in deciding):
        return min(chosen, attempt.bake_seconds)
    return attempt.bake_seconds


def _lacks_baseline(attempt: Attempt, check: Check) -> bool:
    """Tell whether a check compares, and no old version serves."""
    return check.compares and subject(attempt, check).baseline is None


def _decides_alone(check: Check) -> bool:
    return isinstance(check.probe, Counts) and bool(check.probe.rule.negligible)


def _find_served(attempt: Attempt, ref: Ref) -> Version | None:
    """Return the version that served right before the new one, None if nothing else did.

    It may be another one than a failure returns to: one that was left unverified serves as well,
    and so do the one that a canary is promoted over, and the one beside which another canary takes
    the place of a first one. One without an available pod served nothing,
    also where a failure returns to it.
    """
    target, rollout = attempt.plan.target(ref), attempt.workloads.rollouts[ref]
    new = rollout.snapshot.current()
    uid = "" if new is None else new.uid
    served = find_beside(target.snapshot, uid, rollout.snapshot.live)
    return None if served is None else Version(served.name, served.label_value)


def _common_subject(attempt: Attempt, refs: tuple[Ref, ...]) -> Subject:
    """Return what is common to all: the window begins with the youngest of the new versions."""
    objects = refs or tuple(planned.ref for planned in attempt.plan.objects)
    namespaces = {ref.namespace for ref in objects}
    available = [attempt.workloads.rollouts[ref].progress.first_available_at for ref in refs]
    known = [at for at in available if at is not None]
    first = max(known, default=attempt.course.leg_at) if len(known) == len(available) else None
    namespace = next(iter(namespaces)) if len(namespaces) == 1 else ""
    return Subject(
        namespace,
        "",
        Version(),
        attempt.course.leg_at,
        first_available_at=first,
        variables=variables_of(refs),
    )


# -- what they say ---------------------------------------------------------------------------------


def conclusions(attempt: Attempt) -> tuple[Conclusion, ...]:
    """Return what each check says, in the policy's order; final once the way out is over.

    A check that has not begun, because the attempt ended before its phase, is "never ran".
    """
    if attempt.health.concluded or not attempt.plan.policy.checks:
        return attempt.health.concluded
    bake_ends_at = attempt.bake_ends_at  # Once: it looks at each check itself.
    return tuple(_conclusion(attempt, check, bake_ends_at) for check in attempt.plan.policy.checks)


def _conclusion(attempt: Attempt, check: Check, bake_ends_at: float) -> Conclusion:
    run = attempt.health.checks.get(check.name)
    if run is None:
        return Conclusion(ConclusionKind.UNDECIDED, CleanText("never ran"), check=check.name)
    over_at = _over_at(attempt, run, bake_ends_at)
    return run.verdict_so_far if over_at is None else run.conclude(over_at)


def _over_at(attempt: Attempt, run: CheckRun, bake_ends_at: float) -> float | None:
    """Return when the check's phase ended, None while it lasts or an answer is awaited."""
    bakes = run.check.runs_in(During.BAKE)
    ended_at = bake_ends_at if bakes else attempt.course.baked_since
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
    """Return what deciding checks have against each workload: the first such check's verdict.

    After them comes an object that is not ready, which is about all that was not finished before.
    """
    found: dict[Ref, Verdict] = {}
    for check, verdict in _verdicts(attempt):
        for ref in about(attempt, check):
            found.setdefault(ref, verdict)
    unready = objects_verdict(attempt)
    if unready is not None:
        for ref in _find_versions(attempt):
            found.setdefault(ref, unready)
    return found


def _find_versions(attempt: Attempt) -> tuple[Ref, ...]:
    """Return the followed workloads that nothing else waited for; all if there are none such."""
    refs = tuple(attempt.workloads.rollouts)
    main = tuple(ref for ref in refs if attempt.plan.phase_of(ref) is not Phase.BEFORE)
    return main or refs


def combine_verdicts(ruled: Verdict | None, of_checks: Verdict | None) -> Verdict | None:
    """Return the verdict on a rollout, with what checks have against it.

    The checks cannot fail a rollout that somebody else has taken over or holds.
    """
    if ruled is None or ruled.kind in (VerdictKind.COMPLETE, VerdictKind.PROGRESSING):
        return of_checks or ruled
    return ruled


def against_all(attempt: Attempt) -> Verdict | None:
    """Return what a deciding check has against an attempt that follows no workload."""
    if measures_any(attempt):
        return None
    return next((verdict for _, verdict in _verdicts(attempt)), objects_verdict(attempt))


def _verdicts(attempt: Attempt) -> Iterator[tuple[Check, Verdict]]:
    """Yield the failures, and the doubts if the policy treats them as failures."""
    if attempt.course.leg is Leg.BACK:
        return
    doubts_count = attempt.plan.policy.response.on_inconclusive is OnInconclusive.ROLLBACK
    for check, said in zip(attempt.plan.policy.checks, conclusions(attempt), strict=True):
        failed = said.kind is ConclusionKind.FAIL
        doubtful = said.kind is ConclusionKind.INCONCLUSIVE
        if check.decides and (failed or (doubtful and doubts_count)):
            yield check, _verdict(said)


def _verdict(said: Conclusion) -> Verdict:
    cause = cause_of(said)
    return Verdict(VerdictKind.FAILED, cause.reason, cause.message, check=cause.check)


def cause_of(said: Conclusion) -> Cause:
    """Return as a cause what a check that did not pass says."""
    reason = said.reason or Reason.CHECK_INCONCLUSIVE
    return Cause(reason, CleanText(f"{said.check}: {said.message}"), check=said.check)


def iter_unasked(attempt: Attempt) -> Iterator[Conclusion]:
    """Yield the checks of an attempt that died before they had concluded: none is asked again."""
    resumed = attempt.plan.resumed
    why = CleanText("not asked again, since the gate that asked it died")
    for name in resumed.record.checks if resumed is not None else ():
        yield Conclusion(ConclusionKind.INCONCLUSIVE, why, Reason.CHECK_INCONCLUSIVE, name)


def doubt(attempt: Attempt, ref: Ref | None) -> Conclusion | None:
    """Return the first inconclusive deciding check about `ref` (None: about anything), or None."""
    for said in iter_unasked(attempt):
        return said
    for check, said in zip(attempt.plan.policy.checks, conclusions(attempt), strict=True):
        concerned = ref is None or ref in about(attempt, check)
        if check.decides and concerned and said.kind is ConclusionKind.INCONCLUSIVE:
            return said
    return None


def has_evidence(attempt: Attempt) -> bool:
    """Tell whether a deciding check has already measured anything bad (for an interrupt)."""
    return any(
        run.check.decides and run.tally.failures and _is_about_any(attempt, run.check)
        for run in attempt.health.checks.values()
    )
