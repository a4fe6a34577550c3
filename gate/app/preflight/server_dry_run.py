"""What is sent for one manifest object: its body, the take-over before it, its dry run."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeGuard

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body
from gate.core.model.fact import Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import PlannedObject, PlannedWrite
from gate.core.plan.replica_ownership import (
    Decision,
    Replicas,
    Scaler,
    autoscaled_body,
    without_replicas,
)
from gate.core.ssa import managed_fields as ownership
from gate.core.ssa.field_set import Fields
from gate.core.ssa.last_applied import has_last_applied, with_last_applied
from gate.core.ssa.unowned_fields import add_claims, claims_for_apply


@dataclass(frozen=True, slots=True)
class Prepared:
    """One object, prepared for the plan.

    `taken` are the managed fields after the take-over, None if nothing is taken over.
    `claims` are fields without an owner that it also takes over, so that the apply removes them.
    `autoscaled`: the live number of replicas is kept, whoever decides on it. `replicas` are the
    numbers of an existing workload; of what no manifest names, only where it is autoscaled.
    `is_return` says whether the body is that of an earlier version and not of a manifest. If it
    `replaces` the live object, that is deleted first.
    """

    ref: Ref
    body: dict[str, Any]
    before: Fact[LiveObject]
    taken: list[dict[str, Any]] | None
    autoscaled: bool
    force: bool
    claims: Fields | None = None
    replicas: Replicas | None = None
    is_return: bool = False
    replaces: bool = False

    @property
    def live(self) -> LiveObject | None:
        """The live object, None if it does not exist or is unknown."""
        return self.before.value if isinstance(self.before, Known) else None

    @property
    def is_workload(self) -> bool:
        """Whether its rollout is followed."""
        return is_workload(self.ref)

    def can_take_over(self, manager: str) -> bool:
        """Tell whether `--take-over` can reach that manager's fields.

        It cannot take fields written through a subresource, as an autoscaler writes replicas.
        """
        entries = self.live.thaw_managed_fields() if self.live is not None else []
        return _owns_object(entries, manager)

    def takes_over(self, manager: str) -> bool:
        """Tell whether that manager owns fields of the live object, and none after the take-over.

        Fields of subresources do not count: they are never taken over.
        """
        if self.taken is None or not self.can_take_over(manager):
            return False
        # Of our own manager's fields only those not written by an apply can be in conflict.
        return manager == FIELD_MANAGER or not _owns_object(self.taken, manager)

    @property
    def imposes_replicas(self) -> bool:
        """Whether to apply the manifest's replicas over another manager's."""
        if self.live is None or self.replicas is None or not self.replicas.is_imposed:
            return False
        managed_fields = self.live.thaw_managed_fields()
        owners = ownership.owners_of(managed_fields, ("spec", "replicas"))
        return any(manager != FIELD_MANAGER for manager, _ in owners)

    @property
    def _scaler(self) -> Scaler:
        """Who decides on the replicas."""
        if not self.autoscaled:
            return Scaler.MANIFEST
        is_kept = self.replicas is not None and not self.replicas.is_autoscaled
        is_nobodys = self.replicas is None and self.is_return
        return Scaler.PEOPLE if is_kept or is_nobodys else Scaler.AUTOSCALER

    def sent_body(self) -> dict[str, Any]:
        """Return the body as it would be sent now, with the autoscaler's rule applied."""
        if self.autoscaled and self.live is not None:
            return autoscaled_body(self.body, self.live)
        return self.body

    def with_replicas(self, replicas: Replicas | None) -> Prepared:
        """Return the object with its replica numbers, and with the body that they imply."""
        if replicas is None or replicas.decision is not Decision.LIVE:
            return replace(self, replicas=replicas)
        body = self.body if replicas.is_autoscaled else without_replicas(self.body)
        return replace(self, body=body, autoscaled=True, replicas=replicas)

    @property
    def updated(self) -> LiveObject | None:
        """The live object that the apply changes, None if it creates one."""
        return None if self.replaces else self.live

    def plan_object(self, trial: LiveObject | None) -> PlannedObject:
        """Return the object of the plan; `trial` is what the server would make of it."""
        return PlannedObject(self.ref, self.before, trial)

    def writes(self) -> tuple[PlannedWrite, ...]:
        """Return the writes of the plan: the apply, after a take-over or a deletion if any."""
        if self.replaces:
            deletion = PlannedWrite(self.ref, Verb.DELETE, Body.of({}))
            return (deletion, PlannedWrite(self.ref, Verb.APPLY, Body.of(self.body)))
        apply = PlannedWrite(
            self.ref,
            Verb.APPLY,
            Body.of(self.body),
            force=self.force or self.imposes_replicas,
            scaler=self._scaler,
        )
        if self.taken is None:
            return (apply,)
        claims = {"claims": self.claims} if self.claims is not None else {}
        body = Body.of({"managedFields": self.taken, **claims})
        return (PlannedWrite(self.ref, Verb.TAKE_OVER, body), apply)


