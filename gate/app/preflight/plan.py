"""The parts of a preflight: what is there, what guards refuse of it, and the plan.

`commands.apply_plan` and `commands.undo_plan` put them in order. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from gate.app.locks.memory import Memory
from gate.app.preflight.guards import (
    NO_PAUSE,
    refuse_deleting,
    refuse_deleting_claims,
    refuse_empty,
    refuse_excluded,
    refuse_managed,
    refuse_paused,
    refuse_scaled,
    require_pause,
    require_replicas,
)
from gate.app.preflight.replicas import (
    read_autoscaled,
    replicas_of,
    scalable_namespaces,
    targets_of,
)
from gate.app.preflight.runs import phase_of, replacing_failed, with_locks_named
from gate.app.preflight.server_dry_run import Prepared, prepare
from gate.app.preflight.trials import Trials
from gate.app.runtime.console import Warn
from gate.app.runtime.session import Session
from gate.cluster_name import ClusterName
from gate.config import Settings
from gate.core.frozen import dataclass
from gate.core.kinds.registry import has_way_back, kind_of, locks_of
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveFacts
from gate.core.model.lock import Lock
from gate.core.model.naming import naming
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan, PlannedWrite, Target, in_phases
from gate.core.plan.rollback_plan import content
from gate.core.plan.workload_body import resume_body
from gate.core.readiness.object_needs import find_own_needs
from gate.core.readiness.pod_environment import has_in_environment
from gate.core.rollout.policy import OnFailure, OnFirstFailure, Policy
from gate.duration import format_seconds
from gate.kube.kinds.registry import workload_of
from gate.kube.reads.quorum_reads import Reader
from gate.manifests.manifest import Manifest, ManifestObject

LEAST_START_SECONDS = 1.0
"""The least time that a pod takes from its creation to being ready."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The state of a manifest's objects before any write."""

    lives: LiveFacts
    autoscaled: frozenset[Ref]


def read_surroundings(session: Session, manifest: Manifest, warn: Warn) -> Surroundings:
    """Read every object of the manifest, and which of its workloads are autoscaled."""
    reader = Reader(session.client, session.resources, session.clock)
    refs = [item.ref for item in manifest.objects]
    lives = reader.lives(refs)
    autoscaled = read_autoscaled(reader, scalable_namespaces(manifest), warn)
    return Surroundings(lives, autoscaled | targets_of(manifest))


def prepare_objects(
    settings: Settings, manifest: Manifest, found: Surroundings, memory: Memory
) -> tuple[Prepared, ...]:
    """Return what to send for each object, in the order of application.

    RefusedError for what has failed before and would not run again (`runs`).
    """
    locks = locks_of((item.lasting_ref for item in manifest.objects), "")
    items = [_prepare_object(settings, item, found, memory, locks) for item in manifest.objects]
    return replacing_failed(items, naming(item.ref for item in items))


def _prepare_object(
    settings: Settings,
    item: ManifestObject,
    found: Surroundings,
    memory: Memory,
    locks: Iterable[Lock],
) -> Prepared:
    before, is_autoscaled = found.lives[item.ref], item.ref in found.autoscaled
    history = memory.history(item.ref)
    numbers = replicas_of(item, before, history, settings.replicas, is_autoscaled=is_autoscaled)
    prepared_item = prepare(
        item.ref,
        with_locks_named(item, before, locks),
        before,
        take_over=settings.take_over,
        autoscaled=is_autoscaled and not (numbers is not None and numbers.is_resumed),
        force=settings.force_conflicts,
    )
    return prepared_item.with_replicas(numbers)


def guard(
    session: Session,
    settings: Settings,
    items: Collection[Prepared],
    paused_by_us: Collection[Ref] = (),
) -> None:
    """Refuse what must not be touched without a flag; a pause by a gate is no reason to refuse."""
    name = naming(item.ref for item in items)
    there = [item.live for item in items if item.live is not None]
    refuse_deleting(there, session.connection.cluster, name)
    lives = [live for live in there if live.workload is not None]
    if not settings.allow_managed:
        refuse_managed(lives, session.connection.cluster, name)
    if not settings.resume:
        refuse_paused((live for live in lives if live.ref not in paused_by_us), name)
    if settings.on_failure is OnFailure.PAUSE:
        for ref in (item.ref for item in items if item.is_workload):
            require_pause(ref, name, hint=NO_PAUSE)
    if settings.on_first_failure is OnFirstFailure.SCALE_TO_ZERO:
        for ref in (item.ref for item in items if item.is_workload and item.live is None):
            require_replicas(ref, name)
    refuse_scaled(items, name)
    refuse_excluded(items, name)


def guard_outcome(
    settings: Settings,
    items: Collection[Prepared],
    trials: Trials,
    paused_by_us: Collection[Ref] = (),
) -> None:
    """Refuse dry-run results that could not be verified: no pods, or paused; or lose data."""
    name = naming(item.ref for item in items)
    if settings.require_pods:
        refuse_empty(items, trials, name)
    if settings.on_first_failure is OnFirstFailure.SCALE_TO_ZERO:
        for ref in (item.ref for item in items if item.is_workload and item.live is None):
            refuse_deleting_claims(ref, trials.get(ref), name)
    if not settings.resume:
        others = (trial for ref, trial in trials.items() if ref not in paused_by_us)
        refuse_paused(others, name, hint="take {field} out of the manifest, or --resume")


