"""The rules of roles: what one of them allows, and which ones reach a user."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.access.identity import SERVICE_ACCOUNT_USER, Identity
from sandbox.json import JSON
from sandbox.storage.store import Key, Store

RBAC = "rbac.authorization.k8s.io"
ALL = "*"


@dataclass(frozen=True, slots=True)
class Attributes:
    """What somebody wants to do: with a resource, or (`path`) with none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        """The resource as rules name it: `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Grant:
    """A rule that reaches a user, or the missing role of a binding that would (`missing`)."""

    rule: JSON
    reason: str = ""
    missing: str = ""


def allows(rule: JSON, asked: Attributes) -> bool:
    """Tell whether a rule allows something."""
    if not _among(rule.get("verbs"), asked.verb):
        return False
    if asked.path:
        return any(_path_matches(path, asked.path) for path in rule.get("nonResourceURLs") or ())
    return (
        _among(rule.get("apiGroups"), asked.group)
        and _resource_matches(rule.get("resources") or (), asked)
        and _name_matches(rule.get("resourceNames") or (), asked.name)
    )


def grants(store: Store, who: Identity, namespace: str) -> Iterator[Grant]:
    """Yield every rule that reaches a user: those of the whole cluster, then the namespace's."""
    for binding in store.items(f"clusterrolebindings.{RBAC}"):
        yield from _iter_grants_of_binding(store, binding, who, "")
    if namespace:
        for binding in store.items(f"rolebindings.{RBAC}", namespace):
            yield from _iter_grants_of_binding(store, binding, who, namespace)


def _iter_grants_of_binding(
    store: Store, binding: JSON, who: Identity, namespace: str
) -> Iterator[Grant]:
    subject = _reaching(binding, who, namespace)
    if subject is None:
        return
    reference, metadata = binding["roleRef"], binding["metadata"]
    kind, name = reference["kind"], reference["name"]
    role = store.get(_role_key(kind, name, namespace))
    if role is None:
        missing = f'RBAC: {kind.lower()}.{RBAC} "{name}" not found'
        yield Grant({}, missing=missing)
        return
    bound = f"{metadata['name']}/{namespace}" if namespace else metadata["name"]
    binding_kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    to = _describe_subject(subject)
    reason = f'RBAC: allowed by {binding_kind} "{bound}" of {kind} "{name}" to {to}'
    for rule in role.get("rules") or ():
        yield Grant(rule, reason)


def _role_key(kind: str, name: str, namespace: str) -> Key:
    if kind == "ClusterRole":
        return Key(f"clusterroles.{RBAC}", "", name)
    return Key(f"roles.{RBAC}", namespace, name)


def _reaching(binding: JSON, who: Identity, namespace: str) -> JSON | None:
    for subject in binding.get("subjects") or ():
        found: JSON = subject
        if _is_subject(found, who, namespace):
            return found
    return None


def _is_subject(subject: JSON, who: Identity, namespace: str) -> bool:
    match subject["kind"]:
        case "User":
            return bool(subject["name"] == who.user)
        case "Group":
            return subject["name"] in who.groups
        case "ServiceAccount":
            home = subject.get("namespace") or namespace
            return who.user == f"{SERVICE_ACCOUNT_USER}{home}:{subject['name']}"
    return False


def _describe_subject(subject: JSON) -> str:
    name = subject["name"]
    if subject.get("namespace"):
        name = f"{name}/{subject['namespace']}"
    return f'{subject["kind"]} "{name}"'


def _among(listed: list[str] | None, value: str) -> bool:
    return bool(listed) and (ALL in (listed or ()) or value in (listed or ()))


def _resource_matches(listed: list[str] | tuple[str, ...], asked: Attributes) -> bool:
    if ALL in listed or asked.full_resource in listed:
        return True
    return bool(asked.subresource) and f"*/{asked.subresource}" in listed


def _name_matches(listed: list[str] | tuple[str, ...], name: str) -> bool:
    return not listed or name in listed


def _path_matches(rule: str, path: str) -> bool:
    return rule in (ALL, path) or (rule.endswith(ALL) and path.startswith(rule.rstrip(ALL)))
