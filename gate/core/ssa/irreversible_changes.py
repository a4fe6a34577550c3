"""Changes that the API server accepts and refuses to take back.

A dry run cannot tell: it compares with what is stored, which is the old object until the apply. The
rules are those of the validation of updates (ValidateConfigMapUpdate, ValidateSecretUpdate,
ValidatePersistentVolumeClaimUpdate, ValidateJobUpdate, ValidatePodUpdate), measured on Kubernetes
1.36. Custom resources may have such rules of their own (CEL with `oldSelf`), which are unknown
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from gate.core.ssa.unions import value_at

Value = Mapping[str, Any]
Rule = Callable[[Value, Value], str]
"""Takes the object before and after; returns why it cannot go back, "" if it can."""


def why_irreversible(before: Value, after: Value) -> str:
    """Return why the server would not take `after` back to `before`, "" if it would.

    Both are whole objects of the API.

    """
    if before.get("apiVersion") != after.get("apiVersion"):
        return ""
    kind = (str(after.get("apiVersion")), str(after.get("kind")))
    return "; ".join(filter(None, (rule(before, after) for rule in _RULES.get(kind, ()))))


def _becomes_immutable(before: Value, after: Value) -> str:
    if after.get("immutable") is True and before.get("immutable") is not True:
        return "it becomes immutable, and neither that nor its data can be changed any more"
    return ""


def _set_once(*path: str) -> Rule:
    def rule(before: Value, after: Value) -> str:
        was, is_now = value_at(before, path), value_at(after, path)
        return f"{'.'.join(path)} can be set and not unset" if is_now and not was else ""

    return rule


def _storage_grows(before: Value, after: Value) -> str:
    path = ("spec", "resources", "requests", "storage")
    if value_at(before, path) == value_at(after, path):
        return ""
    return "the requested storage of a claim cannot shrink"


def _template_is_frozen(before: Value, after: Value) -> str:
    """A Job's template can be changed only while the Job is suspended."""
    path = ("spec", "template")
    if value_at(before, path) == value_at(after, path):
        return ""
    if value_at(after, ("spec", "suspend")):
        return ""
    return "the pod template of a Job that is not suspended cannot be changed"


def _only_images_return(before: Value, after: Value) -> str:
    """Tolerations and a deadline can only grow tighter, scheduling gates only go."""
    if _without_images(before) == _without_images(after):
        return ""
    return "of a Pod only the images of its containers can be changed back"


def _without_images(pod: Value) -> Any:
    spec = deepcopy(dict(pod.get("spec", {})))
    spec.pop("nodeName", None)
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        container.pop("image", None)
    return spec


_RULES: Final[Mapping[tuple[str, str], tuple[Rule, ...]]] = {
    ("v1", "ConfigMap"): (_becomes_immutable,),
    ("v1", "Secret"): (_becomes_immutable,),
    ("v1", "PersistentVolumeClaim"): (
        _storage_grows,
        _set_once("spec", "storageClassName"),
        _set_once("spec", "volumeName"),
        _set_once("spec", "volumeAttributesClassName"),
    ),
    ("batch/v1", "Job"): (_template_is_frozen,),
    ("v1", "Pod"): (_only_images_return,),
}
