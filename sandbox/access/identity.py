"""Who asks: the user behind a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.failure import ApiError
from sandbox.json import JSON

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
