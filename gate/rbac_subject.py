"""Whom a printed Role is bound to (rbac/v1, Subject)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.frozen import dataclass
from gate.errors import UsageError

_GROUP: Final = "rbac.authorization.k8s.io"
FORM: Final = "user:NAME, group:NAME or serviceaccount:NAMESPACE/NAME"
PATTERN: Final = r"^(user:.+|group:.+|serviceaccount:[^/]+/[^/]+)$"
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Subject:
    """A User, a Group or a ServiceAccount; only a service account has a `namespace`.

    A service account without one is in the namespace that the Role is for.
    """

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """Return it as people write it."""
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}"

    def document(self, namespace: str) -> Mapping[str, str]:
        """Return it as a binding in `namespace` writes it, "" for a cluster-wide one."""
        if self.kind == "ServiceAccount":
            where = self.namespace or namespace or "default"
            return {"kind": self.kind, "name": self.name, "namespace": where}
        return {"kind": self.kind, "name": self.name, "apiGroup": _GROUP}


STAND_IN: Final = Subject("ServiceAccount", "rollout-gate")
"""Used when nobody says who the Role is for."""


def parse_subject(text: str) -> Subject:
    """Read `user:NAME`, `group:NAME` or `serviceaccount:NAMESPACE/NAME`; UsageError for others."""
    kind, _, name = text.partition(":")
    namespace, _, account = name.partition("/")
    match kind:
        case "user" | "group" if name:
            return Subject(kind.capitalize(), name)
        case "serviceaccount" if namespace and account and "/" not in account:
            return Subject("ServiceAccount", account, namespace)
    raise UsageError(f"not a subject: {text[:60]!a}", hint=FORM)


def subject_of(username: str) -> Subject:
    """Return the subject behind a username of the API server; "" means it did not say."""
    if not username:
        return STAND_IN
    if not username.startswith(_SERVICE_ACCOUNT):
        return Subject("User", username)
    namespace, _, name = username.removeprefix(_SERVICE_ACCOUNT).partition(":")
    return Subject("ServiceAccount", name, namespace)
