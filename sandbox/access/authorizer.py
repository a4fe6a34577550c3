"""May somebody do something: the decision, its reason, and the refusal in the server's words."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.access.identity import MASTERS, Identity
from sandbox.access.rules import Attributes, allows, grants
from sandbox.failure import ApiError, qualify_resource
from sandbox.storage.store import Store


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
