"""What a container requests of each resource, and its limits."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.quantity import NANO, parse_quantity
from sandbox.objects.validation.errors import (
    NEGATIVE,
    Found,
    check_messages,
    invalid,
    label_key,
    make_required_error,
)

_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE_PAGES = "hugepages-"
_OWN_DOMAIN = "kubernetes.io/"


def check_requirements(found: Found, field: str, resources: JSON) -> None:
    """Limits and requests are known, not negative, and no request exceeds its limit."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for name in sorted(limits):
        _check_entry(found, f"{field}.limits[{name}]", name, limits[name])
    for name in sorted(requests):
        _check_entry(found, f"{field}.requests[{name}]", name, requests[name])
        _check_against_limit(found, field, name, requests[name], limits.get(name))


def _check_entry(found: Found, field: str, name: str, text: str) -> None:
    _check_name(found, field, name)
    amount = parse_quantity(text)
    if amount.nanos < 0:
        found.append(invalid(field, str(amount), NEGATIVE))
    if not _is_native(name) and amount.rounded_up().nanos % NANO:
        found.append(invalid(field, str(amount), "must be an integer"))


def _check_name(found: Found, field: str, name: str) -> None:
    messages = label_key(name)
    check_messages(found, field, name, messages)
    if "/" not in name:
        if name in _CONTAINER_RESOURCES or name.startswith(_HUGE_PAGES):
            return
        if not messages and name != "storage":
            says = "must be a standard resource type or fully qualified"
            found.append(invalid(field, name, says))
        found.append(invalid(field, name, "must be a standard resource for containers"))
    elif not _is_native(name) and (name.startswith("requests.") or label_key(f"requests.{name}")):
        found.append(invalid(field, name, "doesn't follow extended resource name standard"))


def _check_against_limit(
    found: Found, field: str, name: str, text: str, limit_text: str | None
) -> None:
    """Extended resources and huge pages are requested as limited, the others at most so."""
    is_divisible = _is_native(name) and not name.startswith(_HUGE_PAGES)
    if limit_text is None:
        if not is_divisible:
            says = "Limit must be set for non overcommitable resources"
            found.append(make_required_error(f"{field}.limits", says))
        return
    amount, limit = parse_quantity(text), parse_quantity(limit_text)
    says = "less than or equal to" if is_divisible else "equal to"
    if amount.nanos > limit.nanos or (not is_divisible and amount.nanos != limit.nanos):
        says = f"must be {says} {name} limit of {limit}"
        found.append(invalid(f"{field}.requests", str(amount), says))


def _is_native(name: str) -> bool:
    return "/" not in name or _OWN_DOMAIN in name
