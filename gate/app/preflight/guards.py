"""Guards that can refuse an attempt before its first write, by raising RefusedError."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from gate.app.preflight.managers import signs_of_management
from gate.app.preflight.server_dry_run import Prepared
from gate.app.runtime.workload_names import argument_of, workload_ref
from gate.cluster_name import ClusterName
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.naming import Naming
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan
from gate.core.plan.replica_ownership import (
    REPLICAS_PATH,
    Decision,
    Replicas,
    describe_number,
)
from gate.core.plan.workload_body import pause_body
from gate.core.ssa import managed_fields, unions
from gate.errors import RefusedError, UsageError
from gate.kube.answers.failures import FieldConflict

NO_PAUSE = "--on-failure rollback returns to what served before, and keep writes nothing"
_RESUME = "find out why it was paused; to resume it, pass --resume"


def refuse_managed(lives: Iterable[LiveObject], cluster: ClusterName, name: Naming = str) -> None:
    """Refuse workloads that Helm, Argo CD or Flux would revert; `cluster` is for the hint."""
    for live in lives:
        signs = signs_of_management(live)
        if signs:
            words = ("rollout-gate", "verify", argument_of(live.ref))
            verify = cluster.command(*words, namespace=live.ref.namespace)
            raise RefusedError(
                f"{name(live.ref)} is managed by something else ({'; '.join(signs)})",
                reason=Reason.GITOPS_MANAGED,
                hint="to apply anyway: --allow-managed; "
                f"or let that tool roll out, and judge the rollout: {verify}",
            )


def refuse_paused(lives: Iterable[LiveObject], name: Naming = str, *, hint: str = _RESUME) -> None:
    """Refuse paused workloads: no rollout would ever start.

    In `hint`, `{field}` stands for the field that pauses the kind.
    """
    for live in lives:
        if live.workload is not None and live.workload.paused:
            kind = kind_of(live.ref)
            raise RefusedError(
                f"{name(live.ref)} is {kind.pause_word}",
                reason=Reason.PAUSED,
                hint=hint.format(field=f"spec.{kind.pause_field}"),
            )


def refuse_single_run(name: str, refused: str, hint: str) -> None:
    """Raise UsageError for what runs once and is `refused` therefore, as "cannot be restarted"."""
    ref = workload_ref("", name)
    if not has_way_back(ref):
        raise UsageError(f"{ref} {refused}: a {ref.kind} runs once", hint=hint)


def require_pause(ref: Ref, name: Naming = str, *, hint: str = "") -> Body:
    """Return the patch that pauses a workload; UsageError if the API cannot pause its kind."""
    body = pause_body(ref)
    if body is None:
        raise UsageError(f"{name(ref)} cannot be paused: no {ref.kind} can be", hint=hint)
    return body


def refuse_to_pause_ended(live: LiveObject, cluster: ClusterName) -> None:
    """Refuse to pause what is over: nothing of it runs, and a pause would only stay."""
    workload, kind = live.workload, kind_of(live.ref)
    if workload is None or not (kind.has_ended(workload) or kind.failure(workload)):
        return
    ended = "has failed" if kind.failure(workload) else "has completed"
    words = ("rollout-gate", "status", argument_of(live.ref))
    raise RefusedError(
        f"{live.ref} {ended}: there is nothing to suspend",
        reason=Reason.REJECTED,
        hint=f"see how it ended: {cluster.command(*words, namespace=live.ref.namespace)}",
    )


def refuse_to_resume(ref: Ref) -> None:
    """Raise UsageError if nothing could have paused a workload of that kind."""
    if pause_body(ref) is None:
        raise UsageError(f"{ref} cannot be resumed: no {ref.kind} can be paused")


def require_replicas(ref: Ref, name: Naming = str) -> None:
    """Raise UsageError if a first version of a workload could not be scaled to zero."""
    if _takes_pods_from_nodes(ref):
        raise UsageError(
            f"{name(ref)} cannot be scaled to zero: a {ref.kind} has no replicas",
            hint="--on-first-failure keep leaves a first version that fails, and delete deletes it",
        )


def _takes_pods_from_nodes(ref: Ref) -> bool:
    kind = kind_of(ref)
    return kind.has_way_back and kind.default_replicas is None


def refuse_deleting_claims(ref: Ref, trial: LiveObject | None, name: Naming = str) -> None:
    """Raise UsageError if to scale a first version to zero would delete its data."""
    workload = trial.workload if trial is not None else None
    if workload is not None and workload.loses_by_scaling_down:
        raise UsageError(
            f"{name(ref)} cannot be scaled to zero: by persistentVolumeClaimRetentionPolicy"
            " (whenScaled: Delete) that deletes its claims",
            hint="--on-first-failure keep leaves a first version that fails, with its claims",
        )


def refuse_deleting(lives: Iterable[LiveObject], cluster: ClusterName, name: Naming = str) -> None:
    """Refuse objects that are being deleted: what is applied to them is deleted with them.

    `metadata.deletionTimestamp` is never unset; the object is gone with its last finalizer.
    """
    for live in lives:
        metadata = live.body.thaw()["metadata"]
        if not metadata.get("deletionTimestamp"):
            continue
        finalizers = metadata.get("finalizers") or ()
        waits = f"; it waits for {', '.join(finalizers)}" if finalizers else ""
        words = ("kubectl", "wait", "--for=delete", str(live.ref))
        wait = cluster.command(*words, namespace=live.ref.namespace)
        raise RefusedError(
            f"{name(live.ref)} is being deleted{waits}",
            reason=Reason.DELETED,
            hint=f"wait until it is gone, then run again: {wait}",
        )


def refuse_empty(
    prepared: Iterable[Prepared], trials: Mapping[Ref, LiveObject], name: Naming = str
) -> None:
    """Refuse workloads without pods, which prove nothing (`--require-pods`).

    `trials` are what the server would make of them; so live replicas count if the manifest does
    not set any. Where each node gets a pod, that is seen once it is written.
    """
    for item in prepared:
        if item.is_workload and _takes_pods_from_nodes(item.ref):
            continue
        trial = trials.get(item.ref)
        made = trial.workload.replicas if trial is not None and trial.workload else None
        asked = item.sent_body().get("spec", {}).get("replicas") if made is None else made
        if item.is_workload and asked == 0:
            raise RefusedError(
                f"{name(item.ref)} has replicas: 0, so no pod would show whether the version works",
                reason=Reason.VACUOUS,
                hint="drop --require-pods to apply it anyway",
            )


def refuse_scaled(prepared: Iterable[Prepared], name: Naming = str) -> None:
    """Refuse workloads scaled by somebody since the last apply, until `--replicas` decides."""
    for item in prepared:
        numbers = item.replicas
        if numbers is None or numbers.decision is not Decision.REFUSED:
            continue
        live, wanted, applied = numbers.live, numbers.wanted, numbers.applied
        number = describe_number(live)
        verb = "was" if applied == 1 else "were"
        last = "" if applied is None else f", and {applied} {verb} applied last"
        # A 0 has no owner after `kubectl scale`, and is ours if a run without the lock applied it.
        who = "somebody has scaled it" if live else "somebody, or a run without the lock, scaled it"
        raise RefusedError(
            f"{name(item.ref)} has {number}, the manifest asks for {wanted}{last}: {who}",
            reason=Reason.CONFLICT,
            hint=_choose_replicas(numbers),
        )


def refuse_excluded(prepared: Iterable[Prepared], name: Naming = str) -> None:
    """Refuse live fields that the manifest excludes while others own them: they would be rejected.

    For example `rollingUpdate` beside the strategy Recreate: the apply would leave it there. A dry
    run cannot tell: what is ours of it is removed by a change of ownership before the apply.
    """
    for item in prepared:
        managed = item.live.thaw_managed_fields() if item.live is not None else []
        for path in unions.excluded_members(item.body):
            managers = sorted(
                {m for m, _ in managed_fields.owners_of(item.taken or managed, path)}
                - {FIELD_MANAGER}
            )
            if not managers or unions.value_at(item.body, path) is not None:
                continue
            field = ".".join(path)
            flags = " ".join(f"--take-over {shlex.quote(manager)}" for manager in managers)
            raise RefusedError(
                f"{name(item.ref)}: {field} does not fit the manifest, and others own it:"
                f" {', '.join(managers)}",
                reason=Reason.CONFLICT,
                hint=f"have it removed: add {flags}",
            )


def refuse_protected(namespaces: Iterable[str], protected: Sequence[str]) -> None:
    """Refuse namespaces that `--protected-namespace` names."""
    for namespace in namespaces:
        if namespace in protected:
            raise RefusedError(
                f"namespace {namespace} is protected",
                reason=Reason.PROTECTED,
                hint="--protected-namespace names it; are context and namespace right?",
            )


def refuse_protected_objects(refs: Iterable[Ref], protected: Sequence[str]) -> None:
    """Refuse objects in protected namespaces, and those namespaces themselves."""
    namespaces = {ref.name if ref.kind == "Namespace" else ref.namespace for ref in refs}
    refuse_protected(sorted(namespaces), protected)


def refuse_protected_plan(plan: Plan, protected: Sequence[str]) -> None:
    """Refuse a plan that writes into a protected namespace, forward or on the way back.

    A verified set may hold objects in namespaces that nobody named.
    """
    written = (write.ref for write in plan.writes)
    refuse_protected_objects((*written, *plan.target_set.bodies), protected)


def _choose_replicas(numbers: Replicas) -> str:
    return f"--replicas keep leaves {numbers.live}; --replicas apply makes it {numbers.wanted}"


def conflict_refusal(
    item: Prepared, conflicts: Sequence[FieldConflict], name: Naming = str
) -> RefusedError:
    """Return the refusal for fields that other managers own, with the flags that settle it."""
    fields = ", ".join(f"{conflict.path} ({conflict.manager})" for conflict in conflicts)
    of_what = "that this would return" if item.is_return else "of the manifest"
    settling = _settling(item, conflicts)
    ways = [
        *settling,
        f"{'or ' if settling else ''}overwrite them this once: add --force-conflicts",
    ]
    return RefusedError(
        f"{name(item.ref)}: others own fields {of_what}: {fields}",
        reason=Reason.CONFLICT,
        hint="; ".join(ways),
    )


def _settling(item: Prepared, conflicts: Sequence[FieldConflict]) -> list[str]:
    """Return how to settle conflicts for good: flags, or leaving fields out of the manifest."""
    taken = [one for one in conflicts if not one.subresource and item.can_take_over(one.manager)]
    left = [one for one in conflicts if one not in taken]
    managers = sorted({one.manager for one in taken})
    ways = []
    if managers:
        flags = " ".join(f"--take-over {shlex.quote(manager)}" for manager in managers)
        ways.append(f"take them over for good: add {flags}")
    if [one.path for one in left] == [REPLICAS_PATH] and item.replicas is not None:
        ways.append(_choose_replicas(item.replicas))
    elif left and not item.is_return:
        them = ", ".join(one.path for one in left) if managers else "them"
        ways.append(f"leave {them} out of the manifest")
    return ways
