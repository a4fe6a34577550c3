"""Volumes of a pod, and the sources of the most common ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_required,
    dns_label,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)

_ORDER = (
    "emptyDir",
    "hostPath",
    "secret",
    "nfs",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
    "csi",
    "ephemeral",
    "image",
)
"""In which order the server takes the sources that are in use; those of the past come last."""

_NAMES = {
    "hostPath": "path",
    "secret": "secretName",
    "persistentVolumeClaim": "claimName",
    "configMap": "name",
}
"""The field of a source that says what is mounted."""

_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_LARGEST_MODE = 0o777
_MODE_SAYS = "must be a number between 0 and 0777 (octal), both inclusive"


def check_volumes(found: Found, field: str, volumes: Sequence[JSON]) -> Collection[str]:
    """Names are unique DNS labels with one source each; returns those that may be mounted."""
    good: set[str] = set()
    for index, volume in enumerate(volumes):
        at, name = f"{field}[{index}]", volume["name"]
        wrong: Found = []
        _check_source(wrong, at, volume)
        check_required(wrong, f"{at}.name", name, dns_label)
        if name in good:
            wrong.append(duplicate(f"{at}.name", name))
        if not wrong:
            good.add(name)
        found += wrong
    return good


def _check_source(found: Found, field: str, volume: JSON) -> None:
    known = [each for each in _ORDER if each in volume]
    given = [*known, *sorted(volume.keys() - {"name", *known})]
    if not given:
        found.append(make_required_error(field, "must specify a volume type"))
        return
    first, *others = given
    at, source = f"{field}.{first}", volume[first]
    if name_field := _NAMES.get(first):
        check_required(found, f"{at}.{name_field}", source.get(name_field))
    if first == "hostPath" and source["path"]:
        _check_no_backsteps(found, f"{at}.path", source["path"])
        if source.get("type", "") not in _HOST_PATH_TYPES:
            found.append(not_supported(f"{at}.type", source["type"], _HOST_PATH_TYPES))
    elif first in {"secret", "configMap"}:
        _check_files(found, at, source)
    for other in others:
        found.append(forbidden(f"{field}.{other}", "may not specify more than 1 volume type"))


def _check_files(found: Found, field: str, source: JSON) -> None:
    _check_mode(found, f"{field}.defaultMode", source.get("defaultMode"))
    for index, item in enumerate(source.get("items", ())):
        at = f"{field}.items[{index}]"
        check_required(found, f"{at}.key", item["key"])
        check_required(found, f"{at}.path", item["path"])
        _check_local_path(found, f"{at}.path", item["path"])
        _check_mode(found, f"{at}.mode", item.get("mode"))


def _check_mode(found: Found, field: str, mode: int | None) -> None:
    if mode is not None and not 0 <= mode <= _LARGEST_MODE:
        found.append(invalid(field, mode, _MODE_SAYS))


def _check_no_backsteps(found: Found, field: str, path: str) -> None:
    """A path does not climb."""
    if ".." in path.split("/"):
        found.append(invalid(field, path, "must not contain '..'"))


def check_relative_path(found: Found, field: str, path: str) -> None:
    """A path is relative and does not climb."""
    if path.startswith("/"):
        found.append(invalid(field, path, "must be a relative path"))
    _check_no_backsteps(found, field, path)


def _check_local_path(found: Found, field: str, path: str) -> None:
    """A path stays below its volume and begins with no `..`."""
    check_relative_path(found, field, path)
    if path.startswith("..") and path != ".." and not path.startswith("../"):
        found.append(invalid(field, path, "must not start with '..'"))
