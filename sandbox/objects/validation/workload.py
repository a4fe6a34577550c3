"""What the kinds that run pods share: selectors, templates, numbers that may be percentages."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    IMMUTABLE,
    Found,
    check_at_least_zero,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import percent
from sandbox.objects.validation.selectors import (
    check_selector,
    in_go_order,
    is_empty,
    matches,
)

ROLLING = "RollingUpdate"
WHOLE_PERCENT = 100
MOST_DIGITS = 18
"""Of a number that is read: one with more is more than enough as well."""


def check_same_selector(found: Found, old: JSON, new: JSON) -> None:
    """The selector is as it stands in the old object."""
    before, after = old["spec"].get("selector"), new["spec"].get("selector")
    if before != after:
        found.append(invalid("spec.selector", in_go_order(after), IMMUTABLE))


def check_required_selector(found: Found, selector: JSON | None, kind: str) -> None:
    """A selector is there and says something."""
    if selector is None:
        found.append(make_required_error("spec.selector"))
        return
    check_selector(found, "spec.selector", selector)
    if is_empty(selector):
        says = f"empty selector is invalid for {kind}"
        found.append(invalid("spec.selector", {}, says))


def check_matching(found: Found, spec: JSON, selector: JSON | None) -> None:
    """The template's labels are among those that a selector, unless it is empty, matches."""
    labels = spec["template"]["metadata"].get("labels")
    if (selector is None or not is_empty(selector)) and not matches(selector, labels):
        told = dict(sorted(labels.items())) if labels else None
        says = "`selector` does not match template `labels`"
        found.append(invalid("spec.template.metadata.labels", told, says))


def check_runs_always(found: Found, spec: JSON, kind: str) -> None:
    """Pods of these kinds are restarted whatever happens, for as long as they are wanted."""
    field, template = "spec.template.spec", spec["template"]["spec"]
    policy = template["restartPolicy"]
    if policy != "Always":
        found.append(not_supported(f"{field}.restartPolicy", policy, ["Always"]))
    if "activeDeadlineSeconds" in template:
        says = f"activeDeadlineSeconds in {kind} is not Supported"
        found.append(forbidden(f"{field}.activeDeadlineSeconds", says))


def go_strategy(strategy: JSON) -> JSON:
    """Return a strategy as the server's internal type is printed."""
    if "rollingUpdate" not in strategy:
        return {"Type": strategy["type"], "RollingUpdate": None}
    rolling = strategy["rollingUpdate"]
    names = ("partition", "maxUnavailable", "maxSurge")
    told = {f"{name[0].upper()}{name[1:]}": rolling[name] for name in names if name in rolling}
    return {"Type": strategy["type"], "RollingUpdate": told}


def check_int_or_percent(found: Found, field: str, value: int | str) -> None:
    """A number that is not negative, or a percentage."""
    if isinstance(value, str):
        check_messages(found, field, value, percent(value))
    else:
        check_at_least_zero(found, field, value)


def check_at_most_whole(found: Found, field: str, value: int | str) -> None:
    """A percentage is at most 100 %."""
    if isinstance(value, str) and not percent(value) and amount_of(value) > WHOLE_PERCENT:
        found.append(invalid(field, value, "must not be greater than 100%"))


def amount_of(value: int | str) -> int:
    """Return the number of an int or percentage; of any other text what Go's Atoi makes of it."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    return int(digits[:MOST_DIGITS]) if digits.isascii() and digits.isdecimal() else 0
