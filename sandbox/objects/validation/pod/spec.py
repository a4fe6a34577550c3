"""A pod spec as a whole, in a pod and in a template, and what an update may change of a pod."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_no_backsteps,
    check_one_of,
    check_relative_path,
    check_required,
    dns_label,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import check_annotations, check_labels
from sandbox.objects.validation.pod.containers import check_containers, check_init_containers

RESTART_POLICIES = ("Always", "OnFailure", "Never")


def check_pod(found: Found, pod: JSON) -> None:
    """A pod by itself: its images, unlike a template's, have no space around them."""
    spec = pod["spec"]
    _check_pod_spec(found, "spec", spec)
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            image = container.get("image", "")
            if image != image.strip():
                says = "must not have leading or trailing whitespace"
                found.append(invalid(f"spec.{kind}[{index}].image", image, says))


def check_template(found: Found, field: str, template: JSON) -> None:
    """A pod template: the server calls its labels `template.labels`."""
    metadata = template["metadata"]
    check_labels(found, f"{field}.labels", metadata.get("labels"))
    check_annotations(found, f"{field}.annotations", metadata.get("annotations") or {})
    _check_pod_spec(found, f"{field}.spec", template["spec"])


def _check_pod_spec(found: Found, field: str, spec: JSON) -> None:
    volumes = check_volumes(found, f"{field}.volumes", spec.get("volumes", ()))
    check_containers(found, f"{field}.containers", spec, volumes)
    check_init_containers(found, f"{field}.initContainers", spec, volumes)
    check_one_of(found, f"{field}.restartPolicy", spec["restartPolicy"], RESTART_POLICIES)


_KINDS = ("containers", "initContainers")
_UPDATABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds`"
    " (allow it to be set to 1 if it was previously negative)"
)


def check_pod_update(found: Found, old: JSON, new: JSON) -> None:
    """Images may change; a deadline and tolerations as well, whatever they become."""
    if any(len(old.get(kind) or ()) != len(new.get(kind) or ()) for kind in _KINDS):
        says = "pod updates may not add or remove containers"
        found.append(forbidden("spec.containers", says))
    elif _without_mutable(old) != _without_mutable(new):
        found.append(
            forbidden("spec", f"pod updates may not change fields other than {_UPDATABLE}")
        )


def _without_mutable(spec: JSON) -> JSON:
    mutable = {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
    kept = {name: value for name, value in spec.items() if name not in mutable}
    for kind in _KINDS:
        kept[kind] = [{**each, "image": ""} for each in spec.get(kind) or ()]
    return kept


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
        check_no_backsteps(found, f"{at}.path", source["path"])
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


def _check_local_path(found: Found, field: str, path: str) -> None:
    """A path stays below its volume and begins with no `..`."""
    check_relative_path(found, field, path)
    if path.startswith("..") and path != ".." and not path.startswith("../"):
        found.append(invalid(field, path, "must not start with '..'"))
