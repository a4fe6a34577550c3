"""How many replicas an apply asks for if somebody may have scaled the workload by hand.

After `kubectl scale --replicas=0` no manager owns `spec.replicas`, so the server itself would
let an apply overwrite it: only a remembered number shows the scaling.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.core.kinds.registry import kind_of
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.ssa import managed_fields

REPLICAS_PATH: Final = ".spec.replicas"
"""The number of replicas as the server names it in a conflict."""


class ReplicasPolicy(enum.StrEnum):
    """Whose number counts if somebody has scaled the workload since the last apply.

    `KEEP` always applies: whatever the manifest asks for, nothing is scaled.
    """

    REFUSE = "refuse"
    KEEP = "keep"
    APPLY = "apply"


class Decision(enum.Enum):
    """What an apply does about `spec.replicas`."""

    MANIFEST = enum.auto()
    """It sends the manifest's number."""
    LIVE = enum.auto()
    """It sends the live number, or leaves the field out if another manager owns it."""
    REFUSED = enum.auto()
    """It is refused: somebody has to say which number counts."""


class Scaler(enum.Enum):
    """Who decides how many replicas a written workload has."""

    MANIFEST = enum.auto()
    PEOPLE = enum.auto()
    """Whoever has scaled it."""
    AUTOSCALER = enum.auto()

    @property
    def keeps_live(self) -> bool:
        """Whether a write sends the live number, or leaves it to its other owner."""
        return self is not Scaler.MANIFEST


@dataclass(frozen=True, slots=True)
class Replicas:
    """The replica counts of an existing workload, and what follows from them.

    `wanted` is the manifest's number, None if it has none; `applied` is the last number that an
    apply sent from a manifest, None if none is remembered. `scaled_down` is whether the gate itself
    scaled a first version that failed to the live 0 (`--on-first-failure scale-to-zero`).
    """

    live: int
    wanted: int | None
    applied: int | None
    is_autoscaled: bool = False
    policy: ReplicasPolicy = ReplicasPolicy.REFUSE
    scaled_down: bool = False

    @property
    def decision(self) -> Decision:
        """What an apply does; it undoes a scale-down of our own, even under an autoscaler.

        An autoscaler leaves a workload with 0 replicas alone.
        """
        if self.scaled_down and self.policy is not ReplicasPolicy.KEEP:
            return Decision.MANIFEST
        if self.is_autoscaled or self.wanted is None or self.policy is ReplicasPolicy.KEEP:
            return Decision.LIVE
        if self.was_scaled and self.policy is ReplicasPolicy.REFUSE:
            return Decision.REFUSED
        return Decision.MANIFEST

    @property
    def was_scaled(self) -> bool:
        """Whether somebody has scaled it to a number that the manifest does not ask for.

        If no number is remembered, only 0 is a sign of that: no default leads to it.
        """
        if self.wanted is None or self.live == self.wanted or self.scaled_down:
            return False
        if self.applied is None:
            return self.live == 0
        return self.live != self.applied

    @property
    def is_resumed(self) -> bool:
        """Whether the apply ends a scale-down of our own."""
        return self.scaled_down and self.decision is Decision.MANIFEST and self.wanted != 0

    @property
    def is_imposed(self) -> bool:
        """Whether the user asked for the manifest's number over another one, whoever owns that."""
        is_other = self.wanted is not None and self.live != self.wanted and not self.scaled_down
        asks = self.policy is ReplicasPolicy.APPLY and self.decision is Decision.MANIFEST
        return is_other and asks


def describe_number(replicas: int | None) -> str:
    """Return a number of replicas with its noun."""
    return f"{replicas} replica{'' if replicas == 1 else 's'}"


def without_replicas(value: dict[str, Any]) -> dict[str, Any]:
    """Return an apply's body that leaves `spec.replicas` to its other owner."""
    spec = {key: entry for key, entry in value.get("spec", {}).items() if key != "replicas"}
    return {**value, "spec": spec} if spec else value


def with_live_replicas(value: dict[str, Any], live: LiveObject) -> dict[str, Any]:
    """Return an apply's body with the `spec.replicas` of `live`.

    Leaving out a field that only the gate owns would reset it to its default, 1. A kind without
    that field has none to keep.
    """
    replicas = live.body.thaw().get("spec", {}).get("replicas")
    if replicas is None:
        return value
    return {**value, "spec": {**value.get("spec", {}), "replicas": replicas}}


def with_replicas_as_in(value: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return an apply's body with the `spec.replicas` of another one, without if that has none."""
    spec, found = value.get("spec"), other.get("spec") or {}
    if not isinstance(spec, dict):
        return value
    others = {key: entry for key, entry in spec.items() if key != "replicas"}
    number = {"replicas": found["replicas"]} if "replicas" in found else {}
    return {**value, "spec": {**others, **number}}


def autoscaled_body(value: dict[str, Any], live: LiveObject) -> dict[str, Any]:
    """Return an apply's body that leaves replicas to their other owner, or has the live number."""
    owners = managed_fields.owners_of(live.thaw_managed_fields(), ("spec", "replicas"))
    if any(manager != FIELD_MANAGER for manager, _ in owners):
        return without_replicas(value)
    return with_live_replicas(value, live)


def would_default_replicas(value: dict[str, Any], before: LiveObject, after: LiveObject) -> bool:
    """Tell whether an apply of `value` would reset the replicas of before to their default.

    After `kubectl scale --replicas=0` nobody owns them. Our apply made them ours, and the next
    one would remove them unless it names them.
    """
    if before.workload is None or "replicas" in value.get("spec", {}):
        return False
    owners = managed_fields.owners_of(after.thaw_managed_fields(), ("spec", "replicas"))
    is_ours_alone = {manager for manager, _ in owners} == {FIELD_MANAGER}
    return is_ours_alone and before.workload.replicas != kind_of(before.ref).default_replicas


def would_lose_data(before: LiveObject, after: LiveObject) -> bool:
    """Tell whether a return to the replicas of before would delete data: they stay then."""
    was, is_now = before.workload, after.workload
    if was is None or is_now is None or is_now.replicas <= was.replicas:
        return False
    return was.loses_by_scaling_down or is_now.loses_by_scaling_down
