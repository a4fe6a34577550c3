"""The tree of errors of the API server: each a clean line, a reason, a hint.

Each leaf says whether trying again may help, and whether the server surely did nothing.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar

from gate.cluster_name import ClusterName
from gate.core.frozen import dataclass
from gate.core.model.outcome import Reason
from gate.errors import RefusedError

_READS = ("get", "list", "watch")


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that another field manager owns.

    `subresource` is the one through which it was written, "" for the object itself.
    """

    manager: str
    path: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A field that the server did not accept, and why."""

    path: str
    message: str


class ApiError(RefusedError):
    """Abstract: the API server refused, or did not answer.

    `transient`: trying again may help. `refused`: it rejects who asks, or the resource as such,
    which an authorizer or a lagging replica may do now and then. `untouched`: the server surely did
    not do what it was asked. `retry_after_seconds`: what the server asked for, None if it did not.
    `answer`: what came in place of an answer that can be used, "" if nothing did.

    """

    answers_with: ClassVar[Reason] = Reason.REJECTED
    advice: ClassVar[str] = ""
    transient: ClassVar[bool] = False
    refused: ClassVar[bool] = False
    untouched: ClassVar[bool] = True
    answer: str = ""

    def __init__(
        self, message: str, *, hint: str = "", retry_after_seconds: float | None = None
    ) -> None:
        """Take one clean line; the reason is that of the leaf."""
        super().__init__(message, reason=self.answers_with, hint=hint or self.advice)
        self.retry_after_seconds = retry_after_seconds


class NotFound(ApiError):
    """404: there is no such object, namespace or kind."""

    answers_with = Reason.NOT_FOUND


class NotServed(NotFound):
    """404 that names no object: the server does not serve the path, or not yet."""

    refused = True


class Unauthorized(ApiError):
    """401, or there are no credentials."""

    answers_with = Reason.UNAUTHORIZED
    refused = True
    advice = "the credentials are missing, wrong or expired"


class Forbidden(ApiError):
    """403 of the authorizer: `verb` and `resource` are what is missing, "" if not said.

    Its hint is set by the caller, who knows the cluster that refuses.
    """

    answers_with = Reason.FORBIDDEN
    refused = True

    def __init__(self, message: str, *, verb: str = "", resource: str = "") -> None:
        """Take the verb and the `resource.group` that the server named."""
        super().__init__(message)
        self.verb = verb
        self.resource = resource


def role_hint(cluster: ClusterName, namespace: str, verb: str = "") -> str:
    """Return the hint for a missing permission: the command that prints what to ask for.

    Whoever may not even read (`verb`) may want to read alone.
    """
    words = ("rollout-gate", "preflight", "--rbac", "-f", "PATH")
    command = cluster.command(*words, namespace=namespace)
    hint = f"print the Role that a manifest needs: {command}"
    if verb not in _READS:
        return hint
    reads = cluster.command("rollout-gate", "verify", "NAME", "--rbac", namespace=namespace)
    return f"{hint}\nor, only to look at a workload: {reads}"


class Rejected(ApiError):
    """The server, its admission or its schema refuses this request for good."""


class Invalid(Rejected):
    """422: `fields` are those that the server did not accept."""

    def __init__(self, message: str, fields: tuple[FieldProblem, ...] = ()) -> None:
        """Take the fields in the server's order, each once."""
        super().__init__(message)
        self.fields = fields


class ResourceVersionConflict(ApiError):
    """409: the object changed since it was read, or a webhook answers so."""

    answers_with = Reason.CONFLICT


class AlreadyExists(ApiError):
    """409: the object to be created exists already."""

    answers_with = Reason.CONFLICT


class FieldManagerConflict(ApiError):
    """409 of a server-side apply: other field managers own `conflicts`."""

    answers_with = Reason.CONFLICT

    def __init__(self, message: str, conflicts: tuple[FieldConflict, ...]) -> None:
        """Take the fields with their managers, in the server's order."""
        super().__init__(message)
        self.conflicts = conflicts


class UidMismatch(ApiError):
    """409 or 422: the object with that uid is gone, or another one has its name."""

    answers_with = Reason.DELETED


class Gone(ApiError):
    """410: that resourceVersion or continue token is too old; list again."""

    answers_with = Reason.UNREACHABLE


class TooManyRequests(ApiError):
    """429: the server shed the request before it did anything."""

    answers_with = Reason.UNREACHABLE
    advice = "the server sheds load: try again later"
    transient = True
    answer = "429 Too Many Requests"


class DisruptionForbidden(ApiError):
    """429 of an eviction: a PodDisruptionBudget forbids it now; no sign of load."""

    advice = "the PodDisruptionBudget has to allow it, or the pod has to recover"


class ServerFailure(ApiError):
    """5xx: from the server or something in front of it; nobody knows what it did."""

    answers_with = Reason.UNREACHABLE
    advice = "the server answers with an error of its own: try again once it is healthy"
    transient = True
    untouched = False

    def __init__(
        self, message: str, code: int, *, retry_after_seconds: float | None = None
    ) -> None:
        """Take the HTTP status as well."""
        super().__init__(message, retry_after_seconds=retry_after_seconds)
        phrases = {status.value: status.phrase for status in HTTPStatus}
        self.answer = f"{code} {phrases.get(code, '')}".rstrip()


class Unreachable(ApiError):
    """No connection could be made."""

    answers_with = Reason.UNREACHABLE
    advice = "is the server of this context the right one, and up?"
    transient = True


class ContactBroken(ApiError):
    """The connection ended in mid-request; nobody knows what the server did."""

    answers_with = Reason.UNREACHABLE
    advice = "check the network between here and the server, and try again"
    transient = True
    untouched = False


class TimedOut(ContactBroken):
    """The answer did not come within its limit."""


class TlsFailure(ApiError):
    """The server is not who it should be, or speaks no TLS."""

    answers_with = Reason.UNREACHABLE
    advice = "check certificate-authority and tls-server-name of the cluster in the kubeconfig"


class BadAnswer(ApiError):
    """The answer is larger than allowed, encoded, or not what the API documents."""

    answers_with = Reason.UNREACHABLE
    untouched = False
    answer = "what cannot be read"
