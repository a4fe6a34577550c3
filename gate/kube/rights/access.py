"""Access reviews: which permissions an attempt may need, and which of them are missing.

One SelfSubjectRulesReview per namespace if the server's answer is complete; if an authorizer cannot
list its rules (`incomplete`, as with webhooks), single SelfSubjectAccessReviews of what the known
rules do not grant.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.rollout.policy import BlockedPods
from gate.kube.answers.failures import BadAnswer, NotFound
from gate.kube.client.client import Client
from gate.kube.kinds import registry
from gate.kube.kinds.kind import Right, WorkloadResources
from gate.kube.kinds.pod import EVENT, REMOVING
from gate.kube.kinds.resource import Resource
from gate.kube.paths.resources import (
    ACCESS_REVIEWS,
    RULES_REVIEWS,
    SELF_REVIEWS,
    Resources,
)

_ANY = "*"
RBAC: Final = "rbac.authorization.k8s.io"
_ROLES: Final = {"Role": "roles", "ClusterRole": "clusterroles"}


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """One verb on one resource; `resource` may be a subresource, as `pods/log`.

    `namespace` is "" for cluster-scoped kinds, `name` is "" unless one object alone is meant.
    """

    namespace: str
    group: str
    resource: str
    verb: str
    name: str = ""

    def __str__(self) -> str:
        """Return it in kubectl's words, as in `patch deployments.apps`."""
        return f"{self.verb} {self.resource}" + (f".{self.group}" if self.group else "")


def list_needed(
    resources: Resources,
    objects: Iterable[Ref],
    *,
    creates: Collection[Ref] | None = None,
    deletes: Collection[Ref] = (),
    removes: BlockedPods = BlockedPods.EVICT,
) -> tuple[Permission, ...]:
    """Return what an attempt with these objects may need, its rollback included.

    `creates` are those that do not exist yet, None if that is not known: a server-side apply of a
    new object needs both create and patch. `deletes` are those that a rollback may delete.
    `removes` is how pods that are in the way of a rollout are removed.
    """
    wanted: set[Permission] = set()
    for ref in objects:
        resource = resources.of(ref.api_version, ref.kind)
        namespace = ref.namespace if resource.namespaced else ""
        verbs = ["get", "patch"]
        verbs += ["create"] if creates is None or ref in creates else []
        verbs += ["delete"] if ref in deletes else []
        for verb in verbs:
            name = "" if verb == "create" else ref.name
            wanted.add(Permission(namespace, resource.group, resource.plural, verb, name))
        workload = registry.find_workload(ref)
        if workload is not None:
            wanted |= following(namespace, workload)
            wanted |= removing(namespace, removes) if workload.can_be_blocked else set()
    return tuple(sorted(wanted))


def granting(objects: Iterable[tuple[Ref, Mapping[str, Any]]]) -> Iterator[Permission]:
    """Yield what it takes to apply Roles and bindings, each with its body, whatever they grant.

    The server lets somebody write a Role only if they have all its rights or may `escalate` it, and
    a binding only if they have all rights of the Role or may `bind` it in the binding's namespace
    (rbac/v1, privilege escalation prevention).
    """
    for ref, body in objects:
        if ref.api_version.partition("/")[0] != RBAC:
            continue
        if ref.kind in _ROLES:
            yield Permission(ref.namespace, RBAC, _ROLES[ref.kind], "escalate", ref.name)
        role = body.get("roleRef") or {}
        if role.get("kind") in _ROLES:
            name = str(role.get("name") or "")
            yield Permission(ref.namespace, RBAC, _ROLES[role["kind"]], "bind", name)


def one_change(resources: Resources, ref: Ref) -> tuple[Permission, ...]:
    """Return what it takes to change an object that exists, without following it."""
    resource = resources.of(ref.api_version, ref.kind)
    namespace = ref.namespace if resource.namespaced else ""
    return tuple(
        Permission(namespace, resource.group, resource.plural, verb, ref.name)
        for verb in ("get", "patch")
    )


