"""Jobs and CronJobs (`pkg/apis/batch/validation`): numbers, modes, policies, templates."""

from __future__ import annotations

from sandbox.failure import not_served
from sandbox.json import JSON
from sandbox.objects.selectors import matches
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    duplicate,
    invalid,
    make_required_error,
    not_supported,
    quote_text,
)
from sandbox.objects.validation.metadata import check_selector
from sandbox.objects.validation.pod.spec import check_template

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
