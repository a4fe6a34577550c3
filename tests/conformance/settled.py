"""What stands at the end, in a form that two clusters can be compared in.

Times, uids, versions, addresses and the random parts of names are left out; hashes of templates
are written as the revision that they belong to.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.cluster.kubelet.api import JSON

REVISION = "deployment.kubernetes.io/revision"
HASH = "pod-template-hash"
_PASSING = frozenset(
    {
        "creationTimestamp",
        "deletionTimestamp",
        "lastTransitionTime",
        "lastUpdateTime",
        "managedFields",
        "namespace",
        "resourceVersion",
        "time",
        "uid",
    }
)
_SUFFIX = re.compile(r"(HASH-\d+)-[a-z0-9]{5}\b")


def settled(objects: Sequence[JSON]) -> JSON:
    """Return the Deployment, its ReplicaSets by revision and the kinds of pods that they have."""
    deployment = next(_of(objects, "Deployment"), None)
    revisions = {_revision(each): each for each in _of(objects, "ReplicaSet")}
    pods = [*_of(objects, "Pod")]
    found = {
        "deployment": _whole(deployment) if deployment else {},
        "replica_sets": {
            revision: _without_scalings(_whole(each))
            for revision, each in sorted(revisions.items())
        },
        "pods": {
            revision: _pods(pod for pod in pods if _belongs(pod, each))
            for revision, each in sorted(revisions.items())
        },
    }
    names: JSON = json.loads(anonymous(json.dumps(found), revisions.values()))
    return names


def anonymous(text: str, replica_sets: Iterable[JSON]) -> str:
    """Return a text in which hashes, uids and names of pods are told by their revision."""
    for replica_set in replica_sets:
        metadata, revision = replica_set["metadata"], _revision(replica_set)
        text = text.replace(metadata["labels"][HASH], f"HASH-{revision}")
        text = text.replace(metadata["uid"], f"UID-{revision}")
        for owner in metadata.get("ownerReferences", ()):
            text = text.replace(owner["uid"], "UID")
    return _SUFFIX.sub(r"\1-NAME", text)


def owners(body: JSON) -> list[JSON]:
    """Return who owns which fields of an object, without the times."""
    entries = body["metadata"].get("managedFields", [])
    without_times = [{k: v for k, v in entry.items() if k != "time"} for entry in entries]
    return sorted(without_times, key=lambda entry: json.dumps(entry, sort_keys=True))


def _of(objects: Iterable[JSON], kind: str) -> Iterator[JSON]:
    return (body for body in objects if body["kind"] == kind)


def _whole(body: JSON) -> JSON:
    return {**_lasting(body), "owners": owners(body)}


def _without_scalings(replica_set: JSON) -> JSON:
    """Leave out how often it was scaled: in how many steps depends on when pods were ready."""
    del replica_set["metadata"]["generation"]
    replica_set["status"].pop("observedGeneration", None)
    return replica_set


def _revision(replica_set: JSON) -> str:
    return str(replica_set["metadata"]["annotations"][REVISION])


def _belongs(pod: JSON, replica_set: JSON) -> bool:
    uid = replica_set["metadata"]["uid"]
    return any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences", ()))


def _lasting(value: Any) -> Any:
    """Return a value without what differs from cluster to cluster."""
    if isinstance(value, Mapping):
        return {k: _lasting(v) for k, v in value.items() if k not in _PASSING}
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    return value


def _pods(pods: Iterable[JSON]) -> list[JSON]:
    """Return each kind of pod once, with how many there are; how often it restarted is passing."""
    counted = Counter(_without_names(pod) for pod in pods)
    return [{"count": counted[text], **json.loads(text)} for text in sorted(counted)]


def _without_names(pod: JSON) -> str:
    text = json.dumps(_pod(pod), sort_keys=True)
    own = {
        "NAME": pod["metadata"]["name"],
        "ADDRESS": pod["status"].get("podIP"),
        "NODE": pod["spec"].get("nodeName"),
    }
    for placeholder, value in own.items():
        if value:
            text = text.replace(value, placeholder)
    return text


def _pod(pod: JSON) -> JSON:
    metadata = {k: v for k, v in _lasting(pod["metadata"]).items() if k != "generateName"}
    status = pod["status"]
    conditions = [
        [each["type"], each["status"], each.get("reason", "")]
        for each in status.get("conditions", ())
    ]
    return {
        "metadata": metadata,
        "spec": pod["spec"],
        "phase": status["phase"],
        "conditions": sorted(conditions),
        "owners": owners(pod),
    }
