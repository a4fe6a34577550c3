"""Who decides about replicas: autoscalers, live or in the manifest, or whoever scaled by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from gate.app.preflight.server_dry_run import Prepared
from gate.app.runtime.console import Warn
from gate.core.kinds.registry import is_workload, kind_of
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.naming import naming
from gate.core.model.objects import Ref
from gate.core.plan.replica_ownership import Replicas, ReplicasPolicy, describe_number
from gate.core.ssa import managed_fields
from gate.core.versions.history import History
from gate.kube.paths.resources import AUTOSCALERS, SCALED_OBJECTS
from gate.kube.reads.quorum_reads import Reader, scale_target
from gate.kube.rights.access import Permission
from gate.manifests.body import value_at
from gate.manifests.manifest import Manifest, ManifestObject

_AUTOSCALERS: Final = {("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject")}


def scalable_namespaces(manifest: Manifest) -> frozenset[str]:
    """Return the namespaces of the manifest's workloads that have a number of replicas."""
    refs = (item.ref for item in manifest.workloads)
    return frozenset(ref.namespace for ref in refs if _is_scalable(ref))


def read_autoscaled(reader: Reader, namespaces: Collection[str], warn: Warn) -> frozenset[Ref]:
    """Return what autoscalers target in these namespaces; warn if they cannot be read."""
    scaled: set[Ref] = set()
    for namespace in sorted(namespaces):
        match reader.autoscalers(namespace):
            case Known(scalers):
                scaled |= {scaler.target for scaler in scalers}
            case Unknown(why):
                warn(f"cannot tell whether an autoscaler owns replicas in {namespace}: {why}")
            case Absent():
                pass
    return frozenset(scaled)


def with_scalers(reader: Reader, items: Collection[Prepared], warn: Warn) -> tuple[Prepared, ...]:
    """Return what no manifest names with who decides on its replicas; the live number is kept."""
    scalable = {item.ref.namespace for item in items if _has_kept_number(item)}
    scaled = read_autoscaled(reader, scalable, warn)
    return tuple(_as_autoscaled(item) if item.ref in scaled else item for item in items)


def _has_kept_number(item: Prepared) -> bool:
    return item.is_workload and item.autoscaled and _is_scalable(item.ref)


def _is_scalable(ref: Ref) -> bool:
    return kind_of(ref).default_replicas is not None


def _as_autoscaled(item: Prepared) -> Prepared:
    live = item.live.workload if item.live is not None else None
    if live is None or not _has_kept_number(item):
        return item
    return item.with_replicas(Replicas(live.replicas, None, None, is_autoscaled=True))


def scaler_permissions(refs: Collection[Ref]) -> Iterator[Permission]:
    """Yield the rights to see what scales workloads; without them a run only warns."""
    for namespace in dict.fromkeys(ref.namespace for ref in refs if _is_scalable(ref)):
        for resource in (AUTOSCALERS, SCALED_OBJECTS):
            yield Permission(namespace, resource.group, resource.plural, "list")


def targets_of(manifest: Manifest) -> frozenset[Ref]:
    """Return what a manifest's autoscalers target; the server rejects one without a target."""
    scalers = (item for item in manifest.objects if (item.group, item.kind) in _AUTOSCALERS)
    targets = (scale_target(item.ref.namespace, item.body) for item in scalers)
    return frozenset(target for target in targets if target is not None)


def replicas_of(
    item: ManifestObject,
    before: Fact[LiveObject],
    history: History,
    policy: ReplicasPolicy,
    *,
    is_autoscaled: bool,
) -> Replicas | None:
    """Return the replica numbers of an existing workload; None for others, and without the field.

    Also None for kinds without replicas, and if `spec.replicas` is no number, which the server
    will reject.
    """
    live = before.value.workload if isinstance(before, Known) else None
    wanted = value_at(item.body, "spec", "replicas")
    if not is_workload(item.ref) or kind_of(item.ref).default_replicas is None:
        return None
    if live is None or not (wanted is None or isinstance(wanted, int)):
        return None
    known, scaled_down = history.replicas_of(live.uid), False
    applied = known.applied
    if isinstance(before, Known):
        if _is_our_number(before.value, live.replicas) and live.replicas != known.others:
            applied = live.replicas
        scaled_down = live.replicas == 0 and _is_our_scale_down(before.value, history)
    return Replicas(live.replicas, wanted, applied, is_autoscaled, policy, scaled_down)


def _is_our_scale_down(before: LiveObject, history: History) -> bool:
    """Tell whether a live 0 is our own reaction to a failed first version.

    That patch gave the field to our manager as an Update, which nothing else in the gate does. A
    take-over makes it part of our Apply; then the lock remembers that it was ours. If somebody else
    scales it later, even to 0, the field has another owner or none.
    """
    owners = _owners_of_replicas(before)
    if {manager for manager, _ in owners} != {FIELD_MANAGER}:
        return False
    return (FIELD_MANAGER, "Update") in owners or history.replicas_of(before.uid).scaled_down


def _owners_of_replicas(before: LiveObject) -> Collection[tuple[str, str]]:
    return managed_fields.owners_of(before.thaw_managed_fields(), ("spec", "replicas"))


def _is_our_number(before: LiveObject, replicas: int) -> bool:
    """Tell whether a gate applied the live number, whatever the lock remembers: see `--no-lock`.

    Whoever scales to more than 0 becomes the owner of `spec.replicas`. A 0 may have had no owner
    (`kubectl scale --replicas=0`) until a gate sent it again to keep it. What a way back returned
    is ours by its owner, too: that somebody had scaled to it, only the lock remembers.
    """
    owners = _owners_of_replicas(before)
    return replicas > 0 and {manager for manager, _ in owners} == {FIELD_MANAGER}


def warn_of_replicas(items: Collection[Prepared], warn: Warn) -> None:
    """Warn if the number of replicas is not what a reader of the manifest expects."""
    name = naming(item.ref for item in items)
    for item in items:
        numbers = item.replicas
        if numbers is not None and numbers.is_resumed:
            number = describe_number(1 if numbers.wanted is None else numbers.wanted)
            warn(
                f"{name(item.ref)} goes from 0 to {number}: the gate had scaled its first"
                " version to 0 after a failure"
            )
            continue
        if numbers is None or not numbers.was_scaled or numbers.is_autoscaled:
            continue
        live, wanted = numbers.live, numbers.wanted
        if numbers.is_imposed:
            number = describe_number(wanted)
            warn(f"{name(item.ref)} goes from {live} to {number}: --replicas apply")
        else:
            number = describe_number(live)
            warn(f"{name(item.ref)} keeps its {number}, not the manifest's {wanted}")
