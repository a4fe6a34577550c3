"""Reviews: questions about access that are answered, not kept.

`answer` takes the body of a POST to `authorization.k8s.io/v1` or
`authentication.k8s.io/v1` and returns it with its status.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.access.authorizer import MASTERS, Authorizer, Identity, Target, grants
from sandbox.failure import bad_request
from sandbox.json import JSON, dig

AUTHORIZATION = "authorization.k8s.io/v1"
AUTHENTICATION = "authentication.k8s.io/v1"
_RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH_FIELDS = ("verbs", "nonResourceURLs")
_EVERYTHING: JSON = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH: JSON = {"verbs": ["*"], "nonResourceURLs": ["*"]}


@dataclass(frozen=True, slots=True)
class Review:
    """A kind of review."""

    api_version: str
    kind: str
    plural: str


REVIEWS = (
    Review(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
    Review(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
    Review(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews"),
)
"""Every review that is answered."""


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
    decision = authorizer.decide(who, _attributes(spec))
    reason = {"reason": decision.reason} if decision.reason else {}
    return {
        "kind": kind,
        "apiVersion": AUTHORIZATION,
        "metadata": dict(body.get("metadata") or {}),
        "spec": spec,
        "status": {"allowed": decision.allowed, **reason},
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
