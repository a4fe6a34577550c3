"""The Role that grants what an attempt needs, as YAML for kubectl."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from gate.kube.access import RBAC, Permission
from gate.rbac_subject import Subject

_OF_ONE_OBJECT: Final = ("bind", "escalate")
"""What is granted on the named object alone: on all it would be every right there is."""


def role_yaml(name: str, permissions: Iterable[Permission], subject: Subject) -> str:
    """Return Roles of that name that grant the permissions, with bindings, as YAML for kubectl.

    Names of objects are left out but where a right without one would be too much.
    """
    wanted = set(permissions)
    documents: list[Mapping[str, Any]] = []
    for namespace in sorted({permission.namespace for permission in wanted}):
        here = {permission for permission in wanted if permission.namespace == namespace}
        documents += _role_and_binding(name, namespace, _rules_of(here), subject)
    return yaml.safe_dump_all(documents, sort_keys=False, default_flow_style=None)


def _rules_of(permissions: set[Permission]) -> list[dict[str, list[str]]]:
    """Group by verbs, so that the Role is as short as one written by hand."""
    verbs: dict[tuple[str, str, str], set[str]] = {}
    for one in permissions:
        name = one.name if one.verb in _OF_ONE_OBJECT else ""
        verbs.setdefault((one.group, one.resource, name), set()).add(one.verb)
    rules: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for (group, resource, name), granted in sorted(verbs.items()):
        rules.setdefault((group, tuple(sorted(granted)), name), []).append(resource)
    return [
        {"apiGroups": [group], "resources": plural}
        | ({"resourceNames": [name]} if name else {})
        | {"verbs": list(granted)}
        for (group, granted, name), plural in rules.items()
    ]


def _role_and_binding(
    name: str, namespace: str, rules: list[dict[str, list[str]]], subject: Subject
) -> list[Mapping[str, Any]]:
    prefix = "" if namespace else "Cluster"
    version = f"{RBAC}/v1"
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    role = {"apiVersion": version, "kind": f"{prefix}Role", "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": version,
        "kind": f"{prefix}RoleBinding",
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": RBAC, "kind": f"{prefix}Role", "name": name},
        "subjects": [dict(subject.document(namespace))],
    }
    return [role, binding]
