"""Warnings before the first write, from what the locks remember and can keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from gate.app.locks.memory import Memory, secret_permissions
from gate.app.locks.verified_bodies import permissions
from gate.app.preflight.server_dry_run import Prepared
from gate.app.runtime.console import Warn
from gate.app.runtime.session import Session
from gate.core.attempt.record import record_of
from gate.core.model.body import Body
from gate.core.model.environment_values import without_values
from gate.core.model.fact import Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import lock_of
from gate.core.model.naming import naming
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.kube.rights.access import Access
from gate.wire.record import confidential_bodies, fitting, secrets_of, without_secrets

Trials = Mapping[Ref, LiveObject]


def paused_by_us(items: Iterable[Prepared], memory: Memory) -> frozenset[Ref]:
    """Return the workloads that a gate paused: we may end such a pause."""
    return frozenset(one.ref for one in items if memory.history(one.ref).paused)


def warn_of_failures(
    items: Collection[Prepared], trials: Trials, memory: Memory, warn: Warn
) -> None:
    """Warn if the same pod template failed before."""
    name = naming(item.ref for item in items)
    for item in items:
        trial = trials.get(item.ref)
        if trial is None or trial.workload is None:
            continue
        judged = memory.history(item.ref).of_template(trial.workload.template)
        if judged is not None and judged.why is not None and judged.failed:
            by = f", see {judged.run_url}" if judged.run_url else ""
            warn(
                f"{name(item.ref)}: this very template failed in an attempt that ended at"
                f" {judged.judged_at}: {judged.why.reason}: {judged.why.message}{by}"
            )


def warn_of_what_is_not_kept(session: Session, plan: Plan, warn: Warn) -> None:
    """Warn of what could not be restored from the record of a killed gate."""
    record = record_of(plan)
    _, kept = fitting(without_secrets(record))
    secrets = {one.ref for one in secrets_of(record)} | confidential_bodies(record).keys()
    lost = [one.ref for one in kept.objects if isinstance(one.before, Unknown) and one.changes]
    too_large = [ref for ref in lost if ref not in secrets]
    if too_large:
        names = ", ".join(map(plan.name_of, too_large))
        warn(f"too large for the record: a later recover will not be able to restore {names}")
    if secrets:
        _warn_of_secrets(session, secrets, plan, warn)


def _warn_of_secrets(session: Session, secrets: Collection[Ref], plan: Plan, warn: Warn) -> None:
    missing = Access(session.client).missing(secret_permissions({r.namespace for r in secrets}))
    if missing:
        names = ", ".join(map(plan.name_of, sorted(secrets)))
        verbs = ", ".join(one.verb for one in missing)
        warn(
            f"a {plan.command} that is killed could not have {names} restored: "
            f"not allowed: {verbs} secrets"
        )


def warn_of_what_will_not_be_kept(session: Session, plan: Plan, warn: Warn) -> None:
    """Warn if permissions are missing to keep the confidential bodies that a later return needs."""
    writes = {write.ref: write.body for write in plan.writes if write.verb is Verb.APPLY}
    refs = sorted(r for r, body in writes.items() if _is_confidential(r, body))
    locks = {lock_of(one.ref) for one in plan.targets}
    missing = Access(session.client).missing(permissions(locks)) if refs else ()
    if missing:
        names, verbs = (
            ", ".join(map(plan.name_of, refs)),
            ", ".join(dict.fromkeys(m.verb for m in missing)),
        )
        warn(
            f"what is verified of {names} cannot be kept for a later return: "
            f"not allowed: {verbs} secrets"
        )


def _is_confidential(ref: Ref, body: Body) -> bool:
    return ref.kind == "Secret" or without_values(body) != body
