"""Environment variables of containers and where their values come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import (
    config_key,
    dns_label,
    dns_subdomain,
    label_key,
    mask_trailing_dash,
    variable_name,
)

POD_FIELDS = (
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
FILE_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
CONTAINER_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_CONVERTIBLE = {*POD_FIELDS, *FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName"} | {
    "status.phase",
    "spec.hostNetwork",
    "status.nominatedNodeName",
}
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")


def check_env(found: Found, field: str, variables: Sequence[JSON]) -> None:
    """Each variable has a name, and a value or one source of it."""
    for index, variable in enumerate(variables):
        at = f"{field}[{index}]"
        name = variable["name"]
        if name:
            check_messages(found, f"{at}.name", name, variable_name(name))
        else:
            found.append(make_required_error(f"{at}.name"))
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
        says = "may not have more than one field specified at a time"
        found.append(invalid(field, "", says))


def check_field_selector(
    found: Found, field: str, selector: JSON, fields: Sequence[str] = POD_FIELDS
) -> None:
    """A field of the pod that the downward API knows."""
    path = selector["fieldPath"]
    if not path:
        found.append(make_required_error(f"{field}.fieldPath"))
        return
    name, key = _split(path)
    if key is not None and name in _SUBSCRIPTED:
        lowered = key.lower() if name == "metadata.annotations" else key
        check_messages(found, field, lowered, label_key(lowered))
    elif key is not None and name in _CONVERTIBLE:
        found.append(invalid(field, name, "does not support subscript"))
    elif name not in _CONVERTIBLE:
        says = f"error converting fieldPath: field label not supported: {path}"
        found.append(invalid(f"{field}.fieldPath", path, says))
    elif name not in fields:
        found.append(not_supported(f"{field}.fieldPath", name, fields))


def _split(path: str) -> tuple[str, str | None]:
    """Return `metadata.labels['a']` as its path and its key."""
    if path.endswith("']") and "['" in path:
        name, _, key = path.partition("['")
        return name, key[:-2]
    return path, None


def check_resource_selector(
    found: Found, field: str, selector: JSON, *, of_volume: bool = False
) -> None:
    """A limit or request of a container; a volume has to say of which."""
    resource = selector["resource"]
    if of_volume and not selector.get("containerName"):
        found.append(make_required_error(f"{field}.containerName"))
    elif not resource:
        found.append(make_required_error(f"{field}.resource"))
    elif resource not in CONTAINER_FIELDS and not resource.startswith(_HUGE_PAGES):
        found.append(not_supported(f"{field}.resource", resource, CONTAINER_FIELDS))


def _check_key_selector(found: Found, field: str, selector: JSON) -> None:
    name, key = selector.get("name", ""), selector["key"]
    check_messages(found, f"{field}.name", name, dns_subdomain(name))
    if key:
        check_messages(found, f"{field}.key", key, config_key(key))
    else:
        found.append(make_required_error(f"{field}.key"))


def _check_file_selector(found: Found, field: str, selector: JSON) -> None:
    checks = (("key", variable_name), ("volumeName", dns_label))
    for name, check in checks:
        value = selector[name]
        if value:
            check_messages(found, f"{field}.{name}", value, check(value))
        else:
            found.append(make_required_error(f"{field}.{name}"))
    if not selector["path"]:
        found.append(make_required_error(f"{field}.path"))
    else:
        check_no_backsteps(found, f"{field}.path", selector["path"])


def check_no_backsteps(found: Found, field: str, path: str) -> None:
    """A path does not climb."""
    if ".." in path.split("/"):
        found.append(invalid(field, path, "must not contain '..'"))


_SOURCES: dict[str, Callable[[Found, str, JSON], None]] = {
    "fieldRef": check_field_selector,
    "resourceFieldRef": check_resource_selector,
    "configMapKeyRef": _check_key_selector,
    "secretKeyRef": _check_key_selector,
    "fileKeyRef": _check_file_selector,
}


def check_env_from(found: Found, field: str, sources: Sequence[JSON]) -> None:
    """Each source is one ConfigMap or one Secret; the list itself is blamed for their number."""
    for index, source in enumerate(sources):
        at = f"{field}[{index}]"
        prefix = source.get("prefix", "")
        check_messages(found, f"{at}.prefix", prefix, variable_name(prefix))
        given = [name for name in ("configMapRef", "secretRef") if name in source]
        for name in given:
            _check_reference(found, f"{at}.{name}.name", source[name].get("name", ""))
        if not given:
            says = "must specify one of: `configMapRef` or `secretRef`"
            found.append(invalid(field, "", says))
        elif len(given) > 1:
            says = "may not have more than one field specified at a time"
            found.append(invalid(field, "", says))


def _check_reference(found: Found, field: str, name: str) -> None:
    if name:
        check_messages(found, field, name, dns_subdomain(mask_trailing_dash(name)))
    else:
        found.append(make_required_error(field))
