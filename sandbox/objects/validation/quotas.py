"""ResourceQuotas: what can be counted, and of which pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.json import JSON
from sandbox.objects.validation.errors import IMMUTABLE, Found, invalid, make_required_error
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import dns_subdomain
from sandbox.objects.validation.pod.resources import (
    QUOTA_RESOURCES,
    check_amount,
    check_quota_resource,
)

_COMPUTE = frozenset(
    {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory", "pods"}
)
_CLAIMS = frozenset({"persistentvolumeclaims", "requests.storage"})
SCOPES = {
    "Terminating": _COMPUTE,
    "NotTerminating": _COMPUTE,
    "BestEffort": frozenset({"pods"}),
    "NotBestEffort": _COMPUTE,
    "PriorityClass": _COMPUTE,
    "CrossNamespacePodAffinity": _COMPUTE,
    "VolumeAttributesClass": _CLAIMS,
}
"""The scopes, each with the resources that it can be asked of."""

OPPOSITES = (("BestEffort", "NotBestEffort"), ("NotTerminating", "Terminating"))
_WITH_VALUES = ("PriorityClass", "VolumeAttributesClass")


def check_quota(found: Found, quota: JSON) -> None:
    """A new ResourceQuota."""
    check_metadata(found, quota["metadata"], dns_subdomain)
    _check_spec(found, quota["spec"])


def check_quota_update(found: Found, old: JSON, new: JSON) -> None:
    """A quota keeps its scopes."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_spec(found, new["spec"])
    scopes = new["spec"].get("scopes", [])
    if set(scopes) != set(old["spec"].get("scopes", [])):
        found.append(invalid("spec.scopes", scopes, IMMUTABLE))


def check_amounts(found: Found, field: str, amounts: Mapping[str, str]) -> None:
    """Every entry is a resource that can be counted, in an amount that can be."""
    for name, amount in sorted(amounts.items()):
        check_quota_resource(found, f"{field}[{name}]", name)
        check_amount(found, f"{field}[{name}]", name, amount)


def _check_spec(found: Found, spec: JSON) -> None:
    hard = spec.get("hard", {})
    check_amounts(found, "spec.hard", hard)
    scopes = spec.get("scopes", [])
    for scope in scopes:
        if scope not in SCOPES:
            found.append(invalid("spec.scopes", scopes, "unsupported scope"))
        _check_fit(found, "spec.scopes", scopes, scope, hard)
    _check_opposites(found, "spec.scopes", scopes, scopes)
    if selector := spec.get("scopeSelector"):
        _check_selector(found, "spec.scopeSelector.matchExpressions", selector, spec)


def _check_fit(found: Found, field: str, told: Any, scope: str, hard: Mapping[str, str]) -> None:
    for name in sorted(hard):
        if name in QUOTA_RESOURCES and name not in SCOPES.get(scope, QUOTA_RESOURCES):
            found.append(invalid(field, told, "unsupported scope applied to resource"))


def _check_opposites(found: Found, field: str, scopes: Sequence[str], told: Any) -> None:
    for pair in OPPOSITES:
        if set(pair) <= set(scopes):
            found.append(invalid(field, told, "conflicting scopes"))


def _check_selector(found: Found, field: str, selector: JSON, spec: JSON) -> None:
    expressions = selector.get("matchExpressions", [])
    for expression in expressions:
        scope, operator = expression["scopeName"], expression["operator"]
        values = expression.get("values", [])
        if scope not in SCOPES:
            found.append(invalid(f"{field}.scopeName", scope, "unsupported scope"))
        told = {"MatchExpressions": [_convert_expression(each) for each in expressions]}
        _check_fit(found, field, told, scope, spec.get("hard", {}))
        if scope in SCOPES and scope not in _WITH_VALUES and operator != "Exists":
            says = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
                " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
                " ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            found.append(invalid(f"{field}.operator", operator, says))
        _check_values(found, field, operator, values)
    names = [expression["scopeName"] for expression in expressions]
    _check_opposites(found, field, names, spec.get("scopes"))


def _convert_expression(expression: JSON) -> JSON:
    """Return an expression as the server's internal type is printed."""
    return {
        "ScopeName": expression["scopeName"],
        "Operator": expression["operator"],
        "Values": expression.get("values"),
    }


def _check_values(found: Found, field: str, operator: str, values: Sequence[str]) -> None:
    if operator in {"In", "NotIn"}:
        if not values:
            says = (
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
            found.append(make_required_error(f"{field}.values", says))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            says = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope"
            found.append(invalid(f"{field}.values", list(values), f"{says} selector"))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