def warn_of_configuration(
    items: Collection[Prepared], trials: Trials, warn: Warn, cluster: ClusterName
) -> None:
    """Warn of configuration that changes, while pods that run keep what they read as they started.

    Each workload is named whose template stays as it is and has it in the environment; where no
    template changes, and none has it there, all of them.
    """
    changed = [item for item in items if _changes(item, trials)]
    configuration = sorted(i.ref for i in changed if i.ref.kind in ("ConfigMap", "Secret"))
    if not configuration:
        return
    name, is_any_named = naming(item.ref for item in items), False
    for item in (one for one in items if one.is_workload and one not in changed):
        near = (ref for ref in configuration if ref.namespace == item.ref.namespace)
        read = [ref for ref in near if has_in_environment(item.body, ref)]
        if read and has_way_back(item.ref):
            is_any_named = True
            restart = cluster.command(
                "rollout-gate", "restart", str(item.ref), namespace=item.ref.namespace
            )
            warn(
                f"{name(item.ref)}: its pods keep {', '.join(map(name, read))} in their environment"
                f" as it was, until they restart: {restart}"
            )
    if not is_any_named and not any(item.is_workload for item in changed):
        names = ", ".join(map(name, configuration))
        warn(
            f"only configuration changes ({names}):"
            " running pods may not pick it up until they restart"
        )


def warn_of_strategies(items: Collection[Prepared], trials: Trials, warn: Warn) -> None:
    """Warn of what in the spec of a workload does less, or more, than it seems to."""
    name = naming(item.ref for item in items)
    for item in items:
        trial = trials.get(item.ref)
        live = trial.workload if trial is not None else None
        if live is None:
            continue
        for warning in live.warnings:
            warn(f"{name(item.ref)}: {warning}")
        before = item.live.workload if item.live is not None else None
        if before is not None and live.replicas < before.replicas and live.loses_by_scaling_down:
            warn(
                f"{name(item.ref)}: it is scaled from {before.replicas} to {live.replicas}, which"
                " deletes the claims of the pods that go: a failure brings these pods back, and"
                " not their data"
            )


def warn_of_short_timeout(
    timeout_seconds: float | None, items: Collection[Prepared], trials: Trials, warn: Warn
) -> None:
    """Warn if a rollout cannot finish within the timeout, however well it goes."""
    name = naming(item.ref for item in items)
    for item in items:
        trial = trials.get(item.ref)
        live = trial.workload if trial is not None else None
        if timeout_seconds is None or live is None or not _changes(item, trials):
            continue
        kind, before = kind_of(item.ref), item.live.workload if item.live is not None else None
        pods_before = kind.status_counts(before).total if before is not None else 0
        steps = kind.least_steps(live, pods_before)
        step_seconds = kind.step_seconds(live) + LEAST_START_SECONDS
        if timeout_seconds < (least := steps * step_seconds):
            one_by_one = f" ({steps} steps of {format_seconds(step_seconds)})" if steps > 1 else ""
            warn(
                f"{name(item.ref)}: its rollout takes {format_seconds(least)} at least{one_by_one},"
                f" longer than a timeout of {format_seconds(timeout_seconds)}"
            )


def _changes(item: Prepared, trials: Trials) -> bool:
    """Tell whether the apply changes the object; for a workload, only its pod template counts."""
    trial, live = trials.get(item.ref), item.live
    if trial is None:
        return False
    if live is None:
        return True
    if live.workload is not None and trial.workload is not None:
        return live.workload.template.body != trial.workload.template.body
    return content(live.body) != content(trial.body)


def plan_of(
    command: str,
    policy: Policy,
    items: Collection[Prepared],
    trials: Trials,
    targets: tuple[Target, ...],
    resumed: Collection[Ref],
) -> Plan:
    """Return the plan: the writes in the order of their phases, and the workloads to follow.

    Workloads in `resumed` that would be paused after the apply are resumed.
    """
    writes: list[PlannedWrite] = []
    for item in items:
        writes.extend(item.writes())
        if item.ref in resumed and item.is_workload and _is_paused(item):
            writes.append(resumption(item.ref))
    objects = tuple(item.plan_object(trials.get(item.ref)) for item in items)
    phases = {item.ref: phase_of(item.ref, item.body) for item in items}
    followed = tuple(replace(one, phase=phases.get(one.ref, one.phase)) for one in targets)
    needs = find_own_needs({item.ref: item.body for item in items})
    return Plan(command, followed, objects, in_phases(writes, followed, needs), policy)


def resumption(ref: Ref) -> PlannedWrite:
    """Return the write that resumes a paused workload."""
    return PlannedWrite(ref, Verb.MERGE, resume_body(ref))


def _is_paused(item: Prepared) -> bool:
    """Tell whether it would be paused after the apply."""
    asked = item.body.get("spec", {}).get(kind_of(item.ref).pause_field)
    live = item.live.workload if item.live is not None else None
    return bool(asked) or (asked is None and live is not None and live.paused)


def selectors(manifest: Manifest, found: Surroundings) -> dict[Ref, Mapping[str, Any]]:
    """Return the label selector of each workload: the live one, else the manifest's."""
    return {item.ref: _selector(item, found) for item in manifest.workloads}


def _selector(item: ManifestObject, found: Surroundings) -> Mapping[str, Any]:
    fact = found.lives[item.ref]
    body = fact.value.body.thaw() if isinstance(fact, Known) else item.body
    return workload_of(item.ref).selector(body)