def _owns_object(managed_fields: ownership.ManagedFields, manager: str) -> bool:
    """Tell whether a manager has an entry that is not for a subresource."""
    return any(
        entry.get("manager") == manager and not entry.get("subresource") for entry in managed_fields
    )


def prepare(
    ref: Ref,
    body: dict[str, Any],
    before: Fact[LiveObject],
    *,
    take_over: Collection[str] = (),
    autoscaled: bool = False,
    force: bool = False,
) -> Prepared:
    """Return what to send for `body`, given what was there `before`."""
    if not isinstance(before, Known):
        return Prepared(ref, _as_stored(body), before, None, autoscaled=False, force=force)
    live = before.value
    managed_fields = live.thaw_managed_fields()
    if not _string_data_of_others(managed_fields, take_over):
        body = _as_stored(body)
    taken = taken_fields(managed_fields, take_over)
    # Without any managed fields the server assigns all fields to `before-first-apply` at the moment
    # of the apply: there is no entry yet that could be taken over.
    forced = force or not managed_fields
    claims = claims_for_apply(body, live.body.thaw(), taken or managed_fields)
    if claims is not None:
        taken = add_claims(taken or managed_fields, claims, ref.api_version)
    if has_last_applied(live.body.thaw()):
        body = with_last_applied(body)
    return Prepared(ref, body, before, taken, autoscaled, forced, claims)


def _as_stored(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body with a Secret's `stringData` as the `data` that the server makes of it.

    `stringData` is never read back: ownership of it could neither restore a value nor remove
    one that a later manifest leaves out. It wins over `data`, as on the server (v1 Secret).
    """
    text = body.get("stringData")
    is_secret = (body.get("apiVersion"), body.get("kind")) == ("v1", "Secret")
    if not is_secret or not _is_text_map(text):
        return body
    encoded = {key: b64encode(value.encode()).decode() for key, value in text.items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return {**rest, "data": {**(body.get("data") or {}), **encoded}}


def _string_data_of_others(
    managed_fields: list[dict[str, Any]], take_over: Collection[str]
) -> bool:
    """Tell whether somebody else applied `stringData`, with which our `data` would not conflict.

    Then `stringData` is sent as it is, so that the server names the fields in conflict.
    """
    left = taken_fields(managed_fields, take_over) or managed_fields
    others = (entry for entry in left if entry.get("manager") != FIELD_MANAGER)
    return any("f:stringData" in (entry.get("fieldsV1") or {}) for entry in others)


def _is_text_map(value: object) -> TypeGuard[dict[str, str]]:
    """Tell whether it is a valid text map; for others the server's error is better than ours."""
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def taken_fields(
    managed_fields: list[dict[str, Any]], take_over: Collection[str]
) -> list[dict[str, Any]] | None:
    """Return the managed fields after the take-over, None if nothing is taken over.

    What our own manager wrote without an apply, such as a pause, becomes part of its apply.
    """
    return ownership.take_over(managed_fields, (*take_over, FIELD_MANAGER))
