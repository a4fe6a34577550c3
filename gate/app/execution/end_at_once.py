"""What an attempt leaves if a second signal ends it, and what to run next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gate.app.locks.unfinished_attempt import describe_finish, recovery_command
from gate.app.runtime.workload_names import argument_of
from gate.cluster_name import ClusterName
from gate.core.attempt.pod_replacement import Stage
from gate.core.attempt.record import record_of
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import locks_of
from gate.core.model.objects import Ref
from gate.core.model.signal_names import signal_name
from gate.core.plan.leg import Leg
from gate.core.plan.plan import Plan
from gate.core.rollout.policy import OnFailure
from gate.report.words.refusal import NOTHING, NOTHING_NEW

_MOST_NAMED = 3
_MAY_BE_GONE: Final = (Stage.RECORDED, Stage.SENT, Stage.ACCEPTED, Stage.UNANSWERED)
"""The stages of its removal in which a pod may be gone already."""


def describe_end_at_once(
    attempt: Attempt,
    sent: Mapping[Ref, Leg],
    cluster: ClusterName,
    number: int,
    *,
    recorded_leg: Leg | None,
    has_recovered: bool = False,
) -> str:
    """Say in one line what a gate that ends at once leaves.

    `sent` are the objects that a write was begun for, with the latest leg that did; `recorded_leg`
    is the one that `recover` continues, by the record in a lock, None without a lock, and
    `has_recovered` says whether the run had finished an earlier attempt by then.
    """
    ended = f"{signal_name(number)} ended it at once"
    plan, leg = attempt.plan, recorded_leg or attempt.course.leg
    resumed, is_locked = plan.resumed, recorded_leg is not None
    if not sent and resumed is None:
        nothing = NOTHING_NEW if has_recovered else NOTHING
        return f"{ended}: {nothing}" if plan.writes else ended
    unchanged = _find_unchanged(attempt, sent)
    earlier = (*resumed.written, *resumed.restored) if resumed is not None else ()
    found = [*sent, *earlier]
    names = list(dict.fromkeys(plan.name_of(ref) for ref in found if ref not in unchanged))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    written = ", ".join(names[:_MOST_NAMED]) + more
    after = f"after writes to {written}" if names else "before anything was changed"
    pauses = plan.policy.response.on_failure is OnFailure.PAUSE
    where = " on its way back" if leg is Leg.BACK and not pauses else ""
    way = describe_finish(replace(record_of(plan), leg=leg)) if is_locked else ""
    follow = _next(plan, cluster, is_locked=is_locked)
    return f"{ended}: unfinished{where}, {after}; next{way}: {follow}"


def _find_unchanged(attempt: Attempt, sent: Mapping[Ref, Leg]) -> frozenset[Ref]:
    """Return the objects that were as the way out was to make them, and have been left so."""
    removals = attempt.workloads.replacements.values()
    touched = {one.workload for one in removals if one.stage in _MAY_BE_GONE}
    touched.update(ref for ref, leg in sent.items() if leg is Leg.BACK)
    written = attempt.ledger.written.items()
    same = (ref for ref, one in written if not (one.changed or one.creator_unknown))
    return frozenset(same) - touched


def describe_ended(attempt: Attempt, number: int) -> str:
    """Say in one line how an attempt had ended before a signal cut off its report."""
    plan, ending = attempt.plan, attempt.result.ending
    ended = f"{signal_name(number)} ended it at once"
    if ending is None:
        return ended
    names = [plan.name_of(target.ref) for target in plan.targets] or ["what was applied"]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    of = ", ".join(names[:_MOST_NAMED]) + more
    return f"{ended}; by then the run had come to its end: {ending.outcome}, {ending.reason}: {of}"


def _next(plan: Plan, cluster: ClusterName, *, is_locked: bool) -> str:
    """Return the command to run next; one lock leads `recover` to all of the attempt."""
    followed = [target.ref for target in plan.targets]
    if is_locked:
        refs = [*followed, *_objects(plan)]
        namespace = next((ref.namespace for ref in refs), "")
        return recovery_command(cluster, locks_of(refs, namespace)[0])
    if not followed and plan.command == "apply":
        return "apply again"
    if not followed:
        refs = _objects(plan)
        namespace = next((ref.namespace for ref in refs), "")
        names = [ref.name for ref in refs if ref.namespace == namespace][:1]
        return cluster.command("rollout-gate", "status", *names, namespace=namespace)
    first = followed[0]
    names = [argument_of(ref) for ref in followed if ref.namespace == first.namespace]
    return cluster.command("rollout-gate", "verify", *names, namespace=first.namespace)


def _objects(plan: Plan) -> list[Ref]:
    return [planned.ref for planned in plan.objects if planned.ref.namespace]
