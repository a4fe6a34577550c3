"""When the health checks of an attempt run, what they ask, and what becomes of the answers.

They run only on the way out, from the end of its writes to the end of the bake window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.check_subjects import about, find_served, is_about_any, subject
from gate.core.attempt.limits import LAST_ANSWER_SECONDS
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.suspension import STOOD_STILL, extend_window
from gate.core.checks import tick_questions
from gate.core.checks.old_pods import NO_OLD_PODS, OldPods
from gate.core.checks.run import CheckRun
from gate.core.checks.spec import Check, ComparedPods, Counts, During
from gate.core.checks.tick_grid import Tick
from gate.core.checks.tick_measurement import hangs_on_time
from gate.core.checks.tick_questions import Unaskable
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Ask
from gate.core.protocol.events import Answered, Errored
from gate.core.rollout.fresh_pods import has_old_pods, sort_old_pods


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
    return min((run.wake_at for run in iter_running(attempt, phase)), default=math.inf)


def iter_running(attempt: Attempt, phase: During) -> Iterator[CheckRun]:
    """Yield the checks that ask in a phase.

    None asks once the bake window is over, nor one whose workloads were all taken over by others.
    """
    if attempt.course.leg is Leg.BACK or attempt.now >= attempt.bake_ends_at:
        return
    for run in attempt.health.checks.values():
        if run.check.runs_in(phase) and is_about_any(attempt, run.check):
            yield run


def ask_due_checks(attempt: Attempt, phase: During) -> Step:
    """Ask every check of a phase that is due; the attempt is returned unchanged if none is."""
    effects: list[Ask] = []
    for run in tuple(iter_running(attempt, phase)):
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
    answer_by = attempt.bake_ends_at + LAST_ANSWER_SECONDS
    asked = questions.answered_by(answer_by)
    effect = Ask(attempt.requests.next_id, run.check.name, tick, asked)
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
    served = find_served(attempt, refs[0])
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


def describe_alone(attempt: Attempt, phase: During) -> Iterator[str]:
    """Say of each comparison of a phase that no old version serves, and what follows."""
    for run in iter_running(attempt, phase):
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
    deciding = [one.check for one in iter_running(attempt, During.BAKE) if one.check.decides]
    if all(_lacks_baseline(attempt, one) and not _decides_alone(one) for one in deciding):
        return min(chosen, attempt.bake_seconds)
    return attempt.bake_seconds


def _lacks_baseline(attempt: Attempt, check: Check) -> bool:
    """Tell whether a check compares, and no old version serves."""
    return check.compares and subject(attempt, check).baseline is None


def _decides_alone(check: Check) -> bool:
    return isinstance(check.probe, Counts) and bool(check.probe.rule.negligible)
