"""Namespaces, nodes, service accounts, claims and events."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.quantity import parse_quantity
from sandbox.objects.validation.errors import (
    NOT_POSITIVE,
    Found,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import (
    check_metadata,
    check_metadata_update,
    check_standard_finalizer,
)
from sandbox.objects.validation.names import dns_label, dns_subdomain, label_key
from sandbox.objects.validation.pod.resources import check_amount
from sandbox.objects.validation.selectors import check_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def check_namespace(found: Found, namespace: JSON) -> None:
    """A Namespace, new or updated."""
    check_metadata(found, namespace["metadata"], dns_label, namespaced=False)
    for finalizer in namespace["spec"].get("finalizers", ()):
        check_messages(found, "spec.finalizers", finalizer, label_key(finalizer))
        check_standard_finalizer(found, "spec.finalizers", finalizer)


def check_namespace_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a Namespace but its metadata's fixed fields may change."""
    check_namespace(found, new)
    check_metadata_update(found, old["metadata"], new["metadata"])


def check_named(found: Found, body: JSON) -> None:
    """A ServiceAccount: nothing but its metadata."""
    check_metadata(found, body["metadata"], dns_subdomain)


def check_named_update(found: Found, old: JSON, new: JSON) -> None:
    """An update of a ServiceAccount."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    check_named(found, new)


def check_node(found: Found, node: JSON) -> None:
    """A new Node: its metadata and what it can hold."""
    check_metadata(found, node["metadata"], dns_subdomain, namespaced=False)
    for side in ("capacity", "allocatable"):
        for name, amount in sorted(node["status"].get(side, {}).items()):
            check_amount(found, f"status.{side}.{name}", name, amount)


def check_node_update(found: Found, old: JSON, new: JSON) -> None:
    """An update of a Node."""
    check_metadata_update(found, old["metadata"], new["metadata"])


def check_claim(found: Found, claim: JSON) -> None:
    """A new PersistentVolumeClaim."""
    check_metadata(found, claim["metadata"], dns_subdomain)
    spec = claim["spec"]
    modes = spec.get("accessModes", [])
    if not modes:
        found.append(make_required_error("spec.accessModes", "at least 1 access mode is required"))
    check_selector(found, "spec.selector", spec.get("selector"))
    for mode in modes:
        if mode not in ACCESS_MODES:
            found.append(not_supported("spec.accessModes", mode, ACCESS_MODES))
    if "ReadWriteOncePod" in modes and len(set(modes)) > 1:
        says = "may not use ReadWriteOncePod with other access modes"
        found.append(forbidden("spec.accessModes", says))
    storage = spec["resources"].get("requests", {}).get("storage")
    if storage is None:
        found.append(make_required_error("spec.resources[storage]"))
    elif parse_quantity(storage).nanos <= 0:
        found.append(invalid("spec.resources[storage]", storage, NOT_POSITIVE))
    if name := spec.get("storageClassName"):
        check_messages(found, "spec.storageClassName", name, dns_subdomain(name))
    if spec["volumeMode"] not in VOLUME_MODES:
        found.append(not_supported("spec.volumeMode", spec["volumeMode"], VOLUME_MODES))


def check_claim_update(found: Found, old: JSON, new: JSON) -> None:
    """An update of a claim: its format alone, nothing here binds it."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    check_claim(found, new)


def check_event(found: Found, event: JSON) -> None:
    """An Event: of the namespace of what it is about; a new-style one says who reports."""
    namespace = event["metadata"].get("namespace", "")
    about = event["involvedObject"].get("namespace", "")
    new_style = event.get("eventTime") is not None
    compatible = ("default", "kube-system") if new_style else ("default",)
    if (about and not new_style and about != namespace) or (
        not about and namespace not in compatible
    ):
        says = "does not match event.namespace"
        found.append(invalid("involvedObject.namespace", about, says))
    if new_style:
        _check_reporter(found, event)
    check_messages(found, "namespace", namespace, dns_subdomain(namespace))


def _check_reporter(found: Found, event: JSON) -> None:
    controller = event["reportingComponent"]
    if not controller:
        found.append(make_required_error("reportingComponent"))
    check_messages(found, "reportingComponent", controller, label_key(controller))
    for name in ("reportingInstance", "action", "reason"):
        if not event.get(name):
            found.append(make_required_error(name))


def check_event_update(found: Found, old: JSON, new: JSON) -> None:
    """An update of an Event."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    check_event(found, new)
