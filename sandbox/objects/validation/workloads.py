"""Kinds that run pods: selectors, templates, strategies (`pkg/apis/apps/validation`)."""

from __future__ import annotations

from sandbox.failure import not_served
from sandbox.json import JSON
from sandbox.objects.selectors import is_empty, matches
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    check_messages,
    dns_label,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
    percent,
    quote_text,
)
from sandbox.objects.validation.metadata import check_selector, in_go_order, is_usable
from sandbox.objects.validation.pod.spec import check_template

_ROLLING = "RollingUpdate"
_ON_DELETE = "OnDelete"
_WHOLE_PERCENT = 100
_MOST_DIGITS = 18
"""Of a number that is read: one with more is more than enough as well."""


def check_deployment(found: Found, deployment: JSON) -> None:
    """A Deployment's numbers, selector, template and strategy."""
    spec = deployment["spec"]
    check_at_least_zero(found, "spec.replicas", spec["replicas"])
    _check_template_and_selector(found, spec, "Deployment")
    _check_strategy(found, "spec.strategy", spec["strategy"])
    ready_seconds = spec.get("minReadySeconds", 0)
    check_at_least_zero(found, "spec.minReadySeconds", ready_seconds)
    check_at_least_zero(found, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"])
    deadline_seconds = spec["progressDeadlineSeconds"]
    check_at_least_zero(found, "spec.progressDeadlineSeconds", deadline_seconds)
    if deadline_seconds <= ready_seconds:
        says = "must be greater than minReadySeconds"
        found.append(invalid("spec.progressDeadlineSeconds", deadline_seconds, says))


def check_replica_set(found: Found, replica_set: JSON) -> None:
    """A ReplicaSet's numbers, selector and template."""
    spec = replica_set["spec"]
    check_at_least_zero(found, "spec.replicas", spec["replicas"])
    check_at_least_zero(found, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    _check_template_and_selector(found, spec, "ReplicaSet")


def check_stateful_set(found: Found, stateful_set: JSON) -> None:
    """A StatefulSet's strategy, numbers, selector, and template with a volume for each claim."""
    spec = stateful_set["spec"]
    policies = ("OrderedReady", "Parallel")
    if spec["podManagementPolicy"] not in policies:
        says = "must be 'OrderedReady' or 'Parallel'"
        found.append(invalid("spec.podManagementPolicy", spec["podManagementPolicy"], says))
    _check_stateful_strategy(found, "spec.updateStrategy", spec["updateStrategy"])
    retention = spec["persistentVolumeClaimRetentionPolicy"]
    for name in ("whenDeleted", "whenScaled"):
        if retention[name] not in {"Retain", "Delete"}:
            field = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            found.append(not_supported(field, retention[name], ["Retain", "Delete"]))
    check_at_least_zero(found, "spec.replicas", spec["replicas"])
    check_at_least_zero(found, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    check_at_least_zero(found, "spec.ordinals.start", spec.get("ordinals", {}).get("start", 0))
    if service := spec.get("serviceName"):
        check_messages(found, "spec.serviceName", service, dns_label(service))
    template, pod_spec = spec["template"], spec["template"]["spec"]
    names = [claim["metadata"].get("name", "") for claim in spec.get("volumeClaimTemplates", ())]
    claims = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    others = [each for each in pod_spec.get("volumes", ()) if each["name"] not in names]
    with_claims = {**template, "spec": {**pod_spec, "volumes": claims + others}}
    _check_template_and_selector(found, {**spec, "template": with_claims}, "StatefulSet")


def _check_stateful_strategy(found: Found, field: str, strategy: JSON) -> None:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind not in {_ROLLING, _ON_DELETE}:
        says = f"must be '{_ROLLING}' or '{_ON_DELETE}'"
        found.append(invalid(field, _go_strategy(strategy), says))
    elif rolling is not None and kind == _ON_DELETE:
        shown = {"Partition": rolling.get("partition", 0), "MaxUnavailable": None}
        says = f"only allowed for updateStrategy '{_ROLLING}'"
        found.append(invalid(f"{field}.rollingUpdate", shown, says))
    elif rolling is not None:
        check_at_least_zero(found, f"{field}.rollingUpdate.partition", rolling["partition"])


def check_daemon_set(found: Found, daemon_set: JSON) -> None:
    """A DaemonSet's selector, template, numbers and strategy."""
    spec = daemon_set["spec"]
    _check_template_and_selector(found, spec, "DaemonSet")
    check_at_least_zero(found, "spec.minReadySeconds", spec.get("minReadySeconds", 0))
    strategy, field = spec["updateStrategy"], "spec.updateStrategy"
    if strategy["type"] == _ROLLING:
        _check_daemon_rolling(found, f"{field}.rollingUpdate", strategy["rollingUpdate"])
    elif strategy["type"] != _ON_DELETE:
        found.append(not_supported(field, _go_strategy(strategy), [_ROLLING, _ON_DELETE]))
    check_at_least_zero(found, "spec.revisionHistoryLimit", spec["revisionHistoryLimit"])


def _check_daemon_rolling(found: Found, field: str, rolling: JSON) -> None:
    for name in ("maxUnavailable", "maxSurge"):
        _check_int_or_percent(found, f"{field}.{name}", rolling[name])
    for name in ("maxUnavailable", "maxSurge"):
        _check_whole_percent(found, f"{field}.{name}", rolling[name])
    unavailable, surge = _amount_of(rolling["maxUnavailable"]), _amount_of(rolling["maxSurge"])
    if unavailable and surge:
        says = "may not be set when maxUnavailable is non-zero"
        found.append(invalid(f"{field}.maxSurge", rolling["maxSurge"], says))
    elif not unavailable and not surge:
        says = "cannot be 0 when maxSurge is 0"
        found.append(make_required_error(f"{field}.maxUnavailable", says))


def check_disruption_budget(found: Found, budget: JSON) -> None:
    """One bound, and the pods that it is about."""
    spec = budget["spec"]
    bounds = [name for name in ("minAvailable", "maxUnavailable") if name in spec]
    if len(bounds) > 1:
        says = "minAvailable and maxUnavailable cannot be both set"
        order = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        shown = {f"{name[0].upper()}{name[1:]}": spec.get(name) for name in order}
        found.append(invalid("spec", shown, says))
    for name in bounds:
        _check_int_or_percent(found, f"spec.{name}", spec[name])
        _check_whole_percent(found, f"spec.{name}", spec[name])
    check_selector(found, "spec.selector", spec.get("selector"))
    policy, policies = spec.get("unhealthyPodEvictionPolicy"), ("AlwaysAllow", "IfHealthyBudget")
    if policy is not None and policy not in policies:
        found.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, policies))


def check_revision(found: Found, revision: JSON) -> None:
    """A ControllerRevision has a number, and something to go back to."""
    check_at_least_zero(found, "revision", revision["revision"])
    data = revision.get("data")
    if not isinstance(data, dict):
        says = "data is mandatory" if data is None else "data must be a valid JSON object"
        found.append(make_required_error("data", says))


def _check_runs_always(found: Found, spec: JSON, kind: str) -> None:
    """Pods of these kinds are restarted whatever happens, for as long as they are wanted."""
    field, pod_spec = "spec.template.spec", spec["template"]["spec"]
    policy = pod_spec["restartPolicy"]
    if policy != "Always":
        found.append(not_supported(f"{field}.restartPolicy", policy, ["Always"]))
    if "activeDeadlineSeconds" in pod_spec:
        says = f"activeDeadlineSeconds in {kind} is not Supported"
        found.append(forbidden(f"{field}.activeDeadlineSeconds", says))


def _check_template_and_selector(found: Found, spec: JSON, kind: str) -> None:
    """The selector is there, says something, and matches the template; then the template."""
    selector = spec.get("selector")
    _check_required_selector(found, selector, kind)
    if not is_usable(selector):
        shown = in_go_order(selector)
        found.append(invalid("spec.selector", shown, "invalid label selector"))
        return
    _check_matching(found, spec, selector)
    check_template(found, "spec.template", spec["template"])
    _check_runs_always(found, spec, "ReplicaSet" if kind == "Deployment" else kind)


def _check_required_selector(found: Found, selector: JSON | None, kind: str) -> None:
    if selector is None:
        if kind != "DaemonSet":
            found.append(make_required_error("spec.selector"))
        return
    check_selector(found, "spec.selector", selector)
    if is_empty(selector):
        owner = "deployment" if kind == "ReplicaSet" else kind.lower()
        found.append(invalid("spec.selector", {}, f"empty selector is invalid for {owner}"))


def _check_matching(found: Found, spec: JSON, selector: JSON | None) -> None:
    """The template's labels are among those that a selector, unless it is empty, matches."""
    labels = spec["template"]["metadata"].get("labels")
    if (selector is None or not is_empty(selector)) and not matches(selector, labels):
        shown = dict(sorted(labels.items())) if labels else None
        says = "`selector` does not match template `labels`"
        found.append(invalid("spec.template.metadata.labels", shown, says))


def _check_strategy(found: Found, field: str, strategy: JSON) -> None:
    kind, rolling = strategy["type"], strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            says = "may not be specified when strategy `type` is 'Recreate'"
            found.append(forbidden(f"{field}.rollingUpdate", says))
    elif kind == _ROLLING:
        _check_rolling(found, f"{field}.rollingUpdate", rolling or {})
    else:
        found.append(not_supported(field, _go_strategy(strategy), ["Recreate", _ROLLING]))


def _go_strategy(strategy: JSON) -> JSON:
    """Return a strategy as the server's internal type is printed."""
    if "rollingUpdate" not in strategy:
        return {"Type": strategy["type"], "RollingUpdate": None}
    rolling = strategy["rollingUpdate"]
    shown = {
        f"{name[0].upper()}{name[1:]}": rolling[name]
        for name in ("maxUnavailable", "maxSurge")
        if name in rolling
    }
    return {"Type": strategy["type"], "RollingUpdate": shown}


def _check_rolling(found: Found, field: str, rolling: JSON) -> None:
    unavailable, surge = rolling["maxUnavailable"], rolling["maxSurge"]
    _check_int_or_percent(found, f"{field}.maxUnavailable", unavailable)
    _check_int_or_percent(found, f"{field}.maxSurge", surge)
    if not _amount_of(unavailable) and not _amount_of(surge):
        says = "may not be 0 when `maxSurge` is 0"
        found.append(invalid(f"{field}.maxUnavailable", unavailable, says))
    _check_whole_percent(found, f"{field}.maxUnavailable", unavailable)


def _check_whole_percent(found: Found, field: str, value: int | str) -> None:
    is_percent = isinstance(value, str) and not percent(value)
    if is_percent and _amount_of(value) > _WHOLE_PERCENT:
        found.append(invalid(field, value, "must not be greater than 100%"))


def _check_int_or_percent(found: Found, field: str, value: int | str) -> None:
    """A number that is not negative, or a percentage."""
    if isinstance(value, str):
        check_messages(found, field, value, percent(value))
    else:
        check_at_least_zero(found, field, value)


def _amount_of(value: int | str) -> int:
    """Return the number of an int or percentage; of any other text what Go's Atoi makes of it."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    return int(digits[:_MOST_DIGITS]) if digits.isascii() and digits.isdecimal() else 0


INDEXED = "Indexed"
_NUMBERS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_OF_INDEXED = ("backoffLimitPerIndex", "maxFailedIndexes")
_UNPLAYED = ("backoffLimitPerIndex", "successPolicy")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")


def check_job(found: Found, job: JSON) -> None:
    """All of a Job's spec; what its controller does not play is refused, and not left aside."""
    spec = job["spec"]
    _check_spec(found, "spec", spec)
    unplayed = next((name for name in _UNPLAYED if not found and name in spec), "")
    if unplayed:
        raise not_served(f"a Job with {unplayed}")
    selector = spec.get("selector")
    if selector is None:
        found.append(make_required_error("spec.selector"))
    else:
        check_selector(found, "spec.selector", selector)
    labels = spec["template"]["metadata"].get("labels")
    if not matches(selector, labels):
        shown = dict(sorted(labels.items())) if labels else None
        says = "`selector` does not match template `labels`"
        found.append(invalid("spec.template.metadata.labels", shown, says))


def check_cron_job(found: Found, cron_job: JSON) -> None:
    """The spec of its Jobs."""
    _check_spec(found, "spec.jobTemplate.spec", cron_job["spec"]["jobTemplate"]["spec"])


def _check_spec(found: Found, field: str, spec: JSON) -> None:
    for name in _NUMBERS:
        check_at_least_zero(found, f"{field}.{name}", spec.get(name) or 0)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        says = "when maxFailedIndexes is specified"
        found.append(make_required_error(f"{field}.backoffLimitPerIndex", says))
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in {"NonIndexed", INDEXED}:
        found.append(not_supported(f"{field}.completionMode", mode, ["NonIndexed", INDEXED]))
    if mode == INDEXED and "completions" not in spec:
        says = f"when completion mode is {INDEXED}"
        found.append(make_required_error(f"{field}.completions", says))
    for name in _OF_INDEXED:
        if mode == "NonIndexed" and name in spec:
            says = "requires indexed completion mode"
            found.append(invalid(f"{field}.{name}", spec[name], says))
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        _check_failure_policy(found, f"{field}.podFailurePolicy", spec, policy)
    replacement = spec.get("podReplacementPolicy")
    known = _REPLACEMENTS[:1] if policy is not None else _REPLACEMENTS
    if replacement is not None and replacement not in known:
        found.append(not_supported(f"{field}.podReplacementPolicy", replacement, known))
    check_template(found, f"{field}.template", spec["template"])
    _check_restarts(found, f"{field}.template.spec.restartPolicy", spec)


def _check_restarts(found: Found, field: str, spec: JSON) -> None:
    """The pods of a Job come to an end, which those that are always restarted do not."""
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy == "Always":
        found.append(make_required_error(field, 'valid values: "OnFailure", "Never"'))
    elif policy not in {"OnFailure", "Never"}:
        found.append(not_supported(field, policy, ["OnFailure", "Never"]))
    elif "podFailurePolicy" in spec and policy != "Never":
        says = 'only "Never" is supported when podFailurePolicy is specified'
        found.append(invalid(field, policy, says))


def _check_failure_policy(found: Found, field: str, spec: JSON, policy: JSON) -> None:
    pod_spec = spec["template"]["spec"]
    containers = [*pod_spec.get("containers", ()), *pod_spec.get("initContainers", ())]
    names = {each["name"] for each in containers}
    for index, rule in enumerate(policy.get("rules") or ()):
        at, action = f"{field}.rules[{index}]", rule["action"]
        if not action:
            listed = " ".join(map(quote_text, _ACTIONS))
            found.append(make_required_error(f"{at}.action", f"valid values: [{listed}]"))
        elif action == "FailIndex" and "backoffLimitPerIndex" not in spec:
            says = "requires the backoffLimitPerIndex to be set"
            found.append(invalid(f"{at}.action", action, says))
        elif action not in _ACTIONS:
            found.append(not_supported(f"{at}.action", action, _ACTIONS))
        codes = rule.get("onExitCodes")
        if codes is not None:
            _check_exit_codes(found, f"{at}.onExitCodes", codes, names)


def _check_exit_codes(found: Found, field: str, codes: JSON, names: set[str]) -> None:
    operator, values = codes["operator"], codes.get("values") or []
    if operator not in _OPERATORS:
        found.append(not_supported(f"{field}.operator", operator, _OPERATORS))
    if codes.get("containerName", next(iter(names), "")) not in names:
        says = "must be one of the container or initContainer names in the pod template"
        found.append(invalid(f"{field}.containerName", codes["containerName"], says))
    if not values:
        found.append(invalid(f"{field}.values", values, "at least one value is required"))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            says = "must not be 0 for the In operator"
            found.append(invalid(f"{field}.values[{index}]", value, says))
        if value in values[:index]:
            found.append(duplicate(f"{field}.values[{index}]", value))
    if values != sorted(values):
        found.append(invalid(f"{field}.values", values, "must be ordered"))
