"""Reviews: questions about access that are answered, not kept.

`answer` takes the body of a POST to `authorization.k8s.io/v1` or
`authentication.k8s.io/v1` and returns it with its status.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.access.authorizer import Authorizer, Decision
from sandbox.access.identity import MASTERS, Identity
from sandbox.access.rules import Attributes, grants
from sandbox.failure import ApiError, FieldError, bad_request, invalid
from sandbox.json import JSON, dig
from sandbox.schema.spelling import json_type

AUTHORIZATION = "authorization.k8s.io/v1"
AUTHENTICATION = "authentication.k8s.io/v1"
_ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_RULE_FIELDS = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH_FIELDS = ("verbs", "nonResourceURLs")
_ATTRIBUTES = {
    "resourceAttributes": "v1.ResourceAttributes",
    "nonResourceAttributes": "v1.NonResourceAttributes",
}
_SELECTORS = ("fieldSelector", "labelSelector")
_TEXTS = ("namespace", "uid", "user")
_EVERYTHING: JSON = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH: JSON = {"verbs": ["*"], "nonResourceURLs": ["*"]}


@dataclass(frozen=True, slots=True)
class Review:
    """A kind of review; `namespaced` ones stand below a namespace."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = False


REVIEWS = (
    Review(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
    Review(AUTHORIZATION, "SubjectAccessReview", "subjectaccessreviews"),
    Review(AUTHORIZATION, "LocalSubjectAccessReview", "localsubjectaccessreviews", namespaced=True),
    Review(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
    Review(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews"),
)
"""Every review that is answered."""


def answer(
    authorizer: Authorizer, kind: str, body: JSON, who: Identity, *, namespace: str = "", now: str
) -> JSON:
    """Return a review with its status; 400 and 422 where the question is none.

    `who` asks, `namespace` is that of the request, `now` the time on the wall.
    """
    _check_types(kind, body)
    match kind:
        case "SelfSubjectAccessReview":
            return _access(authorizer, kind, body, who)
        case "SubjectAccessReview":
            return _access(authorizer, kind, body, _subject(body))
        case "LocalSubjectAccessReview":
            _check_namespace(body, namespace)
            found = _access(authorizer, kind, body, _subject(body))
            return {**found, "metadata": {**found["metadata"], "namespace": namespace}}
        case "SelfSubjectRulesReview":
            return _rules(authorizer, body, who)
        case _:
            return _whoami(who, now)


def _check_types(kind: str, body: JSON) -> None:
    """400 for a part of the question that has the wrong type."""
    holder = f"{kind.removeprefix('Local')}Spec"
    spec = _read_typed(kind, kind, "spec", body.get("spec"), dict, f"v1.{holder}")
    for name, told in _ATTRIBUTES.items():
        asked = _read_typed(kind, holder, f"spec.{name}", spec.get(name), dict, told)
        for field, value in asked.items():
            if field not in _SELECTORS:
                _read_typed(
                    kind, told.removeprefix("v1."), f"spec.{name}.{field}", value, str, "string"
                )
    for name in _TEXTS:
        _read_typed(kind, holder, f"spec.{name}", spec.get(name), str, "string")
    for group in _read_typed(kind, holder, "spec.groups", spec.get("groups"), list, "[]string"):
        _read_typed(kind, holder, "spec.groups", group, str, "string")


def _read_typed(kind: str, holder: str, path: str, value: Any, wanted: type, told: str) -> Any:
    """Return a value, an empty one for null; 400 where it is not of its type, which is `told`."""
    if value is not None and not isinstance(value, wanted):
        why = f"json: cannot unmarshal {json_type(value)} into Go struct field {holder}.{path}"
        raise bad_request(
            f'{kind} in version "v1" cannot be handled as a {kind}: {why} of type {told}'
        )
    return wanted() if value is None else value


def _access(authorizer: Authorizer, kind: str, body: JSON, who: Identity) -> JSON:
    spec = body.get("spec") or {}
    decision = authorizer.decide(who, _attributes(spec))
    return {
        "kind": kind,
        "apiVersion": AUTHORIZATION,
        "metadata": dict(body.get("metadata") or {}),
        "spec": spec,
        "status": _status(decision),
    }


def _status(decision: Decision) -> JSON:
    reason = {"reason": decision.reason} if decision.reason else {}
    return {"allowed": decision.allowed, **reason}


def _attributes(spec: JSON) -> Attributes:
    resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and other is not None:
        shown = f'{{"Path":"{other.get("path", "")}","Verb":"{other.get("verb", "")}"}}'
        why = f"Invalid value: {shown}: cannot be specified in combination with resourceAttributes"
        raise _invalid("spec.nonResourceAttributes", why)
    if resource is None and other is None:
        raise _invalid("spec.resourceAttributes", f"Invalid value: null: {_ONE_OF}")
    if other is not None:
        return Attributes(other.get("verb", ""), path=other.get("path", ""))
    found: Any = resource
    return Attributes(
        found.get("verb", ""),
        group=found.get("group", ""),
        resource=found.get("resource", ""),
        subresource=found.get("subresource", ""),
        namespace=found.get("namespace", ""),
        name=found.get("name", ""),
    )


def _subject(body: JSON) -> Identity:
    user, groups = dig(body, "spec", "user") or "", dig(body, "spec", "groups") or []
    if not user and not groups:
        why = 'Invalid value: "": at least one of user or group must be specified'
        raise _invalid("spec.user", why)
    return Identity(user, tuple(groups), dig(body, "spec", "uid") or "")


def _check_namespace(body: JSON, namespace: str) -> None:
    found = dig(body, "spec", "resourceAttributes", "namespace") or ""
    if found != namespace:
        why = f'Invalid value: "{found}": must match metadata.namespace'
        raise _invalid("spec.resourceAttributes.namespace", why)


def _rules(authorizer: Authorizer, body: JSON, who: Identity) -> JSON:
    namespace = dig(body, "spec", "namespace")
    if not namespace:
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


def _invalid(field: str, why: str) -> ApiError:
    """422 as the server words it: without a kind and a name."""
    refusal = invalid("", "authorization.k8s.io", "", [FieldError(field, "FieldValueInvalid", why)])
    refusal.details = {
        name: item for name, item in refusal.details.items() if name not in ("name", "kind")
    }
    return refusal
