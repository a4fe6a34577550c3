"""ResourceQuota at admission: a create that would exceed a quota is refused, others are counted.

Rules of the apiserver's `resourcequota` plugin: the usage is written before the object is.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.api.admission import Admission, Operation
from sandbox.api.api import Api
from sandbox.controllers.moments import Moments
from sandbox.controllers.ownership import key_of
from sandbox.controllers.quota.usage import (
    NOTHING,
    Usage,
    add_usage,
    matches_scopes,
    missing_from,
    names_of,
    usage_of,
)
from sandbox.controllers.writers import QUOTA_ADMISSION
from sandbox.failure import ApiError, forbidden
from sandbox.json import JSON
from sandbox.objects.quantity import Quantity, parse_quantity
from sandbox.times import Timers

RESOURCE = "resourcequotas"


class QuotaAdmission:
    """An admission hook: `Api.admissions` holds it."""

    def __init__(self, api: Api, timers: Timers) -> None:
        self._api = api
        self._moments = Moments(timers)

    def __call__(self, admission: Admission) -> None:
        """Refuse with 403 what exceeds a quota of its namespace; count what does not."""
        if admission.operation is not Operation.CREATE or admission.subresource:
            return
        body = admission.body
        if body is None or not admission.namespace or admission.resource.key == "events":
            return
        quotas = self._api.store.items(RESOURCE, admission.namespace)
        used = usage_of(admission.resource, body, self._moments) if quotas else {}
        counted = [self._count_in_quota(admission, body, quota, used) for quota in quotas]
        if not admission.dry_run:
            self._write(quota for quota in counted if quota is not None)

    def _count_in_quota(
        self, admission: Admission, body: JSON, quota: JSON, used: Usage
    ) -> JSON | None:
        """Return a quota with the object counted, None where it does not concern it."""
        status = quota.get("status") or {}
        hard = _quantities(status.get("hard"))
        limited = names_of(admission.resource).intersection(hard)
        is_pod = admission.resource.key == "pods"
        if not limited or (is_pod and not matches_scopes(quota, body)):
            return None
        name = quota["metadata"]["name"]
        lacking = missing_from(body, limited) if is_pod else ""
        if lacking:
            raise _make_forbidden_error(admission, f"failed quota: {name}: {lacking}")
        before = _quantities(status.get("used"))
        if not limited <= before.keys():
            names = ",".join(sorted(limited))
            raise _make_forbidden_error(
                admission, f"status unknown for quota: {name}, resources: {names}"
            )
        asked = {each: used[each] for each in limited if each in used}
        after = add_usage(before, asked)
        over = [each for each in asked if after[each].nanos > hard[each].nanos]
        if over:
            told = (
                f"requested: {_format_amounts(asked, over)}, used: {_format_amounts(before, over)}"
            )
            why = f"exceeded quota: {name}, {told}, limited: {_format_amounts(hard, over)}"
            raise _make_forbidden_error(admission, why)
        texts = {each: str(amount) for each, amount in after.items()}
        return {**quota, "status": {**status, "used": texts}}

    def _write(self, quotas: Iterable[JSON]) -> None:
        for quota in [*quotas]:
            key = key_of(RESOURCE, quota)
            self._api.update(key, quota, QUOTA_ADMISSION, subresource="status")


def _quantities(amounts: JSON | None) -> dict[str, Quantity]:
    return {name: parse_quantity(str(text)) for name, text in (amounts or {}).items()}


def _format_amounts(amounts: dict[str, Quantity], names: Iterable[str]) -> str:
    return ",".join(f"{name}={amounts.get(name, NOTHING)}" for name in sorted(names))


def _make_forbidden_error(admission: Admission, why: str) -> ApiError:
    resource = admission.resource
    name = (admission.body or {}).get("metadata", {}).get("name") or admission.name
    return forbidden(resource.plural, resource.group, name, why)
