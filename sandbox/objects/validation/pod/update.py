"""What an update may change of a pod."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import Found, forbidden

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
