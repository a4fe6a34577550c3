"""The pods of a StatefulSet: names, ordinals, revisions and claims, and in which state each is.

Rules of `pkg/controller/statefulset/stateful_set_utils.go`.
"""

from __future__ import annotations

import re

from sandbox.controllers.history import template_of
from sandbox.controllers.ownership import controller_reference
from sandbox.controllers.pods import from_template, is_available, is_deleting, is_ready
from sandbox.json import JSON, dig
from sandbox.times import Timers

REVISION_LABEL = "controller-revision-hash"
NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"

_NAME = re.compile(r"(.*)-([0-9]+)", re.DOTALL)
_MOST = 2**31


def parent_of(pod: JSON) -> str:
    """Return the name of the StatefulSet that a pod's name begins with."""
    match = _NAME.fullmatch(pod["metadata"]["name"])
    return match[1] if match else ""


def ordinal_of(pod: JSON) -> int:
    """Return the number at the end of a pod's name, -1 where there is none."""
    match = _NAME.fullmatch(pod["metadata"]["name"])
    return int(match[2]) if match and int(match[2]) < _MOST else -1


def ordinals_of(stateful_set: JSON) -> range:
    """Return the ordinals that there are to be."""
    start = dig(stateful_set, "spec", "ordinals", "start") or 0
    return range(start, start + stateful_set["spec"]["replicas"])


def revision_of(pod: JSON) -> str:
    """Return the name of the revision that a pod is of."""
    return str((pod["metadata"].get("labels") or {}).get(REVISION_LABEL, ""))


def phase_of(pod: JSON) -> str:
    """Return the phase, empty for a pod that is yet to be created."""
    return str(dig(pod, "status", "phase") or "")


def serves(pod: JSON) -> bool:
    """Say whether a pod runs and is ready."""
    return phase_of(pod) == "Running" and is_ready(pod)


def is_unavailable(pod: JSON, ready_seconds: int, timers: Timers) -> bool:
    """Say whether a pod is not there to serve: not ready for long enough, or going."""
    return is_deleting(pod) or not is_available(pod, ready_seconds, timers)


def partition_of(stateful_set: JSON) -> int:
    """Return how many of the lowest pods an update leaves alone."""
    found = dig(stateful_set, "spec", "updateStrategy", "rollingUpdate", "partition")
    return int(found or 0)


def new_pod(stateful_set: JSON, ordinal: int, current: JSON, update: JSON) -> JSON:
    """Return the pod of an ordinal, of the revision that it is to have."""
    revision = current if _keeps_current(stateful_set, ordinal) else update
    pod = from_template(stateful_set, template_of(revision, stateful_set))
    name = f"{stateful_set['metadata']['name']}-{ordinal}"
    pod["metadata"] |= {
        "name": name,
        "labels": {
            **pod["metadata"].get("labels", {}),
            NAME_LABEL: name,
            INDEX_LABEL: str(ordinal),
            REVISION_LABEL: revision["metadata"]["name"],
        },
    }
    spec = pod["spec"] = {**pod["spec"], "hostname": name}
    if service := stateful_set["spec"].get("serviceName"):
        spec["subdomain"] = service
    templates = [each["metadata"]["name"] for each in _templates(stateful_set)]
    claims = {each: {"claimName": _claim_name(stateful_set, each, ordinal)} for each in templates}
    if claims:
        volumes = [{"name": name, "persistentVolumeClaim": each} for name, each in claims.items()]
        others = [each for each in spec.get("volumes", ()) if each["name"] not in claims]
        spec["volumes"] = [*volumes, *others]
    return pod


def _keeps_current(stateful_set: JSON, ordinal: int) -> bool:
    """Say whether a pod that is missing comes back as it was."""
    strategy = stateful_set["spec"]["updateStrategy"]
    if strategy["type"] != "RollingUpdate":
        return False
    kept = dig(stateful_set, "status", "currentReplicas") or 0
    if "rollingUpdate" in strategy:
        kept = partition_of(stateful_set)
    return ordinal < ordinals_of(stateful_set).start + kept


def _templates(stateful_set: JSON) -> list[JSON]:
    return stateful_set["spec"].get("volumeClaimTemplates") or []


def _claim_name(stateful_set: JSON, template: str, ordinal: int) -> str:
    return f"{template}-{stateful_set['metadata']['name']}-{ordinal}"


def claims_of(stateful_set: JSON, pod: JSON) -> list[JSON]:
    """Return the claims that a pod mounts, as they are created."""
    selected = dig(stateful_set, "spec", "selector", "matchLabels") or {}
    found = []
    for template in _templates(stateful_set):
        name = _claim_name(stateful_set, template["metadata"]["name"], ordinal_of(pod))
        labels = {**(template["metadata"].get("labels") or {}), **selected}
        metadata = {**template["metadata"], "name": name, "labels": labels}
        found.append({**template, "metadata": metadata})
    return found


def claim_owners(stateful_set: JSON, pod: JSON, found: list[JSON]) -> list[JSON]:
    """Return the owners that a claim is to have, by the StatefulSet's retention policy."""
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    goes_with_scale = policy.get("whenScaled") == "Delete"
    is_condemned = ordinal_of(pod) not in ordinals_of(stateful_set)
    both = (stateful_set, pod)
    others = [each for each in found if not any(_names(each, owner) for owner in both)]
    if goes_with_scale and is_condemned:
        return [*others, controller_reference(pod)]
    if policy.get("whenDeleted") == "Delete":
        return [*others, controller_reference(stateful_set)]
    return others


def _names(reference: JSON, owner: JSON) -> bool:
    kind, name = owner["kind"], owner["metadata"]["name"]
    return bool(reference["kind"] == kind and reference["name"] == name)


def is_stale_claim(claim: JSON, pod: JSON) -> bool:
    """Say whether a claim goes with a former pod of the same name."""
    owners = claim["metadata"].get("ownerReferences") or ()
    uid = pod["metadata"].get("uid")
    return any(_names(each, pod) and each["uid"] != uid for each in owners)
