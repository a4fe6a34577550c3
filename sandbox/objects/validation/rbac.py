"""Roles and bindings (`pkg/apis/rbac/validation`)."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import dns_subdomain, path_segment

GROUP = "rbac.authorization.k8s.io"
SUBJECT_KINDS = ("ServiceAccount", "User", "Group")


def check_role(found: Found, role: JSON) -> None:
    """A Role: its rules are about resources."""
    _check_role(found, role, namespaced=True)


def check_cluster_role(found: Found, role: JSON) -> None:
    """A ClusterRole: its rules may be about paths."""
    _check_role(found, role, namespaced=False)


def _check_role(found: Found, role: JSON, *, namespaced: bool) -> None:
    check_metadata(found, role["metadata"], path_segment, namespaced=namespaced)
    for index, rule in enumerate(role["rules"] or ()):
        _check_rule(found, f"rules[{index}]", rule, namespaced=namespaced)


def _check_rule(found: Found, field: str, rule: JSON, *, namespaced: bool) -> None:
    if not rule["verbs"]:
        found.append(make_required_error(f"{field}.verbs", "verbs must contain at least one value"))
    if paths := rule.get("nonResourceURLs"):
        at = f"{field}.nonResourceURLs"
        if namespaced:
            says = "namespaced rules cannot apply to non-resource URLs"
            found.append(invalid(at, paths, says))
        if any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            says = "rules cannot apply to both regular resources and non-resource URLs"
            found.append(invalid(at, paths, says))
        return
    if not rule.get("apiGroups"):
        says = "resource rules must supply at least one api group"
        found.append(make_required_error(f"{field}.apiGroups", says))
    if not rule.get("resources"):
        says = "resource rules must supply at least one resource"
        found.append(make_required_error(f"{field}.resources", says))


def check_role_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a Role may change."""
    check_role(found, new)
    check_metadata_update(found, old["metadata"], new["metadata"])


def check_cluster_role_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a ClusterRole may change."""
    check_cluster_role(found, new)
    check_metadata_update(found, old["metadata"], new["metadata"])


def check_binding(found: Found, binding: JSON) -> None:
    """A RoleBinding."""
    _check_binding(found, binding, ("Role", "ClusterRole"), namespaced=True)


def check_cluster_binding(found: Found, binding: JSON) -> None:
    """A ClusterRoleBinding."""
    _check_binding(found, binding, ("ClusterRole",), namespaced=False)


def _check_binding(
    found: Found, binding: JSON, kinds: tuple[str, ...], *, namespaced: bool
) -> None:
    check_metadata(found, binding["metadata"], path_segment, namespaced=namespaced)
    role = binding["roleRef"]
    if role["apiGroup"] != GROUP:
        found.append(not_supported("roleRef.apiGroup", role["apiGroup"], [GROUP]))
    if role["kind"] not in kinds:
        found.append(not_supported("roleRef.kind", role["kind"], kinds))
    if role["name"]:
        check_messages(found, "roleRef.name", role["name"], path_segment(role["name"]))
    else:
        found.append(make_required_error("roleRef.name"))
    for index, subject in enumerate(binding.get("subjects", ())):
        _check_subject(found, f"subjects[{index}]", subject, namespaced=namespaced)


def _check_subject(found: Found, field: str, subject: JSON, *, namespaced: bool) -> None:
    kind, name, group = subject["kind"], subject["name"], subject.get("apiGroup", "")
    if not name:
        found.append(make_required_error(f"{field}.name"))
    if kind == "ServiceAccount":
        if name:
            check_messages(found, f"{field}.name", name, dns_subdomain(name))
        if group:
            found.append(not_supported(f"{field}.apiGroup", group, [""]))
        if not namespaced and not subject.get("namespace"):
            found.append(make_required_error(f"{field}.namespace"))
    elif kind not in SUBJECT_KINDS:
        found.append(not_supported(f"{field}.kind", kind, SUBJECT_KINDS))
    elif group != GROUP:
        found.append(not_supported(f"{field}.apiGroup", group, [GROUP]))


def check_binding_update(found: Found, old: JSON, new: JSON) -> None:
    """A RoleBinding keeps its role."""
    check_binding(found, new)
    _check_same_role(found, old, new)


def check_cluster_binding_update(found: Found, old: JSON, new: JSON) -> None:
    """A ClusterRoleBinding keeps its role."""
    check_cluster_binding(found, new)
    _check_same_role(found, old, new)


def _check_same_role(found: Found, old: JSON, new: JSON) -> None:
    check_metadata_update(found, old["metadata"], new["metadata"])
    role = new["roleRef"]
    if old["roleRef"] != role:
        told = {"APIGroup": role["apiGroup"], "Kind": role["kind"], "Name": role["name"]}
        found.append(invalid("roleRef", told, "cannot change roleRef"))
