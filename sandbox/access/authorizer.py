"""RBAC: the rules of roles, which of them reach a user, and what may be done by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox.access.identity import MASTERS, Identity
from sandbox.failure import ApiError, qualify_resource
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
    """A rule that reaches a user, and by which binding."""

    rule: JSON
    reason: str


def allows(rule: JSON, asked: Attributes) -> bool:
    """Tell whether a rule allows something."""
    if not _among(rule.get("verbs"), asked.verb):
        return False
    if asked.path:
        return any(_path_matches(path, asked.path) for path in rule.get("nonResourceURLs") or ())
    listed, names = rule.get("resources") or (), rule.get("resourceNames") or ()
    reaches = _among(listed, asked.full_resource) or (
        bool(asked.subresource) and f"*/{asked.subresource}" in listed
    )
    return (
        reaches
        and _among(rule.get("apiGroups"), asked.group)
        and (not names or asked.name in names)
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
    subject = next((each for each in binding.get("subjects") or () if _is_subject(each, who)), None)
    if subject is None:
        return
    reference, metadata = binding["roleRef"], binding["metadata"]
    kind, name = reference["kind"], reference["name"]
    role = store.get(_role_key(kind, name, namespace))
    bound = f"{metadata['name']}/{namespace}" if namespace else metadata["name"]
    binding_kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    to = f'{subject["kind"]} "{subject["name"]}"'
    reason = f'RBAC: allowed by {binding_kind} "{bound}" of {kind} "{name}" to {to}'
    for rule in (role or {}).get("rules") or ():
        yield Grant(rule, reason)


def _role_key(kind: str, name: str, namespace: str) -> Key:
    if kind == "ClusterRole":
        return Key(f"clusterroles.{RBAC}", "", name)
    return Key(f"roles.{RBAC}", namespace, name)


def _is_subject(subject: JSON, who: Identity) -> bool:
    """Tell whether a subject is the user or a group of theirs; no service account has a token."""
    if subject["kind"] == "Group":
        return subject["name"] in who.groups
    return bool(subject["kind"] == "User" and subject["name"] == who.user)


def _among(listed: Sequence[str] | None, value: str) -> bool:
    return ALL in (listed or ()) or value in (listed or ())


def _path_matches(rule: str, path: str) -> bool:
    return rule in (ALL, path) or (rule.endswith(ALL) and path.startswith(rule.rstrip(ALL)))


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether it is allowed, and by which binding."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Authorizer:
    """RBAC over the roles and bindings in the store; `system:masters` may do everything."""

    store: Store

    def decide(self, who: Identity, asked: Attributes) -> Decision:
        """Return whether somebody may do something."""
        if MASTERS in who.groups:
            return Decision(allowed=True)
        for grant in grants(self.store, who, asked.namespace):
            if allows(grant.rule, asked):
                return Decision(allowed=True, reason=grant.reason)
        return Decision(allowed=False)

    def check(self, who: Identity, asked: Attributes) -> None:
        """403 for what somebody may not do."""
        if not self.decide(who, asked).allowed:
            raise _refusal(who, asked)


def _refusal(who: Identity, asked: Attributes) -> ApiError:
    if asked.path:
        message = f'forbidden: User "{who.user}" cannot {asked.verb} path "{asked.path}"'
        return ApiError(403, "Forbidden", message, details={})
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    about = qualify_resource(asked.resource, asked.group) + (
        f' "{asked.name}"' if asked.name else ""
    )
    message = (
        f'{about} is forbidden: User "{who.user}" cannot {asked.verb} resource'
        f' "{asked.full_resource}" in API group "{asked.group}" {where}'
    )
    details = {"name": asked.name, "group": asked.group, "kind": asked.resource}
    return ApiError(
        403, "Forbidden", message, details={key: item for key, item in details.items() if item}
    )
