"""StatefulSets and DaemonSets (`pkg/apis/apps/validation`)."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import dns_label, dns_subdomain
from sandbox.objects.validation.pod.spec import check_template
from sandbox.objects.validation.selectors import check_selector, is_empty, is_usable
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

MUTABLE_OF_STATEFUL_SET = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def check_stateful_set(found: Found, stateful_set: JSON) -> None:
    """A new StatefulSet."""
    check_metadata(found, stateful_set["metadata"], dns_label)
    _check_stateful_set_spec(found, stateful_set["spec"], is_new=True)


def check_stateful_set_update(found: Found, old: JSON, new: JSON) -> None:
    """Most of a StatefulSet's spec stays as it is."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_stateful_set_spec(found, new["spec"], is_new=False)
    if _select_immutable_fields(old["spec"]) != _select_immutable_fields(new["spec"]):
        *names, last = (f"'{name}'" for name in MUTABLE_OF_STATEFUL_SET)
        says = (
            "updates to statefulset spec for fields other than"
            f" {', '.join(names)} and {last} are forbidden"
        )
        found.append(forbidden("spec", says))


def _select_immutable_fields(spec: JSON) -> JSON:
    return {name: value for name, value in spec.items() if name not in MUTABLE_OF_STATEFUL_SET}


def _check_stateful_set_spec(found: Found, spec: JSON, *, is_new: bool) -> None:
    policy = spec["podManagementPolicy"]
    if policy not in {"OrderedReady", "Parallel"}:
        says = "must be 'OrderedReady' or 'Parallel'"
        found.append(invalid("spec.podManagementPolicy", policy, says))
    strategy = spec["updateStrategy"]
    if strategy["type"] not in {ROLLING, "OnDelete"}:
        says = f"must be '{ROLLING}' or 'OnDelete'"
        found.append(invalid("spec.updateStrategy", go_strategy(strategy), says))
    elif "rollingUpdate" in strategy:
        _check_partition(found, strategy)
    check_at_least_zero(found, "spec.replicas", spec["replicas"])
    check_at_least_zero(found, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    if is_new and (name := spec.get("serviceName")):
        check_messages(found, "spec.serviceName", name, dns_label(name))
    selector = spec.get("selector")
    check_required_selector(found, selector, "statefulset")
    if is_usable(selector):
        check_matching(found, spec, selector)
        check_template(found, "spec.template", _with_claims(spec))
    check_runs_always(found, spec, "StatefulSet")


def _check_partition(found: Found, strategy: JSON) -> None:
    field, rolling = "spec.updateStrategy.rollingUpdate", strategy["rollingUpdate"]
    if strategy["type"] == "OnDelete":
        says = f"only allowed for updateStrategy '{ROLLING}'"
        found.append(invalid(field, go_strategy(strategy)["RollingUpdate"], says))
        return
    check_at_least_zero(found, f"{field}.partition", rolling.get("partition", 0))


def _with_claims(spec: JSON) -> JSON:
    """Return the template with a volume for each claim, as its pods will have them."""
    template: JSON = spec["template"]
    claims: Sequence[JSON] = spec.get("volumeClaimTemplates", ())
    if not claims:
        return template
    names = [claim["metadata"].get("name", "") for claim in claims]
    made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    kept = [each for each in template["spec"].get("volumes", ()) if each["name"] not in names]
    return {**template, "spec": {**template["spec"], "volumes": made + kept}}


def check_daemon_set(found: Found, daemon_set: JSON) -> None:
    """A new DaemonSet."""
    check_metadata(found, daemon_set["metadata"], dns_subdomain)
    _check_daemon_set_spec(found, daemon_set["spec"])


def check_daemon_set_update(found: Found, old: JSON, new: JSON) -> None:
    """A DaemonSet keeps its selector."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    check_same_selector(found, old, new)
    _check_daemon_set_spec(found, new["spec"])


def _check_daemon_set_spec(found: Found, spec: JSON) -> None:
    selector = spec.get("selector")
    check_selector(found, "spec.selector", selector)
    if is_usable(selector):
        check_matching(found, spec, selector)
    if selector is not None and is_empty(selector):
        found.append(invalid("spec.selector", {}, "empty selector is invalid for daemonset"))
    check_template(found, "spec.template", spec["template"])
    check_runs_always(found, spec, "DaemonSet")
    check_at_least_zero(found, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    strategy = spec["updateStrategy"]
    if strategy["type"] == ROLLING:
        _check_daemon_rolling(found, "spec.updateStrategy.rollingUpdate", strategy["rollingUpdate"])
    elif strategy["type"] != "OnDelete":
        told = go_strategy(strategy)
        found.append(not_supported("spec.updateStrategy", told, [ROLLING, "OnDelete"]))
    check_at_least_zero(found, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"])


def _check_daemon_rolling(found: Found, field: str, rolling: JSON) -> None:
    for name in ("maxUnavailable", "maxSurge"):
        check_int_or_percent(found, f"{field}.{name}", rolling[name])
    for name in ("maxUnavailable", "maxSurge"):
        check_at_most_whole(found, f"{field}.{name}", rolling[name])
    unavailable, surge = amount_of(rolling["maxUnavailable"]), amount_of(rolling["maxSurge"])
    if unavailable and surge:
        says = "may not be set when maxUnavailable is non-zero"
        found.append(invalid(f"{field}.maxSurge", rolling["maxSurge"], says))
    elif not unavailable and not surge:
        found.append(
            make_required_error(f"{field}.maxUnavailable", "cannot be 0 when maxSurge is 0")
        )
