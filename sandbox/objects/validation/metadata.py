"""Validation of `metadata`, on creation and on update (apimachinery `api/validation`)."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    IMMUTABLE,
    Found,
    check_at_least_zero,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
    too_long,
)
from sandbox.objects.validation.names import Messages, dns_label, label_key, mask_trailing_dash
from sandbox.objects.validation.selectors import check_labels

NameCheck = Callable[[str], Messages]

ANNOTATIONS_BYTES = 256 * 1024
STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
FIXED_FIELDS = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_OWNER_ORDER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


def check_metadata(
    found: Found, metadata: JSON, name_check: NameCheck, *, namespaced: bool = True
) -> None:
    """Everything that holds of the metadata of a new object."""
    check_common(found, metadata, name_check, namespaced=namespaced)
    check_kube_finalizers(found, metadata)


def check_common(
    found: Found, metadata: JSON, name_check: NameCheck, *, namespaced: bool = True
) -> None:
    """What the generic registry checks too: name, namespace, generation, maps, owners."""
    prefix, name = metadata.get("generateName", ""), metadata.get("name", "")
    if prefix:
        check_messages(
            found, "metadata.generateName", prefix, name_check(mask_trailing_dash(prefix))
        )
    if name:
        check_messages(found, "metadata.name", name, name_check(name))
    else:
        found.append(make_required_error("metadata.name", "name or generateName is required"))
    _check_namespace(found, metadata.get("namespace", ""), namespaced=namespaced)
    check_at_least_zero(found, "metadata.generation", metadata.get("generation", 0))
    _check_maps(found, metadata)
    _check_finalizers(found, metadata.get("finalizers", []))
    _check_managers(found, metadata)


def _check_namespace(found: Found, namespace: str, *, namespaced: bool) -> None:
    if not namespaced:
        if namespace:
            found.append(forbidden("metadata.namespace", "not allowed on this type"))
    elif not namespace:
        found.append(make_required_error("metadata.namespace"))
    else:
        check_messages(found, "metadata.namespace", namespace, dns_label(namespace))


def _check_maps(found: Found, metadata: JSON) -> None:
    check_labels(found, "metadata.labels", metadata.get("labels"))
    check_annotations(found, "metadata.annotations", metadata.get("annotations"))
    _check_owners(found, metadata.get("ownerReferences", []))


def check_annotations(found: Found, field: str, annotations: JSON | None) -> None:
    """Keys are qualified names of any case; all together have a limit."""
    if not annotations:
        return
    for key in sorted(annotations):
        check_messages(found, field, key, label_key(key.lower()))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_BYTES:
        found.append(too_long(field, ANNOTATIONS_BYTES))


def _check_owners(found: Found, owners: list[JSON]) -> None:
    field = "metadata.ownerReferences"
    controller = ""
    for owner in owners:
        _check_owner(found, field, owner)
        if owner.get("controller"):
            name = f"{owner['kind']}/{owner['name']}"
            if controller:
                says = (
                    'Only one reference can have Controller set to true. Found "true" in'
                    f" references for {controller} and {name}"
                )
                found.append(invalid(field, [_in_order(each) for each in owners], says))
            else:
                controller = name


def _check_owner(found: Found, field: str, owner: JSON) -> None:
    version = owner["apiVersion"]
    if not version.rpartition("/")[2]:
        found.append(invalid(f"{field}.apiVersion", version, "version must not be empty"))
    for name in ("kind", "name", "uid"):
        if not owner[name]:
            found.append(invalid(f"{field}.{name}", "", "must not be empty"))
    if (version, owner["kind"]) == ("v1", "Event"):
        says = "/v1, Kind=Event is disallowed from being an owner"
        found.append(invalid(field, _in_order(owner), says))


def _in_order(owner: JSON) -> JSON:
    return {key: owner[key] for key in _OWNER_ORDER if key in owner}


def _check_finalizers(found: Found, finalizers: list[str]) -> None:
    field = "metadata.finalizers"
    for finalizer in finalizers:
        check_messages(found, field, finalizer, label_key(finalizer))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        says = "finalizer orphan and foregroundDeletion cannot be both set"
        found.append(invalid(field, finalizers, says))


def check_kube_finalizers(found: Found, metadata: JSON) -> None:
    """A finalizer without a domain is one of the server's own."""
    for index, finalizer in enumerate(metadata.get("finalizers", ())):
        check_standard_finalizer(found, f"metadata.finalizers[{index}]", finalizer)


def check_standard_finalizer(found: Found, field: str, finalizer: str) -> None:
    """See `check_kube_finalizers`."""
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        says = "name is neither a standard finalizer name nor is it fully qualified"
        found.append(invalid(field, finalizer, says))


def _check_managers(found: Found, metadata: JSON) -> None:
    for index, entry in enumerate(metadata.get("managedFields", ())):
        field = f"metadata.managedFields[{index}]"
        operation = entry.get("operation", "")
        if operation not in {"Apply", "Update"}:
            found.append(invalid(f"{field}.operation", operation, "must be `Apply` or `Update`"))
        kind = entry.get("fieldsType", "")
        if kind not in {"", "FieldsV1"}:
            found.append(invalid(f"{field}.fieldsType", kind, "must be `FieldsV1`"))


def check_metadata_update(found: Found, old: JSON, new: JSON) -> None:
    """What a kind's own validation asks of the metadata of an update."""
    check_common_update(found, old, new)
    check_kube_finalizers(found, new)


def check_common_update(found: Found, old: JSON, new: JSON) -> None:
    """What no update may do to metadata, whatever the kind."""
    if "deletionTimestamp" in old:
        _check_no_new_finalizers(found, old.get("finalizers", []), new.get("finalizers", []))
    if not new.get("resourceVersion"):
        says = "must be specified for an update"
        found.append(invalid("metadata.resourceVersion", "", says))
    generation = new.get("generation", 0)
    if generation < old.get("generation", 0):
        found.append(invalid("metadata.generation", generation, "must not be decremented"))
    for name in FIXED_FIELDS:
        if old.get(name) != new.get(name):
            empty = "" if name in {"name", "namespace", "uid"} else None
            found.append(invalid(f"metadata.{name}", new.get(name, empty), IMMUTABLE))
    _check_maps(found, new)
    _check_managers(found, new)


def _check_no_new_finalizers(found: Found, old: list[str], new: list[str]) -> None:
    extra = sorted(set(new) - set(old))
    if extra:
        listed = ", ".join(f'"{each}"' for each in extra)
        says = (
            "no new finalizers can be added if the object is being deleted, found new finalizers"
            f" []string{{{listed}}}"
        )
        found.append(forbidden("metadata.finalizers", says))
