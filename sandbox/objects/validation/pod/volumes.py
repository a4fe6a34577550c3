"""Volumes of a pod; the sources that clusters use today are looked into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sandbox.json import JSON
from sandbox.objects.quantity import parse_quantity
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import dns_label
from sandbox.objects.validation.pod.environment import (
    FILE_FIELDS,
    check_field_selector,
    check_no_backsteps,
    check_resource_selector,
)

HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
LARGEST_MODE = 0o777
MODE = "must be a number between 0 and 0777 (octal), both inclusive"
SOURCES = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "azureDisk",
    "storageos",
    "projected",
    "portworxVolume",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
    "photonPersistentDisk",
    "vsphereVolume",
)


def check_volumes(found: Found, field: str, volumes: Sequence[JSON]) -> dict[str, JSON]:
    """Names are unique DNS labels with one source each; returns the good ones by name."""
    good: dict[str, JSON] = {}
    for index, volume in enumerate(volumes):
        at = f"{field}[{index}]"
        wrong: Found = []
        _check_source(wrong, at, volume)
        name = volume["name"]
        if name:
            check_messages(wrong, f"{at}.name", name, dns_label(name))
        else:
            wrong.append(make_required_error(f"{at}.name"))
        if name in good:
            wrong.append(duplicate(f"{at}.name", name))
        if wrong:
            found += wrong
        else:
            good[name] = volume
    return good


def _check_source(found: Found, field: str, volume: JSON) -> None:
    given = [source for source in SOURCES if source in volume]
    if not given:
        found.append(make_required_error(field, "must specify a volume type"))
        return
    first, *others = given
    if check := _CHECKS.get(first):
        check(found, f"{field}.{first}", volume[first])
    for other in others:
        found.append(forbidden(f"{field}.{other}", "may not specify more than 1 volume type"))


def _check_empty_dir(found: Found, field: str, source: JSON) -> None:
    limit = source.get("sizeLimit")
    if limit is not None and parse_quantity(limit).nanos < 0:
        says = "SizeLimit field must be a valid resource quantity"
        found.append(forbidden(f"{field}.sizeLimit", says))


def _check_host_path(found: Found, field: str, source: JSON) -> None:
    if not source["path"]:
        found.append(make_required_error(f"{field}.path"))
        return
    check_no_backsteps(found, f"{field}.path", source["path"])
    if source.get("type", "") not in HOST_PATH_TYPES:
        found.append(not_supported(f"{field}.type", source["type"], HOST_PATH_TYPES))


def _files_of(name_field: str) -> Callable[[Found, str, JSON], None]:
    def check(found: Found, field: str, source: JSON) -> None:
        if not source.get(name_field):
            found.append(make_required_error(f"{field}.{name_field}"))
        _check_mode(found, f"{field}.defaultMode", source.get("defaultMode"))
        for index, item in enumerate(source.get("items", ())):
            _check_item(found, f"{field}.items[{index}]", item)

    return check


def _check_mode(found: Found, field: str, mode: int | None) -> None:
    if mode is not None and not 0 <= mode <= LARGEST_MODE:
        found.append(invalid(field, mode, MODE))


def _check_item(found: Found, field: str, item: JSON) -> None:
    for name in ("key", "path"):
        if not item[name]:
            found.append(make_required_error(f"{field}.{name}"))
    check_local_path(found, f"{field}.path", item["path"])
    _check_mode(found, f"{field}.mode", item.get("mode"))


def check_local_path(found: Found, field: str, path: str) -> None:
    """A path stays below its volume and begins with no `..`."""
    check_relative_path(found, field, path)
    if path.startswith("..") and path != ".." and not path.startswith("../"):
        found.append(invalid(field, path, "must not start with '..'"))


def check_relative_path(found: Found, field: str, path: str) -> None:
    """A path is relative and does not climb."""
    if path.startswith("/"):
        found.append(invalid(field, path, "must be a relative path"))
    check_no_backsteps(found, field, path)


def _check_claim(found: Found, field: str, source: JSON) -> None:
    if not source["claimName"]:
        found.append(make_required_error(f"{field}.claimName"))


def _check_nfs(found: Found, field: str, source: JSON) -> None:
    for name in ("server", "path"):
        if not source[name]:
            found.append(make_required_error(f"{field}.{name}"))
    if not source["path"].startswith("/"):
        found.append(invalid(f"{field}.path", source["path"], "must be an absolute path"))


def _check_downward(found: Found, field: str, source: JSON) -> None:
    _check_mode(found, f"{field}.defaultMode", source.get("defaultMode"))
    for item in source.get("items", ()):
        _check_downward_file(found, field, item)


def _check_downward_file(found: Found, field: str, item: JSON) -> None:
    if not item["path"]:
        found.append(make_required_error(f"{field}.path"))
    check_local_path(found, f"{field}.path", item["path"])
    if "fieldRef" in item:
        check_field_selector(found, f"{field}.fieldRef", item["fieldRef"], FILE_FIELDS)
    elif "resourceFieldRef" in item:
        at = f"{field}.resourceFieldRef"
        check_resource_selector(found, at, item["resourceFieldRef"], of_volume=True)
    else:
        found.append(make_required_error(field, "one of fieldRef and resourceFieldRef is required"))
    _check_mode(found, f"{field}.mode", item.get("mode"))


def _check_projected(found: Found, field: str, source: JSON) -> None:
    _check_mode(found, f"{field}.defaultMode", source.get("defaultMode"))
    for index, projection in enumerate(source.get("sources") or ()):
        at = f"{field}.sources[{index}]"
        for kind in ("secret", "configMap"):
            if kind in projection:
                _files_of("name")(found, f"{at}.{kind}", projection[kind])
        for item in projection.get("downwardAPI", {}).get("items", ()):
            _check_downward_file(found, f"{at}.downwardAPI", item)


_CHECKS: Mapping[str, Callable[[Found, str, JSON], None]] = {
    "emptyDir": _check_empty_dir,
    "hostPath": _check_host_path,
    "secret": _files_of("secretName"),
    "configMap": _files_of("name"),
    "persistentVolumeClaim": _check_claim,
    "nfs": _check_nfs,
    "downwardAPI": _check_downward,
    "projected": _check_projected,
}
