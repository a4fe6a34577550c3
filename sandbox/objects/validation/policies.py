"""What steers others: autoscalers, disruption budgets and Leases."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.quantity import parse_quantity
from sandbox.objects.validation.errors import (
    NOT_POSITIVE,
    Found,
    check_at_least_zero,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import dns_subdomain, path_segment
from sandbox.objects.validation.selectors import check_selector, in_go_order
from sandbox.objects.validation.workload import check_at_most_whole, check_int_or_percent

METRICS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
TARGETS = ("Utilization", "Value", "AverageValue")
LONGEST_WINDOW_SECONDS = 3600
LONGEST_PERIOD_SECONDS = 1800
SELECT_POLICIES = ("Disabled", "Max", "Min")
SCALING_POLICIES = ("Percent", "Pods")


def check_autoscaler(found: Found, autoscaler: JSON) -> None:
    """A new HorizontalPodAutoscaler."""
    check_metadata(found, autoscaler["metadata"], dns_subdomain)
    _check_autoscaler_spec(found, autoscaler["spec"])


def check_autoscaler_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of an autoscaler's spec may change."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_autoscaler_spec(found, new["spec"])


def _check_autoscaler_spec(found: Found, spec: JSON) -> None:
    least, most = spec["minReplicas"], spec["maxReplicas"]
    if least < 1:
        found.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most == 0:
        found.append(make_required_error("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        found.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if most < least:
        says = "must be greater than or equal to `minReplicas`"
        found.append(invalid("spec.maxReplicas", most, says))
    _check_target(found, "spec.scaleTargetRef", spec["scaleTargetRef"])
    for index, metric in enumerate(spec.get("metrics", ())):
        _check_metric(found, f"spec.metrics[{index}]", metric)
    kinds = {metric["type"] for metric in spec.get("metrics", ())}
    if least == 0 and not kinds & {"Object", "External"}:
        says = "must specify at least one Object or External metric to support scaling to zero"
        found.append(forbidden("spec.metrics", f"{says} replicas"))
    for name in ("scaleUp", "scaleDown"):
        if rules := spec.get("behavior", {}).get(name):
            _check_rules(found, f"spec.behavior.{name}", rules)


def _check_target(found: Found, field: str, target: JSON) -> None:
    for name in ("kind", "name"):
        if target[name]:
            check_messages(found, f"{field}.{name}", target[name], path_segment(target[name]))
        else:
            found.append(make_required_error(f"{field}.{name}"))
    version = target.get("apiVersion", "")
    if "/" not in version:
        says = "apiVersion must specify API group"
        found.append(invalid(f"{field}.apiVersion", version, says))


def _check_metric(found: Found, field: str, metric: JSON) -> None:
    kind = metric["type"]
    if kind not in METRICS:
        # The server tells it twice: once of the type, once of what belongs to it.
        found += [not_supported(f"{field}.type", kind, METRICS)] * 2
    given = [name for name in METRICS.values() if name in metric]
    if "resource" in metric:
        _check_resource_metric(found, f"{field}.resource", metric["resource"])
    wanted = METRICS.get(kind)
    if wanted and wanted not in metric:
        says = "must populate information for the given metric source"
        found.append(make_required_error(f"{field}.{wanted}", says))
    if len(given) > 1:
        for name in given:
            if name != wanted:
                says = "must populate the given metric source only"
                found.append(forbidden(f"{field}.{name}", says))


def _check_resource_metric(found: Found, field: str, source: JSON) -> None:
    if not source["name"]:
        found.append(make_required_error(f"{field}.name", "must specify a resource name"))
    target, at = source["target"], f"{field}.target"
    if target["type"] not in TARGETS:
        says = "must be either Utilization, Value, or AverageValue"
        found.append(invalid(f"{at}.type", target["type"], says))
    value, utilization = target.get("averageValue"), target.get("averageUtilization")
    if value is not None and parse_quantity(value).nanos <= 0:
        found.append(invalid(f"{at}.averageValue", value, "must be positive"))
    if utilization is not None and utilization < 1:
        found.append(invalid(f"{at}.averageUtilization", utilization, "must be greater than 0"))
    if value is None and utilization is None:
        says = "must set either a target raw value or a target utilization"
        found.append(make_required_error(f"{at}.averageUtilization", says))
    if value is not None and utilization is not None:
        says = "may not set both a target raw value and a target utilization"
        found.append(forbidden(f"{at}.averageValue", says))


def _check_rules(found: Found, field: str, rules: JSON) -> None:
    seconds, at = rules.get("stabilizationWindowSeconds", 0), f"{field}.stabilizationWindowSeconds"
    if seconds < 0:
        found.append(invalid(at, seconds, "must be greater than or equal to zero"))
    if seconds > LONGEST_WINDOW_SECONDS:
        says = f"must be less than or equal to {LONGEST_WINDOW_SECONDS}"
        found.append(invalid(at, seconds, says))
    if rules["selectPolicy"] not in SELECT_POLICIES:
        at = f"{field}.selectPolicy"
        found.append(not_supported(at, rules["selectPolicy"], SELECT_POLICIES))
    if not rules["policies"]:
        found.append(make_required_error(f"{field}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(rules["policies"]):
        _check_scaling_policy(found, f"{field}.policies[{index}]", policy)


def _check_scaling_policy(found: Found, field: str, policy: JSON) -> None:
    if policy["type"] not in SCALING_POLICIES:
        found.append(not_supported(f"{field}.type", policy["type"], SCALING_POLICIES))
    for name in ("value", "periodSeconds"):
        if policy[name] <= 0:
            found.append(invalid(f"{field}.{name}", policy[name], NOT_POSITIVE))
    if policy["periodSeconds"] > LONGEST_PERIOD_SECONDS:
        says = f"must be less than or equal to {LONGEST_PERIOD_SECONDS}"
        found.append(invalid(f"{field}.periodSeconds", policy["periodSeconds"], says))


def check_budget(found: Found, budget: JSON) -> None:
    """A PodDisruptionBudget, new or updated."""
    spec = budget["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        told = {
            "MinAvailable": spec["minAvailable"],
            "Selector": in_go_order(spec.get("selector")),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        says = "minAvailable and maxUnavailable cannot be both set"
        found.append(invalid("spec", told, says))
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            check_int_or_percent(found, f"spec.{name}", spec[name])
            check_at_most_whole(found, f"spec.{name}", spec[name])
    check_selector(found, "spec.selector", spec.get("selector"))


def check_budget_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a budget's spec may change."""
    del old
    check_budget(found, new)


def check_lease(found: Found, lease: JSON) -> None:
    """A new Lease."""
    check_metadata(found, lease["metadata"], dns_subdomain)
    _check_lease_spec(found, lease["spec"])


def check_lease_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a Lease's spec may change."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_lease_spec(found, new["spec"])


def _check_lease_spec(found: Found, spec: JSON) -> None:
    seconds = spec.get("leaseDurationSeconds", 1)
    if seconds <= 0:
        found.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    check_at_least_zero(found, "spec.leaseTransitions", spec.get("leaseTransitions", 0))
