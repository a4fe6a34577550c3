"""A pod spec as a whole, in a pod and in a template, and what an update may change of a pod."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import Found, check_one_of, forbidden, invalid
from sandbox.objects.validation.metadata import check_annotations, check_labels
from sandbox.objects.validation.pod.containers import check_containers, check_init_containers
from sandbox.objects.validation.pod.volumes import check_volumes

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
