"""Environment variables of containers and where their values come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sandbox.json import JSON
from sandbox.objects.quantity import NANO, parse_quantity
from sandbox.objects.validation.errors import (
    NEGATIVE,
    Found,
    check_messages,
    check_required,
    config_key,
    dns_subdomain,
    invalid,
    label_key,
    make_required_error,
    mask_trailing_dash,
    not_supported,
    variable_name,
)

_POD_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")
_OTHER_FIELDS = (
    *_SUBSCRIPTED,
    "spec.hostNetwork",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.nominatedNodeName",
    "status.phase",
)
"""What a pod has as well and no variable may take."""

_CONTAINER_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_TOO_MANY = "may not have more than one field specified at a time"


def check_env(found: Found, field: str, variables: Sequence[JSON]) -> None:
    """Each variable has a name, and a value or one source of it."""
    for index, variable in enumerate(variables):
        at = f"{field}[{index}]"
        check_required(found, f"{at}.name", variable["name"], variable_name)
        if "valueFrom" in variable:
            _check_source(found, f"{at}.valueFrom", variable["valueFrom"], variable.get("value"))


def _check_source(found: Found, field: str, source: JSON, value: str | None) -> None:
    for name, check in _SOURCES.items():
        if name in source:
            check(found, f"{field}.{name}", source[name])
    if not source:
        says = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`,"
            " `secretKeyRef` or `fileKeyRef`"
        )
        found.append(invalid(field, "", says))
    elif value:
        found.append(invalid(field, "", "may not be specified when `value` is not empty"))
    elif len(source) > 1:
        found.append(invalid(field, "", _TOO_MANY))


def _check_pod_field(found: Found, field: str, selector: JSON) -> None:
    """A field of the pod that the downward API knows."""
    path = selector["fieldPath"]
    at = f"{field}.fieldPath"
    check_required(found, at, path)
    name, subscript, _ = path.partition("['")
    if not path or (subscript and name in _SUBSCRIPTED):
        return
    if subscript and name in _POD_FIELDS + _OTHER_FIELDS:
        found.append(invalid(field, name, "does not support subscript"))
    elif path in _OTHER_FIELDS:
        found.append(not_supported(at, path, _POD_FIELDS))
    elif path not in _POD_FIELDS:
        says = f"error converting fieldPath: field label not supported: {path}"
        found.append(invalid(at, path, says))


def _check_container_field(found: Found, field: str, selector: JSON) -> None:
    """A limit or request of a container."""
    resource = selector["resource"]
    check_required(found, f"{field}.resource", resource)
    if resource and resource not in _CONTAINER_FIELDS and not resource.startswith(_HUGE_PAGES):
        found.append(not_supported(f"{field}.resource", resource, _CONTAINER_FIELDS))


def _check_key(found: Found, field: str, selector: JSON) -> None:
    name = selector.get("name", "")
    check_messages(found, f"{field}.name", name, dns_subdomain(name))
    check_required(found, f"{field}.key", selector["key"], config_key)


_SOURCES: Mapping[str, Callable[[Found, str, JSON], None]] = {
    "fieldRef": _check_pod_field,
    "resourceFieldRef": _check_container_field,
    "configMapKeyRef": _check_key,
    "secretKeyRef": _check_key,
}


def check_env_from(found: Found, field: str, sources: Sequence[JSON]) -> None:
    """Each source is one ConfigMap or one Secret; the list itself is blamed for their number."""
    for index, source in enumerate(sources):
        at, prefix = f"{field}[{index}]", source.get("prefix", "")
        check_messages(found, f"{at}.prefix", prefix, variable_name(prefix))
        given = [name for name in ("configMapRef", "secretRef") if name in source]
        for name in given:
            reference = source[name].get("name", "")
            check_required(found, f"{at}.{name}.name", reference, _reference)
        if not given:
            says = "must specify one of: `configMapRef` or `secretRef`"
            found.append(invalid(field, "", says))
        elif len(given) > 1:
            found.append(invalid(field, "", _TOO_MANY))


def _reference(name: str) -> Sequence[str]:
    return dns_subdomain(mask_trailing_dash(name))


_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE_PAGES_PREFIX = "hugepages-"
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
        if name in _CONTAINER_RESOURCES or name.startswith(_HUGE_PAGES_PREFIX):
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
    is_divisible = _is_native(name) and not name.startswith(_HUGE_PAGES_PREFIX)
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
