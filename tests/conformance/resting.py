"""When a namespace is at rest: what is due before a step, and what has become of it after."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sandbox.face import behaviour
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import is_ready
from tests.conformance.operations import CRASH, NEVER
from tests.conformance.settled import HASH, REVISION
from tests.conformance.watched import Watched

_AT_REST = ("NewReplicaSetAvailable", "ProgressDeadlineExceeded", "DeploymentPaused")
_SUMMED = ("replicas", "readyReplicas", "availableReplicas", "terminatingReplicas")


def revision_of(replica_set: JSON) -> int:
    """Return the revision of a ReplicaSet."""
    return int(replica_set["metadata"]["annotations"][REVISION])


def template_of(replica_set: JSON) -> JSON:
    """Return a ReplicaSet's template as its Deployment has it."""
    template: JSON = json.loads(json.dumps(replica_set["spec"]["template"]))
    del template["metadata"]["labels"][HASH]
    return template


def owner_of(pod: JSON) -> str:
    """Return the uid of a pod's ReplicaSet."""
    return str(pod["metadata"]["ownerReferences"][0]["uid"])


def works(pod: JSON) -> bool:
    """Whether a pod counts for its ReplicaSet."""
    return "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] != "Failed"


def is_empty(seen: Watched) -> bool:
    """Whether nothing is left of a Deployment."""
    return not (seen.deployment or seen.replica_sets or seen.pods)


def rests(seen: Watched) -> bool:
    """Whether nothing is due: no deadline runs, no pod ends or may still become ready."""
    status = seen.deployment["status"]
    reasons = {each["type"]: each["reason"] for each in status.get("conditions", ())}
    return (
        is_observed(seen)
        and reasons.get("Progressing") in _AT_REST
        and not any("deletionTimestamp" in pod["metadata"] for pod in seen.pods)
        and all(map(_is_as_asked, filter(works, seen.pods)))
        and all(_total(seen, counter) == status.get(counter, 0) for counter in _SUMMED)
    )


def _total(seen: Watched, counter: str) -> int:
    return sum(each["status"].get(counter, 0) for each in seen.replica_sets)


def _is_as_asked(pod: JSON) -> bool:
    asked = pod["metadata"].get("annotations", {}).get(behaviour.ANNOTATION)
    return is_ready(pod) != (asked in {NEVER, CRASH})


def is_observed(seen: Watched) -> bool:
    """Whether each controller has done its first step: observed, made what is to be made."""
    body = seen.deployment
    observed = body.get("status", {}).get("observedGeneration", 0) >= body["metadata"]["generation"]
    return (
        observed
        and (body["spec"].get("paused", False) or _has_new_replica_set(seen))
        and all(_has_its_pods(each, seen.pods) for each in seen.replica_sets)
    )


def _has_new_replica_set(seen: Watched) -> bool:
    template = seen.deployment["spec"]["template"]
    return any(template_of(each) == template for each in seen.replica_sets)


def _has_its_pods(replica_set: JSON, pods: Sequence[JSON]) -> bool:
    metadata, status = replica_set["metadata"], replica_set["status"]
    working = sum(works(pod) and owner_of(pod) == metadata["uid"] for pod in pods)
    observed = status.get("observedGeneration", 0) == metadata["generation"]
    return bool(observed and status["replicas"] == working == replica_set["spec"]["replicas"])
