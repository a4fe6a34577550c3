"""Validation of every kind, in the server's order and words.

One module a family of kinds; `errors` and `names` have the words, `metadata` what all share.
A check appends to the list that it is given, so that one walk finds every error in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.failure import FieldError
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.validation import (
    batch,
    cluster,
    data,
    deployments,
    networking,
    policies,
    quotas,
    rbac,
    service,
    sets,
    status,
)
from sandbox.objects.validation.errors import Found
from sandbox.objects.validation.metadata import check_common, check_common_update
from sandbox.objects.validation.names import path_segment
from sandbox.objects.validation.pod import spec, update

CreateCheck = Callable[[Found, JSON], None]
UpdateCheck = Callable[[Found, JSON, JSON], None]

CHECKS: Mapping[str, tuple[CreateCheck, UpdateCheck]] = {
    "namespaces": (cluster.check_namespace, cluster.check_namespace_update),
    "nodes": (cluster.check_node, cluster.check_node_update),
    "pods": (spec.check_pod_create, update.check_pod_update),
    "configmaps": (data.check_config_map, data.check_config_map_update),
    "secrets": (data.check_secret, data.check_secret_update),
    "services": (service.check_service, service.check_service_update),
    "serviceaccounts": (cluster.check_named, cluster.check_named_update),
    "persistentvolumeclaims": (cluster.check_claim, cluster.check_claim_update),
    "resourcequotas": (quotas.check_quota, quotas.check_quota_update),
    "events": (cluster.check_event, cluster.check_event_update),
    "deployments.apps": (deployments.check_deployment, deployments.check_deployment_update),
    "replicasets.apps": (deployments.check_replica_set, deployments.check_replica_set_update),
    "statefulsets.apps": (sets.check_stateful_set, sets.check_stateful_set_update),
    "daemonsets.apps": (sets.check_daemon_set, sets.check_daemon_set_update),
    "jobs.batch": (batch.check_job, batch.check_job_update),
    "cronjobs.batch": (batch.check_cron_job, batch.check_cron_job_update),
    "horizontalpodautoscalers.autoscaling": (
        policies.check_autoscaler,
        policies.check_autoscaler_update,
    ),
    "poddisruptionbudgets.policy": (policies.check_budget, policies.check_budget_update),
    "ingresses.networking.k8s.io": (networking.check_ingress, networking.check_ingress_update),
    "networkpolicies.networking.k8s.io": (
        networking.check_network_policy,
        networking.check_network_policy_update,
    ),
    "leases.coordination.k8s.io": (policies.check_lease, policies.check_lease_update),
    "roles.rbac.authorization.k8s.io": (rbac.check_role, rbac.check_role_update),
    "rolebindings.rbac.authorization.k8s.io": (rbac.check_binding, rbac.check_binding_update),
    "clusterroles.rbac.authorization.k8s.io": (
        rbac.check_cluster_role,
        rbac.check_cluster_role_update,
    ),
    "clusterrolebindings.rbac.authorization.k8s.io": (
        rbac.check_cluster_binding,
        rbac.check_cluster_binding_update,
    ),
}


def validate_create(resource: Resource, body: JSON) -> list[FieldError]:
    """Return what is wrong with a defaulted and prepared object, none where it may be created.

    `metadata` has its final name and namespace. For `failure.invalid`.
    """
    found: Found = []
    CHECKS[resource.key][0](found, body)
    if not found:
        check_common(found, body["metadata"], path_segment, namespaced=resource.namespaced)
    return found


def validate_update(
    resource: Resource, old: JSON, new: JSON, subresource: str = ""
) -> list[FieldError]:
    """Return what is wrong with an update, none where it may be written.

    `new` is defaulted and prepared and carries what the verb keeps of `old` (uid, generation,
    resourceVersion). `subresource` is `status`, or `""` for the object itself.
    """
    found: Found = []
    check_common(found, new["metadata"], path_segment, namespaced=resource.namespaced)
    check_common_update(found, old["metadata"], new["metadata"])
    if subresource == "status":
        status.check_status_update(found, resource, old, new)
    else:
        CHECKS[resource.key][1](found, old, new)
    return found
