"""Validation: what the controllers rest on, and what no update may change.

A real server looks at every field of every kind. The sandbox looks at names and labels
(`metadata`, `names`, `selectors`), at what its controllers compute with (`workloads`), at pod specs
(`pod`), at the names of a Service's ports (`services`), and at fields that are fixed once they are
written (`fixed`). All else is stored as it was sent.
A check appends to the list that it is given, so that one walk finds every error in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.failure import FieldError
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.validation.errors import Found
from sandbox.objects.validation.fixed import check_fixed_fields
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.pod.spec import check_pod
from sandbox.objects.validation.services import check_service
from sandbox.objects.validation.workloads import (
    check_cron_job,
    check_daemon_set,
    check_deployment,
    check_disruption_budget,
    check_job,
    check_replica_set,
    check_revision,
    check_stateful_set,
)

_CONTENT: Mapping[str, Callable[[Found, JSON], None]] = {
    "pods": check_pod,
    "deployments.apps": check_deployment,
    "replicasets.apps": check_replica_set,
    "statefulsets.apps": check_stateful_set,
    "daemonsets.apps": check_daemon_set,
    "jobs.batch": check_job,
    "cronjobs.batch": check_cron_job,
    "controllerrevisions.apps": check_revision,
    "poddisruptionbudgets.policy": check_disruption_budget,
    "services": check_service,
}
"""What is asked of a kind's spec."""


def validate_create(resource: Resource, body: JSON) -> list[FieldError]:
    """Return what is wrong with a defaulted and prepared object, none where it may be created.

    `metadata` has its final name and namespace. For `failure.invalid`.
    """
    found: Found = []
    check_metadata(found, resource, body["metadata"])
    _check_content(found, resource, body)
    return found


def validate_update(
    resource: Resource, old: JSON, new: JSON, subresource: str = ""
) -> list[FieldError]:
    """Return what is wrong with an update, none where it may be written.

    `new` is defaulted and prepared and carries what the verb keeps of `old` (uid, generation,
    resourceVersion). `subresource` is `status`, or `""` for the object itself.
    """
    found: Found = []
    check_metadata(found, resource, new["metadata"])
    check_metadata_update(found, old["metadata"], new["metadata"])
    if not subresource:
        _check_content(found, resource, new)
        check_fixed_fields(found, resource, old, new)
    return found


def _check_content(found: Found, resource: Resource, body: JSON) -> None:
    check = _CONTENT.get(resource.key)
    if check:
        check(found, body)
