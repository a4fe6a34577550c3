"""What an update may change of a pod: images, deadlines, added tolerations."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import Found, forbidden, invalid, make_required_error
from sandbox.objects.validation.metadata import check_metadata_update
from sandbox.objects.validation.names import between
from sandbox.objects.validation.pod.containers import check_no_whitespace
from sandbox.objects.validation.pod.scheduling import check_tolerations
from sandbox.objects.validation.pod.spec import LARGEST_SECONDS, check_pod

UPDATABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds`"
    " (allow it to be set to 1 if it was previously negative)"
)
_CONTEXT_LINES = 4


def check_pod_update(found: Found, old: JSON, new: JSON) -> None:
    """An update of a pod's main resource."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    check_pod(found, new)
    before, after = old["spec"], new["spec"]
    for kind in ("containers", "initContainers"):
        earlier, later = before.get(kind) or (), after.get(kind) or ()
        if len(earlier) != len(later):
            found.append(forbidden(f"spec.{kind}", "pod updates may not add or remove containers"))
            return
        _check_images(found, f"spec.{kind}", later)
    if not _check_deadline(found, before, after):
        return
    _check_tolerations(found, before.get("tolerations", ()), after.get("tolerations", ()))
    _check_gates(found, before, after)
    if (munged := _restore_mutable_fields(before, after)) != before:
        says = f"pod updates may not change fields other than {UPDATABLE}\n"
        found.append(forbidden("spec", says + _difference(before, munged)))


def _check_images(found: Found, field: str, containers: Sequence[JSON]) -> None:
    for index, container in enumerate(containers):
        if not container.get("image"):
            found.append(make_required_error(f"{field}[{index}].image"))
    check_no_whitespace(found, field, containers)


def _check_deadline(found: Found, before: JSON, after: JSON) -> bool:
    """A deadline may come, and may only become shorter; return whether to look further."""
    field = "spec.activeDeadlineSeconds"
    earlier, later = before.get("activeDeadlineSeconds"), after.get("activeDeadlineSeconds")
    if later is None:
        if earlier is not None:
            says = "must not update from a positive integer to nil value"
            found.append(invalid(field, None, says))
        return True
    if not 0 <= later <= LARGEST_SECONDS:
        found.append(invalid(field, later, between(0, LARGEST_SECONDS)))
        return False
    if earlier is not None and earlier < later:
        found.append(invalid(field, later, "must be less than or equal to previous value"))
        return False
    return True


def _check_tolerations(found: Found, before: Sequence[JSON], after: Sequence[JSON]) -> None:
    kept = [_without_seconds(each) for each in after]
    if any(_without_seconds(each) not in kept for each in before):
        says = "existing toleration can not be modified except its tolerationSeconds"
        found.append(forbidden("spec.tolerations", says))
        return
    check_tolerations(found, "spec.tolerations", after)


def _without_seconds(toleration: JSON) -> JSON:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


def _check_gates(found: Found, before: JSON, after: JSON) -> None:
    earlier = before.get("schedulingGates", ())
    for index, gate in enumerate(after.get("schedulingGates", ())):
        if gate not in earlier:
            says = "only deletion is allowed, but found new scheduling gate"
            at = f"spec.schedulingGates[{index}].name"
            found.append(forbidden(at, f"{says} '{gate['name']}'"))


def _restore_mutable_fields(before: JSON, after: JSON) -> JSON:
    """Return the new spec with what may change as it was."""
    made = dict(after)
    for kind in ("containers", "initContainers"):
        if after.get(kind):
            pairs = zip(before[kind], after[kind], strict=True)
            made[kind] = [{**later, "image": earlier["image"]} for earlier, later in pairs]
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        made.pop(name, None)
        if name in before:
            made[name] = before[name]
    return made


def _difference(before: JSON, after: JSON) -> str:
    """Return how two specs differ; the server shows its internal type, this shows the API's."""
    one, other = (json.dumps(side, indent=1, sort_keys=True) for side in (before, after))
    compared = difflib.unified_diff(
        one.splitlines(), other.splitlines(), n=_CONTEXT_LINES, lineterm=""
    )
    lines = list(compared)
    return "\n".join([*lines[2:], ""])
