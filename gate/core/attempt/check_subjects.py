"""What the health checks of an attempt are about: workloads, and the versions that they name."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.spec import Check
from gate.core.kinds.check_variables import is_measured, variables_of
from gate.core.model.objects import Ref
from gate.core.rollout.baseline import find_beside


def about(attempt: Attempt, check: Check) -> tuple[Ref, ...]:
    """Return the workloads that a check is about, out of those followed and still ours.

    What wants no pod any more serves nothing that could be measured.
    """
    departures = attempt.interference.departures
    rollouts = attempt.workloads.rollouts.items()
    refs = (ref for ref, one in rollouts if ref not in departures and not one.is_emptied)
    return tuple(ref for ref in refs if is_measured(ref) and check.is_about(ref))


def is_about_any(attempt: Attempt, check: Check) -> bool:
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
        baseline=find_served(attempt, ref),
        revision=live.revision if live is not None else None,
        first_available_at=rollout.progress.first_available_at,
        variables=variables_of(refs),
    )


def find_served(attempt: Attempt, ref: Ref) -> Version | None:
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
