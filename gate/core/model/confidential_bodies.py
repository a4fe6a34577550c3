"""Applied bodies that no Lease may hold: those of Secrets, and of pods with environment values.

With `--keep-verified-secrets` they are kept in a Secret beside the lock, each under the digest
by which the lock's history knows it.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.body import Body

_DIGITS: Final = 32
"""Hexadecimal digits kept of a SHA-256: 128 bits tell versions of one object apart."""


def body_digest(kind: str, uid: str, body: Body) -> str:
    """Return what identifies an applied body; that of a Secret is keyed with the object's uid.

    The uid is known only to those who may read the Secret: whoever can read only the digest cannot
    try out values.
    """
    if kind == "Secret":
        return hmac.new(uid.encode(), body.canonical, hashlib.sha256).hexdigest()[:_DIGITS]
    return body.digest[:_DIGITS]


@dataclass(frozen=True, slots=True)
class ConfidentialBody:
    """The applied body of an object, with the uid that the object had then.

    The uid keys the digest of a Secret, so that a body can be verified after its object was deleted
    or recreated.
    """

    kind: str
    uid: str
    body: Body

    @property
    def digest(self) -> str:
        """The digest by which a history knows the body."""
        return body_digest(self.kind, self.uid, self.body)
