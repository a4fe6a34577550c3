"""Fields that stay as they were written; the gate and kubectl tell them by these words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.validation.errors import IMMUTABLE, Found, forbidden, invalid
from sandbox.objects.validation.metadata import in_go_order
from sandbox.objects.validation.pod.spec import check_pod_update

_LOCKED = "field is immutable when `immutable` is set"

_SELECTED = ("deployments.apps", "replicasets.apps", "daemonsets.apps")
_FIXED_OF_JOB = (
    "selector",
    "template",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_LOCKABLE: Mapping[str, Sequence[str]] = {
    "configmaps": ("data", "binaryData"),
    "secrets": ("data",),
}
_MUTABLE_OF_STATEFUL_SET = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def check_fixed_fields(found: Found, resource: Resource, old: JSON, new: JSON) -> None:
    """No field that is fixed for the kind differs."""
    key = resource.key
    if key in _SELECTED:
        _check_selector(found, old["spec"], new["spec"])
    elif key == "statefulsets.apps":
        _check_stateful_set(found, old["spec"], new["spec"])
    elif key == "jobs.batch":
        _check_job(found, old["spec"], new["spec"])
    elif key == "controllerrevisions.apps":
        if old.get("data") != new.get("data"):
            found.append(invalid("data", new.get("data"), IMMUTABLE))
    elif key == "pods":
        check_pod_update(found, old["spec"], new["spec"])
    elif key == "services":
        _check_addresses(found, old["spec"], new["spec"])
    elif key in _LOCKABLE:
        _check_data(found, _LOCKABLE[key], old, new)
    elif "roleRef" in new and old["roleRef"] != new["roleRef"]:
        role = new["roleRef"]
        shown = {"APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"]}
        found.append(invalid("roleRef", shown, "cannot change roleRef"))


def _check_selector(found: Found, old: JSON, new: JSON) -> None:
    if old.get("selector") != new.get("selector"):
        shown = in_go_order(new.get("selector"))
        found.append(invalid("spec.selector", shown, IMMUTABLE))


def _check_stateful_set(found: Found, old: JSON, new: JSON) -> None:
    before, after = (
        {name: value for name, value in spec.items() if name not in _MUTABLE_OF_STATEFUL_SET}
        for spec in (old, new)
    )
    if before != after:
        *names, last = (f"'{name}'" for name in _MUTABLE_OF_STATEFUL_SET)
        says = (
            "updates to statefulset spec for fields other than"
            f" {', '.join(names)} and {last} are forbidden"
        )
        found.append(forbidden("spec", says))


def _check_job(found: Found, old: JSON, new: JSON) -> None:
    is_elastic = new.get("completionMode") == "Indexed"
    is_elastic = is_elastic and new.get("completions") == new.get("parallelism")
    for name in _FIXED_OF_JOB if is_elastic else ("completions", *_FIXED_OF_JOB):
        if old.get(name) != new.get(name):
            found.append(invalid(f"spec.{name}", new.get(name), IMMUTABLE))


def _check_addresses(found: Found, old: JSON, new: JSON) -> None:
    """A Service keeps its cluster IPs unless its type changes to or from ExternalName."""
    if "ExternalName" in {old["type"], new["type"]}:
        return
    before, after = old.get("clusterIPs", []), new.get("clusterIPs", [])
    for index, (earlier, later) in enumerate(zip(before, after, strict=False)):
        if earlier != later:
            found.append(invalid(f"spec.clusterIPs[{index}]", after, "may not change once set"))


def _check_data(found: Found, fields: Sequence[str], old: JSON, new: JSON) -> None:
    """A Secret keeps its type; what was marked immutable keeps its data."""
    if old.get("type") != new.get("type"):
        found.append(invalid("type", new["type"], IMMUTABLE))
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        found.append(forbidden("immutable", _LOCKED))
    for field in fields:
        if old.get(field) != new.get(field):
            found.append(forbidden(field, _LOCKED))
