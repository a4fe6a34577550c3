"""Deployments and their ReplicaSets (`pkg/apis/apps/validation`)."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    forbidden,
    invalid,
    not_supported,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import dns_subdomain
from sandbox.objects.validation.pod.spec import check_template
from sandbox.objects.validation.selectors import in_go_order, is_usable
from sandbox.objects.validation.workload import (
    ROLLING,
    amount_of,
    check_at_most_whole,
    check_int_or_percent,
    check_matching,
    check_required_selector,
    check_runs_always,
    check_same_selector,
    go_strategy,
)


def check_deployment(found: Found, deployment: JSON) -> None:
    """A new Deployment."""
    check_metadata(found, deployment["metadata"], dns_subdomain)
    _check_deployment_spec(found, deployment["spec"])


def check_deployment_update(found: Found, old: JSON, new: JSON) -> None:
    """A Deployment keeps its selector."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_deployment_spec(found, new["spec"])
    check_same_selector(found, old, new)


def _check_deployment_spec(found: Found, spec: JSON) -> None:
    check_at_least_zero(found, "spec.replicas", spec["replicas"])
    _check_template_and_selector(found, spec, "deployment")
    _check_strategy(found, "spec.strategy", spec["strategy"])
    ready_seconds = spec.get("minReadySeconds", 0)
    check_at_least_zero(found, "spec.minReadySeconds", ready_seconds)
    check_at_least_zero(found, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"])
    deadline_seconds = spec["progressDeadlineSeconds"]
    check_at_least_zero(found, "spec.progressDeadlineSeconds", deadline_seconds)
    if deadline_seconds <= ready_seconds:
        says = "must be greater than minReadySeconds"
        found.append(invalid("spec.progressDeadlineSeconds", deadline_seconds, says))


def _check_template_and_selector(found: Found, spec: JSON, kind: str) -> None:
    """The selector is there, says something, and matches the template; then the template."""
    selector = spec.get("selector")
    check_required_selector(found, selector, kind)
    if not is_usable(selector):
        told = in_go_order(selector)
        found.append(invalid("spec.selector", told, "invalid label selector"))
        return
    check_matching(found, spec, selector)
    check_template(found, "spec.template", spec["template"])
    check_runs_always(found, spec, "ReplicaSet")


def _check_strategy(found: Found, field: str, strategy: JSON) -> None:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            says = "may not be specified when strategy `type` is 'Recreate'"
            found.append(forbidden(f"{field}.rollingUpdate", says))
    elif kind == ROLLING:
        _check_rolling(found, f"{field}.rollingUpdate", rolling or {})
    else:
        found.append(not_supported(field, go_strategy(strategy), ["Recreate", ROLLING]))


def _check_rolling(found: Found, field: str, rolling: JSON) -> None:
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    check_int_or_percent(found, f"{field}.maxUnavailable", unavailable)
    check_int_or_percent(found, f"{field}.maxSurge", surge)
    if not amount_of(unavailable) and not amount_of(surge):
        says = "may not be 0 when `maxSurge` is 0"
        found.append(invalid(f"{field}.maxUnavailable", unavailable, says))
    check_at_most_whole(found, f"{field}.maxUnavailable", unavailable)


def check_replica_set(found: Found, replica_set: JSON) -> None:
    """A new ReplicaSet."""
    check_metadata(found, replica_set["metadata"], dns_subdomain)
    _check_replica_set_spec(found, replica_set["spec"])


def check_replica_set_update(found: Found, old: JSON, new: JSON) -> None:
    """A ReplicaSet keeps its selector."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_replica_set_spec(found, new["spec"])
    check_same_selector(found, old, new)


def _check_replica_set_spec(found: Found, spec: JSON) -> None:
    check_at_least_zero(found, "spec.replicas", spec["replicas"])
    check_at_least_zero(found, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    _check_template_and_selector(found, spec, "deployment")
