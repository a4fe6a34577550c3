"""The rows of roles and their bindings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.column import NAME, Column, Layout, age_of, columns, name_of


def _role(body: JSON, _now: datetime) -> list[Any]:
    return [name_of(body), dig(body, "metadata", "creationTimestamp")]


def _binding(body: JSON, now: datetime) -> list[Any]:
    role = f"{dig(body, 'roleRef', 'kind')}/{dig(body, 'roleRef', 'name')}"
    subjects = [_subjects(body, kind) for kind in ("User", "Group", "ServiceAccount")]
    return [name_of(body), role, age_of(body, now), *subjects]


def _subjects(body: JSON, kind: str) -> str:
    return ", ".join(_subject(each) for each in body.get("subjects") or [] if each["kind"] == kind)


def _subject(subject: JSON) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"{subject.get('namespace', '')}/{subject['name']}"
    return str(subject["name"])


_ROLE = Layout((NAME, Column("Created At", "date")), _role)
_BINDING = Layout(
    (NAME, *columns("Role", "Age", wide=("Users", "Groups", "ServiceAccounts"))), _binding
)

ROLES = {
    "roles.rbac.authorization.k8s.io": _ROLE,
    "clusterroles.rbac.authorization.k8s.io": _ROLE,
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
}
