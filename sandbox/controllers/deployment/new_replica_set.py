"""The ReplicaSet of a Deployment's template: found among its own, or created.

Rules of `getNewReplicaSet` in `pkg/controller/deployment/sync.go`. A name that is taken by a
ReplicaSet of another template is a collision of hashes: it is counted in the Deployment's status,
and the count makes the next hash another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from sandbox.api.api import Api
from sandbox.controllers.deployment.facts import (
    REPLICA_SETS,
    REVISION,
    Sets,
    Writes,
    age_key,
    annotated_as_new,
    annotations_of,
    calculate_new_size,
    deadline_seconds,
    is_rolling,
    replica_annotations,
    revision,
    size,
    total_size,
    with_annotations,
)
from sandbox.controllers.deployment.status import PROGRESSING, set_progress
from sandbox.controllers.ownership import DEPLOYMENTS, controller_reference, controller_uid
from sandbox.controllers.queue import Informer, is_terminating_namespace
from sandbox.controllers.recorder import Recorder
from sandbox.failure import ApiError, not_found
from sandbox.json import JSON, dig
from sandbox.objects.conditions import conditions_of, find
from sandbox.storage.store import Key
from sandbox.times import fnv, safe_letters

LABEL = "pod-template-hash"


def same_template(one: JSON, other: JSON) -> bool:
    """Say whether two templates are equal but for their hash label."""
    return bool(_bare(one) == _bare(other))


def template_hash(template: JSON, collision_count: int | None) -> str:
    """Return the hash of a template, made another one by each collision that was counted."""
    content = json.dumps(_bare(template), sort_keys=True, separators=(",", ":")).encode()
    if collision_count is not None:
        content += collision_count.to_bytes(8, "little")
    return safe_letters(str(fnv(content, xor_first=True)))


def _bare(template: JSON) -> Any:
    """Return a template without its hash label, and without what counts as absent.

    Empty maps of labels and annotations and fields without a value do, as in Go.
    """
    metadata = _without_empty(template.get("metadata") or {})
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key != LABEL}
    return _without_null({**template, "metadata": _without_empty({**metadata, "labels": labels})})


def _without_empty(metadata: JSON) -> JSON:
    return {key: value for key, value in metadata.items() if value not in ({}, [], None, "")}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if each is not None and each != []}
        return {key: _without_null(each) for key, each in kept.items()}
    if isinstance(value, list):
        return [_without_null(item) for item in value]
    return value


LONGEST_NAME = 253

Hash = Callable[[JSON, int | None], str]
"""From a template and the collisions so far to the short name of a ReplicaSet."""


@dataclass(slots=True)
class NewReplicaSets:
    """Finds and creates; `hashed` can be replaced, to make templates collide."""

    api: Api
    recorder: Recorder
    writes: Writes
    cached: Informer
    hashed: Hash = template_hash

    def sorted_out(self, deployment: JSON, replica_sets: Sequence[JSON], *, create: bool) -> Sets:
        """Return new and old with their revisions written; `new` is None where none is to be.

        `deployment` is the sync's own copy: its annotations and status are changed in place. Of
        several ReplicaSets with the template the oldest is the new one.
        """
        aged = sorted(replica_sets, key=age_key)
        template = deployment["spec"]["template"]
        found = next((rs for rs in aged if same_template(rs["spec"]["template"], template)), None)
        old = [rs for rs in aged if rs is not found]
        next_revision = 1 + max(map(revision, old), default=0)
        if found is not None:
            return Sets(self._update_replica_set(deployment, found, next_revision), old)
        if not create:
            return Sets(None, old)
        return Sets(self._create_replica_set(deployment, old, next_revision), old)

    def _update_replica_set(self, deployment: JSON, found: JSON, next_revision: int) -> JSON:
        revised = annotated_as_new(deployment, found, next_revision)
        ready_seconds = deployment["spec"].get("minReadySeconds", 0)
        if revised is not found or found["spec"].get("minReadySeconds", 0) != ready_seconds:
            spec = {**found["spec"], "minReadySeconds": ready_seconds}
            return self.writes.replica_set({**revised, "spec": _without_zero(spec)})
        changed = _set_revision(deployment, annotations_of(found).get(REVISION, ""))
        unjudged = find(conditions_of(deployment), PROGRESSING) is None
        if deadline_seconds(deployment) is not None and unjudged:
            message = f'Found new replica set "{found["metadata"]["name"]}"'
            self._set_progress(deployment, "True", "FoundNewReplicaSet", message)
            changed = True
        if changed:
            self.writes.status(deployment)
        return found

    def _create_replica_set(self, deployment: JSON, old: list[JSON], next_revision: int) -> JSON:
        wanted = self._build_replica_set(deployment, old, next_revision)
        name, namespace = wanted["metadata"]["name"], wanted["metadata"]["namespace"]
        existed = False
        try:
            created = self.api.create(REPLICA_SETS, namespace, wanted, DEPLOYMENTS)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                self._fail_creation(deployment, name, error)
            created = self._own_or_collision(deployment, name, error)
            existed = True
        changed = _set_revision(deployment, str(next_revision))
        if not existed:
            if replicas := size(wanted):
                message = f"Scaled up replica set {name} from 0 to {replicas}"
                self.recorder.normal(deployment, "ScalingReplicaSet", message)
            if deadline_seconds(deployment) is not None:
                message = f'Created new replica set "{name}"'
                self._set_progress(deployment, "True", "NewReplicaSetCreated", message)
                changed = True
        if changed:
            self.writes.status(deployment)
        return created

    def _build_replica_set(self, deployment: JSON, old: list[JSON], next_revision: int) -> JSON:
        spec, metadata = deployment["spec"], deployment["metadata"]
        template, selector = spec["template"], spec["selector"]
        suffix = self.hashed(template, dig(deployment, "status", "collisionCount"))
        own = template["metadata"]
        labels = {**(own.get("labels") or {}), LABEL: suffix}
        matched = {**(selector.get("matchLabels") or {}), LABEL: suffix}
        body = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{metadata['name'][: LONGEST_NAME - len(suffix) - 1]}-{suffix}",
                "namespace": metadata["namespace"],
                "labels": labels,
                "ownerReferences": [controller_reference(deployment)],
            },
            "spec": _without_zero(
                {
                    "replicas": calculate_new_size(deployment, 0, total_size(old))
                    if is_rolling(deployment)
                    else size(deployment),
                    "minReadySeconds": spec.get("minReadySeconds", 0),
                    "selector": {**selector, "matchLabels": matched},
                    "template": {
                        **template,
                        "metadata": {**template["metadata"], "labels": labels},
                    },
                }
            ),
        }
        revised = annotated_as_new(deployment, body, next_revision)
        noted = {**annotations_of(revised), **replica_annotations(deployment)}
        return with_annotations(revised, noted)

    def _own_or_collision(self, deployment: JSON, name: str, error: ApiError) -> JSON:
        """Return the ReplicaSet of that name if it is ours, of our template; else count it."""
        namespace = deployment["metadata"]["namespace"]
        found = self.cached.get(Key(REPLICA_SETS, namespace, name))
        if found is None:
            raise not_found("replicasets", "apps", name) from error
        ours = controller_uid(found) == deployment["metadata"]["uid"]
        if ours and same_template(found["spec"]["template"], deployment["spec"]["template"]):
            return found
        status = deployment.get("status") or {}
        counted = {**status, "collisionCount": status.get("collisionCount", 0) + 1}
        deployment["status"] = counted
        self.writes.status(deployment)
        raise error

    def _fail_creation(self, deployment: JSON, name: str, error: ApiError) -> NoReturn:
        if is_terminating_namespace(error):
            raise error
        message = f'Failed to create new replica set "{name}": {error.message}'
        if deadline_seconds(deployment) is not None:
            self._set_progress(deployment, "False", "ReplicaSetCreateError", message)
            # The refusal is the greater trouble; a status in conflict is written by the retry.
            with suppress(ApiError):
                self.writes.status(deployment)
        self.recorder.warning(deployment, "ReplicaSetCreateError", message)
        raise error

    def _set_progress(self, deployment: JSON, status: str, reason: str, message: str) -> None:
        set_progress(deployment, status, reason, message, now=self.api.timers.wall())


def _set_revision(deployment: JSON, number: str) -> bool:
    """Set the revision on the sync's copy of a Deployment; say whether that changed it."""
    found = annotations_of(deployment)
    if found.get(REVISION) == number:
        return False
    annotations = {**found, REVISION: number}
    deployment["metadata"] = {**deployment["metadata"], "annotations": annotations}
    return True


def _without_zero(spec: JSON) -> JSON:
    """Leave `minReadySeconds` out where it is 0, as Go writes it."""
    if spec["minReadySeconds"]:
        return spec
    return {key: value for key, value in spec.items() if key != "minReadySeconds"}
