"""Who a request is from, what it wants to do, and the questions that are asked about that."""

from __future__ import annotations

from sandbox.access.authorizer import Authorizer
from sandbox.access.identity import Identity, Tokens, user
from sandbox.access.reviews import answer as review
from sandbox.access.rules import Attributes
from sandbox.kinds import Resource
from sandbox.serving.bodies import decoded_object
from sandbox.serving.options import check_write
from sandbox.serving.paths import Target
from sandbox.serving.rendering import answer
from sandbox.serving.request import Answer, Request

USER = "impersonate-user"
GROUPS = "impersonate-group"


def identify_caller(request: Request, tokens: Tokens, authorizer: Authorizer) -> Identity:
    """Return who asks; 401 for an unknown token, 403 where one may not speak for another."""
    who = tokens.identify(request.headers)
    name = request.headers.get(USER, "")
    if not name:
        return who
    groups = [group.strip() for group in request.headers.get(GROUPS, "").split(",")]
    groups = [group for group in groups if group]
    for resource, spoken_for in (("users", name), *(("groups", group) for group in groups)):
        asked = Attributes("impersonate", resource=resource, name=spoken_for)
        authorizer.check(who, asked)
    return user(name, *groups)


def attributes_of(target: Target) -> Attributes:
    """Return what a request wants to do, as the authorizer is asked it."""
    if not target.resource:
        return Attributes(target.verb, path=target.path)
    return Attributes(
        target.verb,
        group=target.group,
        resource=target.resource,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
    )


def answer_review(
    authorizer: Authorizer,
    identity: Identity,
    request: Request,
    resource: Resource,
    now: str,
) -> Answer:
    """Answer a review; `now` is the time on the wall."""
    check_write(request)
    body = decoded_object(request, resource.api_version, resource.kind)
    found = review(authorizer, resource.kind, body, identity, now)
    return answer(201, found)
