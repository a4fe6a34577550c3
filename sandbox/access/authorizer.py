"""May somebody do something: the decision, its reason, and the refusal in the server's words."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.access.identity import MASTERS, Identity
from sandbox.access.rules import Attributes, allows, grants
from sandbox.failure import ApiError, qualify_resource
from sandbox.storage.store import Store


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether it is allowed, and why; a refusal has a reason where a role was missing."""

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
        missing = []
        for grant in grants(self.store, who, asked.namespace):
            if grant.missing:
                missing.append(grant.missing)
            elif allows(grant.rule, asked):
                return Decision(allowed=True, reason=grant.reason)
        return Decision(allowed=False, reason=_join_errors(missing))

    def check(self, who: Identity, asked: Attributes) -> None:
        """403 for what somebody may not do."""
        decision = self.decide(who, asked)
        if not decision.allowed:
            raise _refusal(who, asked, decision.reason)


def _join_errors(missing: list[str]) -> str:
    """Return the errors of missing roles as the server joins them."""
    if len(missing) < 2:  # noqa: PLR2004 - one stands alone
        return "".join(missing)
    bare = [text.removeprefix("RBAC: ") for text in dict.fromkeys(missing)]
    return f"RBAC: [{', '.join(bare)}]" if len(bare) > 1 else f"RBAC: {bare[0]}"


def _refusal(who: Identity, asked: Attributes, reason: str) -> ApiError:
    told = f": {reason}" if reason else ""
    if asked.path:
        message = f'forbidden: User "{who.user}" cannot {asked.verb} path "{asked.path}"{told}'
        return ApiError(403, "Forbidden", message, details={})
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    about = qualify_resource(asked.resource, asked.group) + (
        f' "{asked.name}"' if asked.name else ""
    )
    message = (
        f'{about} is forbidden: User "{who.user}" cannot {asked.verb} resource'
        f' "{asked.full_resource}" in API group "{asked.group}" {where}{told}'
    )
    details = {"name": asked.name, "group": asked.group, "kind": asked.resource}
    return ApiError(
        403, "Forbidden", message, details={key: item for key, item in details.items() if item}
    )
