"""Pods and pod templates: named containers with images, and what an update may change."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    duplicate,
    forbidden,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import dns_label, variable_name
from sandbox.objects.validation.selectors import check_labels

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_KINDS = ("containers", "initContainers")
_UPDATABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds`"
    " (allow it to be set to 1 if it was previously negative)"
)


def check_pod(found: Found, pod: JSON) -> None:
    """A pod by itself."""
    _check_pod_spec(found, "spec", pod["spec"])


def check_template(found: Found, field: str, template: JSON) -> None:
    """A pod template: the server calls its labels `template.labels`."""
    check_labels(found, f"{field}.labels", template["metadata"].get("labels"))
    _check_pod_spec(found, f"{field}.spec", template["spec"])


def _check_pod_spec(found: Found, field: str, spec: JSON) -> None:
    if not spec["containers"]:
        found.append(make_required_error(f"{field}.containers"))
    names: set[str] = set()
    for kind in _KINDS:
        _check_containers(found, f"{field}.{kind}", spec.get(kind) or (), names)
    policy = spec["restartPolicy"]
    if policy not in RESTART_POLICIES:
        found.append(not_supported(f"{field}.restartPolicy", policy, RESTART_POLICIES))


def _check_containers(
    found: Found, field: str, containers: Sequence[JSON], names: set[str]
) -> None:
    for index, container in enumerate(containers):
        at, name = f"{field}[{index}]", container["name"]
        if not name:
            found.append(make_required_error(f"{at}.name"))
        elif name in names:
            found.append(duplicate(f"{at}.name", name))
        else:
            check_messages(found, f"{at}.name", name, dns_label(name))
        names.add(name)
        if not container.get("image"):
            found.append(make_required_error(f"{at}.image"))
        for position, variable in enumerate(container.get("env", ())):
            given = variable["name"]
            check_messages(found, f"{at}.env[{position}].name", given, variable_name(given))


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
