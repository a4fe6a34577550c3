"""Who asks, and what they may: tokens, and RBAC over the roles that reach a user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.failure import ApiError, bad_request, qualify_resource
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.storage.store import Key, Store

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user with groups, as the server knows them."""

    user: str
    groups: tuple[str, ...] = ()
    uid: str = ""

    def info(self) -> JSON:
        """Return the userInfo of a review."""
        found: JSON = {"username": self.user}
        if self.uid:
            found["uid"] = self.uid
        if self.groups:
            found["groups"] = list(self.groups)
        return found


ADMIN = Identity("admin", (MASTERS, AUTHENTICATED), "admin")
ANONYMOUS = Identity("system:anonymous", (UNAUTHENTICATED,))


def user(name: str, *groups: str) -> Identity:
    """Return an authenticated user's identity."""
    return Identity(name, (*groups, AUTHENTICATED))


@dataclass(slots=True)
class Tokens:
    """The bearer tokens that the cluster accepts; they may be added and revoked at any time."""

    by_token: dict[str, Identity] = field(default_factory=dict, repr=False)

    def add(self, token: str, identity: Identity) -> None:
        """Accept a token."""
        self.by_token[token] = identity

    def revoke(self, token: str) -> None:
        """Accept a token no more."""
        self.by_token.pop(token, None)

    def identify(self, headers: Mapping[str, str]) -> Identity:
        """Return who sends a request with these (lower-case) headers; 401 for unknown tokens."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if not scheme:
            return ANONYMOUS
        found = self.by_token.get(token.strip()) if scheme.lower() == "bearer" else None
        if found is None:
            raise ApiError(401, "Unauthorized", "Unauthorized")
        return found


RBAC = "rbac.authorization.k8s.io"
ALL = "*"


@dataclass(frozen=True, slots=True)
class Target:
    """A request as the authorizer sees it; `resource` is empty for a path of its own."""

    verb: str
    path: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def full_resource(self) -> str:
        """The resource with its subresource, as RBAC rules name it."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@dataclass(frozen=True, slots=True)
class Grant:
    """A rule that reaches a user, and by which binding."""

    rule: JSON
    reason: str


def allows(rule: JSON, asked: Target) -> bool:
    """Tell whether a rule allows something."""
    if not _among(rule.get("verbs"), asked.verb):
        return False
    if not asked.resource:
        return any(
            path in (ALL, asked.path)
            or (path.endswith(ALL) and asked.path.startswith(path.rstrip(ALL)))
            for path in rule.get("nonResourceURLs") or ()
        )
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
    at = ("clusterroles", "") if kind == "ClusterRole" else ("roles", namespace)
    role = store.get(Key(f"{at[0]}.{RBAC}", at[1], name))
    bound = f"{metadata['name']}/{namespace}" if namespace else metadata["name"]
    binding_kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    to = f'{subject["kind"]} "{subject["name"]}"'
    reason = f'RBAC: allowed by {binding_kind} "{bound}" of {kind} "{name}" to {to}'
    for rule in (role or {}).get("rules") or ():
        yield Grant(rule, reason)


def _is_subject(subject: JSON, who: Identity) -> bool:
    """Tell whether a subject is the user or a group of theirs; no service account has a token."""
    if subject["kind"] == "Group":
        return subject["name"] in who.groups
    return bool(subject["kind"] == "User" and subject["name"] == who.user)


def _among(listed: Sequence[str] | None, value: str) -> bool:
    return ALL in (listed or ()) or value in (listed or ())


@dataclass(frozen=True, slots=True)
class Authorizer:
    """RBAC over the roles and bindings in the store; `system:masters` may do everything."""

    store: Store

    def find_reason(self, who: Identity, asked: Target) -> str | None:
        """Return by which binding somebody may do something, None where they may not."""
        if MASTERS in who.groups:
            return ""
        found = grants(self.store, who, asked.namespace)
        return next((grant.reason for grant in found if allows(grant.rule, asked)), None)

    def check(self, who: Identity, asked: Target) -> None:
        """403 for what somebody may not do."""
        if self.find_reason(who, asked) is None:
            raise _refusal(who, asked)


def _refusal(who: Identity, asked: Target) -> ApiError:
    if not asked.resource:
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


AUTHORIZATION = "authorization.k8s.io/v1"
AUTHENTICATION = "authentication.k8s.io/v1"
_RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH_FIELDS = ("verbs", "nonResourceURLs")
_EVERYTHING: JSON = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH: JSON = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def _review(api_version: str, kind: str) -> Resource:
    group, _, version = api_version.partition("/")
    plural = f"{kind.lower()}s"
    return Resource(group, version, plural, kind, namespaced=False, verbs=("create",))


REVIEWS = (
    _review(AUTHORIZATION, "SelfSubjectAccessReview"),
    _review(AUTHORIZATION, "SelfSubjectRulesReview"),
    _review(AUTHENTICATION, "SelfSubjectReview"),
)
"""Kinds that are answered and not kept."""


def answer(authorizer: Authorizer, kind: str, body: JSON, who: Identity, now: str) -> JSON:
    """Return a review with its status; 400 where the question is none.

    `who` asks, `now` is the time on the wall.
    """
    match kind:
        case "SelfSubjectAccessReview":
            return _access(authorizer, kind, body, who)
        case "SelfSubjectRulesReview":
            return _rules(authorizer, body, who)
        case _:
            return _whoami(who, now)


def _access(authorizer: Authorizer, kind: str, body: JSON, who: Identity) -> JSON:
    spec = body.get("spec")
    if not isinstance(spec, dict):
        raise bad_request("a review has a spec")
    reason = authorizer.find_reason(who, _attributes(spec))
    return {
        "kind": kind,
        "apiVersion": AUTHORIZATION,
        "metadata": dict(body.get("metadata") or {}),
        "spec": spec,
        "status": {"allowed": reason is not None, **({"reason": reason} if reason else {})},
    }


def _attributes(spec: JSON) -> Target:
    asked = spec.get("resourceAttributes")
    if not isinstance(asked, dict) or not all(isinstance(each, str) for each in asked.values()):
        raise bad_request("the sandbox answers reviews of resourceAttributes, each of them a text")
    return Target(
        asked.get("verb", ""),
        "",
        group=asked.get("group", ""),
        resource=asked.get("resource", ""),
        subresource=asked.get("subresource", ""),
        namespace=asked.get("namespace", ""),
        name=asked.get("name", ""),
    )


def _rules(authorizer: Authorizer, body: JSON, who: Identity) -> JSON:
    namespace = dig(body, "spec", "namespace")
    if not namespace or not isinstance(namespace, str):
        raise bad_request("no namespace on request")
    rules = [grant.rule for grant in grants(authorizer.store, who, namespace) if grant.rule]
    if MASTERS in who.groups:
        rules += [rule for rule in (_EVERYTHING, _EVERY_PATH) if rule not in rules]
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": AUTHORIZATION,
        "metadata": {},
        "spec": {},
        "status": {
            "resourceRules": [_part(rule, _RULE_FIELDS) for rule in rules if rule.get("resources")],
            "nonResourceRules": [
                _part(rule, _PATH_FIELDS) for rule in rules if rule.get("nonResourceURLs")
            ],
            "incomplete": False,
        },
    }


def _part(rule: JSON, fields: tuple[str, ...]) -> JSON:
    return {name: rule[name] for name in fields if rule.get(name)}


def _whoami(who: Identity, now: str) -> JSON:
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": AUTHENTICATION,
        "metadata": {"creationTimestamp": now},
        "status": {"userInfo": who.info()},
    }
