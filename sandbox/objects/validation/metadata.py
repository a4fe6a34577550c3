"""Validation of `metadata`, on creation and on update, and of label selectors.

Rules of apimachinery `api/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.validation.errors import (
    IMMUTABLE,
    Found,
    Messages,
    check_messages,
    dns_label,
    dns_subdomain,
    forbidden,
    invalid,
    label_key,
    label_value,
    make_required_error,
    mask_trailing_dash,
    path_segment,
    too_long,
)

SETS = ("In", "NotIn")
EXISTENCE = ("Exists", "DoesNotExist")


def check_labels(found: Found, field: str, labels: Mapping[str, str] | None) -> None:
    """Keys are qualified names, values are short."""
    for key, value in sorted((labels or {}).items()):
        check_messages(found, field, key, label_key(key))
        check_messages(found, field, value, label_value(value))


def check_selector(found: Found, field: str, selector: JSON | None) -> None:
    """A LabelSelector's labels and expressions are well formed."""
    if not selector:
        return
    check_labels(found, f"{field}.matchLabels", selector.get("matchLabels"))
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        _check_expression(found, f"{field}.matchExpressions[{index}]", expression)


def _check_expression(found: Found, field: str, expression: JSON) -> None:
    values = expression.get("values", ())
    operator = expression["operator"]
    if operator in SETS:
        if not values:
            says = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(make_required_error(f"{field}.values", says))
    elif operator in EXISTENCE:
        if values:
            says = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", says))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    check_messages(found, f"{field}.key", expression["key"], label_key(expression["key"]))
    for index, value in enumerate(values):
        check_messages(found, f"{field}.values[{index}]", value, label_value(value))


def is_usable(selector: JSON | None) -> bool:
    """Whether a selector can be asked at all: one that is malformed cannot."""
    found: Found = []
    check_selector(found, "", selector)
    return not found


def in_go_order(selector: JSON | None) -> JSON | None:
    """Return a selector with its keys as the Go struct has them, for messages."""
    if selector is None:
        return None
    made: JSON = {}
    if labels := selector.get("matchLabels"):
        made["matchLabels"] = dict(sorted(labels.items()))
    if expressions := selector.get("matchExpressions"):
        order = ("key", "operator", "values")
        made["matchExpressions"] = [
            {key: each[key] for key in order if key in each} for each in expressions
        ]
    return made


ANNOTATIONS_BYTES = 256 * 1024
FIXED_FIELDS = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_RBAC = "rbac.authorization.k8s.io"
_NAMES: Mapping[str, Callable[[str], Messages]] = {
    "namespaces": dns_label,
    "services": dns_label,
    "statefulsets.apps": dns_label,
}


def check_metadata(found: Found, resource: Resource, metadata: JSON) -> None:
    """Name, labels, annotations, owners and finalizers of an object."""
    _check_name(found, resource, metadata)
    check_labels(found, "metadata.labels", metadata.get("labels"))
    check_annotations(found, "metadata.annotations", metadata.get("annotations") or {})
    for owner in metadata.get("ownerReferences", ()):
        for name in ("kind", "name", "uid"):
            if not owner[name]:
                says = "must not be empty"
                found.append(invalid(f"metadata.ownerReferences.{name}", "", says))
    for finalizer in metadata.get("finalizers", ()):
        check_messages(found, "metadata.finalizers", finalizer, label_key(finalizer))


def _check_name(found: Found, resource: Resource, metadata: JSON) -> None:
    check = path_segment if resource.group == _RBAC else _NAMES.get(resource.key, dns_subdomain)
    prefix, name = metadata.get("generateName", ""), metadata.get("name", "")
    if prefix:
        messages = check(mask_trailing_dash(prefix))
        check_messages(found, "metadata.generateName", prefix, messages)
    if name:
        check_messages(found, "metadata.name", name, check(name))
    else:
        found.append(make_required_error("metadata.name", "name or generateName is required"))


def check_annotations(found: Found, field: str, annotations: Mapping[str, str]) -> None:
    """Keys are qualified names of any case; all together have a limit."""
    for key in sorted(annotations):
        check_messages(found, field, key, label_key(key.lower()))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_BYTES:
        found.append(too_long(field, ANNOTATIONS_BYTES))


def check_metadata_update(found: Found, old: JSON, new: JSON) -> None:
    """What no update may do to metadata, whatever the kind."""
    if "deletionTimestamp" in old:
        _check_no_new_finalizers(found, old.get("finalizers", []), new.get("finalizers", []))
    for name in FIXED_FIELDS:
        if old.get(name) != new.get(name):
            empty = "" if name in {"name", "namespace", "uid"} else None
            found.append(invalid(f"metadata.{name}", new.get(name, empty), IMMUTABLE))


def _check_no_new_finalizers(found: Found, old: list[str], new: list[str]) -> None:
    extra = sorted(set(new) - set(old))
    if extra:
        listed = ", ".join(f'"{each}"' for each in extra)
        says = (
            "no new finalizers can be added if the object is being deleted, found new finalizers"
            f" []string{{{listed}}}"
        )
        found.append(forbidden("metadata.finalizers", says))
