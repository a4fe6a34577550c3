"""The Role that grants what an attempt needs, as YAML for kubectl."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import yaml

from gate.kube.rights.access import RBAC, Permission
from gate.rbac_subject import Subject

_OF_ONE_OBJECT: Final = ("bind", "escalate")
"""Verbs that are granted on the named object alone: on all it would be every right there is."""

_OPTIONAL: Final = "# optional: a run goes on without these\n"
_DIGITS: Final = 8


def role_yaml(
    name: str,
    permissions: Iterable[Permission],
    subject: Subject,
    optional: Iterable[Permission] = (),
) -> str:
    """Return Roles of that name that grant the permissions, with bindings, as YAML for kubectl.

    Names of objects are left out, except where a right without one would be too much. The
    `optional` ones come last in their Role, below a comment that says so.
    """
    wanted, spare = set(permissions), set(optional) - set(permissions)
    documents: list[str] = []
    for namespace in sorted({permission.namespace for permission in wanted | spare}):
        rules, more = (
            _rules_of({one for one in some if one.namespace == namespace})
            for some in (wanted, spare)
        )
        documents.append(_role(name, namespace, rules, more))
        documents.append(_yaml(_binding(name, namespace, subject)))
    return "---\n".join(documents)


def additional_role_yaml(
    prefix: str,
    permissions: Collection[Permission],
    subject: Subject,
    optional: Collection[Permission] = (),
) -> str:
    """Return a Role that adds to others: `PREFIX-DIGEST` names no other set of rights.

    kubectl replaces the rules of an existing Role, and the subjects of an existing binding: under
    the same name, a second Role would take away what the first one gave.
    """
    content = role_yaml("", permissions, subject, optional)
    digest = hashlib.sha256(content.encode()).hexdigest()[:_DIGITS]
    return role_yaml(f"{prefix}-{digest}", permissions, subject, optional)


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


def _role(
    name: str,
    namespace: str,
    rules: list[dict[str, list[str]]],
    optional: list[dict[str, list[str]]],
) -> str:
    """Return the YAML of a Role; its rules come last, so that more of them can follow."""
    role = {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{_scope(namespace)}Role",
        "metadata": _metadata(name, namespace),
    }
    text = f"{_yaml(role)}rules:\n"
    text += _yaml(rules) if rules else ""
    return text + (f"{_OPTIONAL}{_yaml(optional)}" if optional else "")


def _binding(name: str, namespace: str, subject: Subject) -> Mapping[str, Any]:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{_scope(namespace)}RoleBinding",
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": RBAC, "kind": f"{_scope(namespace)}Role", "name": name},
        "subjects": [dict(subject.document(namespace))],
    }


def _scope(namespace: str) -> str:
    return "" if namespace else "Cluster"


def _metadata(name: str, namespace: str) -> dict[str, str]:
    return {"name": name} | ({"namespace": namespace} if namespace else {})


def _yaml(value: Mapping[str, Any] | list[dict[str, list[str]]]) -> str:
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=None)
