"""Turn the settings that decide into the core's policy."""

from __future__ import annotations

from gate.config.parsing import MIN_AVAILABLE
from gate.config.settings import Settings
from gate.core.checks.bake_window import least_bake_seconds
from gate.core.checks.spec import Check, share_alpha
from gate.core.rollout.policy import Budgets, ObjectWait, Policy, Requirement, Response


def all_checks(settings: Settings) -> tuple[Check, ...]:
    """Return every check that the settings ask for, those of files first; names are unique."""
    return (*settings.checks, *settings.check, *settings.http_check, *settings.smoke_test)


def policy(settings: Settings) -> Policy:
    """Return the policy of an attempt with these settings.

    If no bake window is asked for, there is only the time that checks need for their evidence.
    """
    checks = share_alpha(all_checks(settings))
    return Policy(
        budgets=Budgets(
            timeout_seconds=settings.timeout,
            rollback_timeout_seconds=settings.rollback_timeout,
            progress_deadline_seconds=settings.progress_deadline,
            bake_seconds=settings.bake or 0.0,
            bake_early=settings.bake_early,
            evidence_seconds=least_bake_seconds(checks) if settings.bake is None else 0.0,
        ),
        requirement=Requirement(
            tolerate=settings.tolerate,
            require=None if settings.require == MIN_AVAILABLE else settings.require,
            require_min_available=settings.require == MIN_AVAILABLE,
            wait_for_termination=settings.wait_for_termination,
            require_all_nodes=settings.require_all_nodes,
            on_delete=settings.on_delete,
        ),
        response=Response(
            on_failure=settings.on_failure,
            on_first_failure=settings.on_first_failure,
            on_interrupt=settings.on_interrupt,
            prune_created=settings.prune_created,
            force_conflicts=settings.force_conflicts,
            on_inconclusive=settings.on_inconclusive,
            blocked_pods=settings.replace_blocked_pods,
        ),
        fail_fast=settings.fail_fast,
        checks=checks,
        observe=settings.observe,
    )


def object_wait(settings: Settings) -> ObjectWait:
    """Return what an apply waits for beside its workloads; no other command waits for it."""
    return ObjectWait(settings.wait_for, settings.wait_for_timeout)
