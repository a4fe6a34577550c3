"""Resource names and quantities, of containers and of quotas."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.quantity import Quantity, parse_quantity
from sandbox.objects.validation.errors import (
    NEGATIVE,
    Found,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
)
from sandbox.objects.validation.names import label_key

CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
OBJECT_COUNTS = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
QUOTA_RESOURCES = (
    CONTAINER_RESOURCES
    | OBJECT_COUNTS
    | {f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER_RESOURCES}
    | {"requests.storage"}
)
STANDARD_RESOURCES = QUOTA_RESOURCES | {"storage"}
HUGE_PAGES = "hugepages-"
OWN_DOMAIN = "kubernetes.io/"


def check_requirements(found: Found, field: str, resources: JSON) -> None:
    """Limits and requests are known, not negative, and no request exceeds its limit."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    if not limits and not requests:
        return
    for name in sorted(limits):
        _check_entry(found, f"{field}.limits[{name}]", name, limits[name])
    for name in sorted(requests):
        _check_entry(found, f"{field}.requests[{name}]", name, requests[name])
        _check_against_limit(found, field, name, requests[name], limits.get(name))
    names = {*limits, *requests}
    if not names & {"cpu", "memory"} and any(_is_huge_page(name) for name in names):
        found.append(forbidden(field, "HugePages require cpu or memory"))


def _check_entry(found: Found, field: str, name: str, text: str) -> None:
    _check_container_resource(found, field, name)
    check_amount(found, field, name, text)


def _check_container_resource(found: Found, field: str, name: str) -> None:
    _check_name(found, field, name)
    if "/" not in name:
        if name not in CONTAINER_RESOURCES and not _is_huge_page(name):
            found.append(invalid(field, name, "must be a standard resource for containers"))
    elif not _is_native(name) and not is_extended(name):
        found.append(invalid(field, name, "doesn't follow extended resource name standard"))


def check_quota_resource(found: Found, field: str, name: str) -> None:
    """The name can be counted by a ResourceQuota."""
    _check_name(found, field, name)
    if "/" not in name and name not in QUOTA_RESOURCES and not _is_quota_huge_page(name):
        found.append(invalid(field, name, "must be a standard resource for quota"))


def _check_name(found: Found, field: str, name: str) -> None:
    messages = label_key(name)
    check_messages(found, field, name, messages)
    known = name in STANDARD_RESOURCES or _is_quota_huge_page(name)
    if not messages and "/" not in name and not known:
        found.append(invalid(field, name, "must be a standard resource type or fully qualified"))


def check_amount(found: Found, field: str, name: str, text: str) -> None:
    """A quantity is not negative, and whole where things are counted."""
    amount = parse_quantity(text)
    if amount.nanos < 0:
        found.append(invalid(field, str(amount), NEGATIVE))
    if not amount.is_integer and (name in OBJECT_COUNTS or is_extended(name)):
        found.append(invalid(field, str(amount), "must be an integer"))


def _check_against_limit(
    found: Found, field: str, name: str, text: str, limit_text: str | None
) -> None:
    divisible = _is_native(name) and not _is_huge_page(name)
    if limit_text is None:
        if not divisible:
            says = "Limit must be set for non overcommitable resources"
            found.append(make_required_error(f"{field}.limits", says))
        return
    amount, limit = parse_quantity(text), parse_quantity(limit_text)
    if amount.nanos != limit.nanos and not divisible:
        _tell(found, field, amount, f"must be equal to {name} limit of {limit}")
    elif amount.nanos > limit.nanos:
        _tell(found, field, amount, f"must be less than or equal to {name} limit of {limit}")


def _tell(found: Found, field: str, amount: Quantity, says: str) -> None:
    found.append(invalid(f"{field}.requests", str(amount), says))


def _is_native(name: str) -> bool:
    return "/" not in name or OWN_DOMAIN in name


def is_extended(name: str) -> bool:
    """Whether a resource is one that nodes advertise (`example.com/gpu`)."""
    return (
        not _is_native(name)
        and not name.startswith("requests.")
        and not label_key(f"requests.{name}")
    )


def _is_huge_page(name: str) -> bool:
    return name.startswith(HUGE_PAGES)


def _is_quota_huge_page(name: str) -> bool:
    return name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