def following(namespace: str, workload: WorkloadResources) -> set[Permission]:
    """Return what following and judging rollouts of a kind takes, without a write."""
    watched = [one.resource for one in (workload.watched, *workload.children, EVENT)]
    rights = (
        Right(workload.watched.resource, ("get",)),
        *(Right(resource, ("list", "watch")) for resource in watched),
        *workload.rights,
    )
    return {
        Permission(namespace, right.resource.group, right.plural, verb)
        for right in rights
        for verb in right.verbs
    }


def removing(namespace: str, how: BlockedPods) -> set[Permission]:
    """Return what it takes to remove a pod that is in the way of its controller."""
    return {
        Permission(namespace, right.resource.group, right.plural, verb)
        for right in REMOVING[how]
        for verb in right.verbs
    }


def looking_around(kinds: Iterable[WorkloadResources]) -> Iterator[Permission]:
    """Yield what judging workloads of some kinds would use where it is granted, in no namespace."""
    for watched in dict.fromkeys(one for kind in kinds for one in kind.surroundings):
        for verb in ("list", "watch"):
            yield Permission("", watched.resource.group, watched.resource.plural, verb)


class Access:
    """Asks the server what it would allow us. Raises ApiError if it does not say."""

    def __init__(self, client: Client) -> None:
        """Share the client's connections."""
        self._client = client

    def missing(self, needs: Iterable[Permission]) -> tuple[Permission, ...]:
        """Return all that is not allowed, sorted."""
        wanted = sorted(set(needs))
        unmet: list[Permission] = []
        for namespace in sorted({need.namespace for need in wanted}):
            here = [need for need in wanted if need.namespace == namespace]
            unmet += self._missing_in(namespace, here)
        return tuple(unmet)

    def username(self) -> str:
        """Return the name that the server knows us by, "" if it does not tell (before 1.28)."""
        try:
            status = self._review(SELF_REVIEWS, {})
        except NotFound:
            return ""
        return str((status.get("userInfo") or {}).get("username") or "")

    def _missing_in(self, namespace: str, needs: list[Permission]) -> list[Permission]:
        # The rules of a namespace say nothing about cluster-scoped kinds.
        complete, rules = self._rules(namespace) if namespace else (False, [])
        unmet = [need for need in needs if not any(_grants(rule, need) for rule in rules)]
        return unmet if complete else [need for need in unmet if not self._is_allowed(need)]

    def _rules(self, namespace: str) -> tuple[bool, list[Mapping[str, Any]]]:
        status = self._review(RULES_REVIEWS, {"namespace": namespace})
        return not status.get("incomplete"), list(status.get("resourceRules") or [])

    def _is_allowed(self, need: Permission) -> bool:
        resource, _, subresource = need.resource.partition("/")
        attributes = {
            "namespace": need.namespace,
            "verb": need.verb,
            "group": need.group,
            "resource": resource,
            "subresource": subresource,
            "name": need.name,
        }
        return bool(self._review(ACCESS_REVIEWS, {"resourceAttributes": attributes})["allowed"])

    def _review(self, resource: Resource, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        review = {"apiVersion": resource.api_version, "kind": resource.kind, "spec": spec}
        try:
            status: Mapping[str, Any] = json.loads(self._client.review(resource.path(), review))[
                "status"
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise BadAnswer(f"the answer to a {resource.kind} cannot be read") from error
        return status


def _grants(rule: Mapping[str, Any], need: Permission) -> bool:
    """Tell whether a rule grants it, as the RBAC authorizer would (rbac/v1, PolicyRule)."""
    subresource = need.resource.partition("/")[2]
    names = rule.get("resourceNames") or []
    return (
        not {need.verb, _ANY}.isdisjoint(rule.get("verbs") or [])
        and not {need.group, _ANY}.isdisjoint(rule.get("apiGroups") or [])
        and not {need.resource, _ANY, f"*/{subresource}"}.isdisjoint(rule.get("resources") or [])
        and (not names or need.name in names)
    )
