"""Errors of the API server, named where they enter the gate.

HTTP answers, `Status` bodies (meta/v1) and errors of TLS and network become the leaves below:
one clean line, a reason, a hint, and whether trying again is safe and of use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import urllib3

from gate.core.outcome import Reason
from gate.errors import RefusedError
from gate.wire.untrusted import clean_line

_PAGE_CHARACTERS = 160
_LONGEST_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that another field manager owns."""

    manager: str
    path: str


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A field that the server did not accept, and why."""

    path: str
    message: str


class ApiError(RefusedError):
    """Abstract: the API server said no, or nothing.

    `transient`: trying again may help. `untouched`: the server surely did not do what it was
    asked. `retry_after_seconds`: what the server asked for, None where it did not.
    """

    answers_with: ClassVar[Reason] = Reason.REJECTED
    advice: ClassVar[str] = ""
    transient: ClassVar[bool] = False
    untouched: ClassVar[bool] = True

    def __init__(
        self, message: str, *, hint: str = "", retry_after_seconds: float | None = None
    ) -> None:
        """Take one clean line; the reason is that of the leaf."""
        super().__init__(message, reason=self.answers_with, hint=hint or self.advice)
        self.retry_after_seconds = retry_after_seconds


class NotFound(ApiError):
    """404: there is no such object, namespace or kind."""

    answers_with = Reason.NOT_FOUND


class Unauthorized(ApiError):
    """401, or there are no credentials to be had."""

    answers_with = Reason.UNAUTHORIZED
    advice = "the credentials are missing, wrong or expired"


class Forbidden(ApiError):
    """403 of the authorizer: `verb` and `resource` are what is missing, "" where unsaid."""

    answers_with = Reason.FORBIDDEN
    advice = "`rollout-gate preflight --rbac` prints the Role that is needed"

    def __init__(self, message: str, *, verb: str = "", resource: str = "") -> None:
        """Take the verb and the `resource.group` that the server named."""
        super().__init__(message)
        self.verb = verb
        self.resource = resource


class Rejected(ApiError):
    """The server, its admission or its schema refuses this request for good."""


class Invalid(Rejected):
    """422: `problems` are the fields that the server did not accept."""

    def __init__(self, message: str, problems: tuple[FieldProblem, ...] = ()) -> None:
        """Take the fields in the server's order, each once."""
        super().__init__(message)
        self.problems = problems


class ResourceVersionConflict(ApiError):
    """409: the object changed since it was read."""

    answers_with = Reason.CONFLICT


class AlreadyExists(ApiError):
    """409: the object to be created is there."""

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
    """410: that resourceVersion or continue token is too old; list anew."""

    answers_with = Reason.UNREACHABLE


class TooManyRequests(ApiError):
    """429: the server shed the request before it did anything."""

    answers_with = Reason.UNREACHABLE
    transient = True


class ServerFailure(ApiError):
    """5xx: of the server or of something before it; what it did nobody knows."""

    answers_with = Reason.UNREACHABLE
    transient = True
    untouched = False


class Unreachable(ApiError):
    """No connection came about."""

    answers_with = Reason.UNREACHABLE
    advice = "is the server of this context the right one, and up?"
    transient = True


class ContactBroken(ApiError):
    """The connection ended in mid-request; what the server did nobody knows."""

    answers_with = Reason.UNREACHABLE
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


def from_answer(status: int, body: str | bytes | None, headers: Mapping[str, str]) -> ApiError:
    """Name an HTTP answer that is no success."""
    document = _status_document(body or "")
    after = _seconds(headers.get("Retry-After"))
    if document is not None:
        return from_status(document, status, retry_after_seconds=after)
    page = _page(body or "")
    message = f"the server answered {status}" + (f": {page}" if page else "")
    return _leaf(status, message, {}, after)


def from_status(
    document: Mapping[str, Any], code: int = 0, *, retry_after_seconds: float | None = None
) -> ApiError:
    """Name a `Status` document: the body of an answer or the object of a watch's ERROR event."""
    claimed = document.get("code")
    code = code or (claimed if isinstance(claimed, int) else 0)
    after = retry_after_seconds
    if after is None:
        after = _seconds(_details(document).get("retryAfterSeconds") or None)
    message = clean_line(_unquoted(str(document.get("message") or f"the server answered {code}")))
    return _leaf(code, message, document, after)


_UNMERGEABLE = ("failed to create typed patch object", "failed to convert new object")
"""How a server-side apply begins its 500 for a body that does not fit the schema."""
_QUOTED = (
    (re.compile(r"(?s)(, got )&.*"), r"\1something else"),
    (
        re.compile(r'(?s)(Invalid value: )(?:[\w.*&]*\{|\[)(?:.*(?=: [^"{}[\]]*\]?$)|.*)'),
        r"\1(not shown)",
    ),
)
"""Parts of a body that the server quotes: Go values of another type than the schema's, and whole
structures, such as the pod template of a Job, which is immutable."""


def _unquoted(message: str) -> str:
    """Leave out what may hold values of env or of a Secret; names and single words stay."""
    for quoted, shown in _QUOTED:
        message = quoted.sub(shown, message)
    return message


def _leaf(code: int, message: str, document: Mapping[str, Any], after: float | None) -> ApiError:
    match code:
        case 401:
            return Unauthorized(f"the server does not accept the credentials ({message})")
        case 403:
            return _forbidden(message, document)
        case 404:
            return NotFound(message)
        case 409:
            return _conflict(message, document)
        case 410:
            return Gone(message)
        case 422:
            return _invalid(message, document)
        case 429:
            return TooManyRequests(message, retry_after_seconds=after)
        case 500 if message.startswith(_UNMERGEABLE):
            return Rejected(message)
    if code >= 500:  # noqa: PLR2004 - the class of HTTP statuses
        return ServerFailure(message, retry_after_seconds=after)
    return Rejected(message)


_CANNOT = re.compile(r'cannot (\w+) resource "([^"]+)" in API group "([^"]*)"')


def _forbidden(message: str, document: Mapping[str, Any]) -> ApiError:
    """Tell the authorizer's no (it names what one cannot do) from an admission's."""
    found = _CANNOT.search(message)
    if found is not None:
        verb, resource, group = found.groups()
        return Forbidden(message, verb=verb, resource=f"{resource}.{group}" if group else resource)
    return Rejected(message) if document and "cannot " not in message else Forbidden(message)


_OTHER_UID = ("uid mismatch:", "the UID in the precondition")


def _conflict(message: str, document: Mapping[str, Any]) -> ApiError:
    conflicts = tuple(
        FieldConflict(_manager(cause), clean_line(str(cause.get("field", ""))))
        for cause in _causes(document)
        if cause.get("reason") == "FieldManagerConflict"
    )
    if conflicts:
        return FieldManagerConflict(message, conflicts)
    if document.get("reason") == "AlreadyExists":
        return AlreadyExists(message)
    if any(words in message for words in _OTHER_UID):
        return UidMismatch(message)
    return ResourceVersionConflict(message)


def _manager(cause: Mapping[str, Any]) -> str:
    """Read the manager from `conflict with "NAME" using apps/v1`, the only place it stands."""
    found = re.search(r'conflict with "([^"]*)"', str(cause.get("message", "")))
    return clean_line(found.group(1)) if found else ""


def _invalid(message: str, document: Mapping[str, Any]) -> ApiError:
    problems = tuple(
        dict.fromkeys(
            FieldProblem(
                clean_line(str(cause.get("field", ""))),
                clean_line(_unquoted(str(cause.get("message", "")))),
            )
            for cause in _causes(document)
        )
    )
    if any(problem.path == "metadata.uid" for problem in problems):
        return UidMismatch(message)
    return Invalid(message, problems)


def _causes(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    causes = _details(document).get("causes")
    listed = causes if isinstance(causes, list) else []
    return [cause for cause in listed if isinstance(cause, dict)]


def _details(document: Mapping[str, Any]) -> Mapping[str, Any]:
    details = document.get("details")
    return details if isinstance(details, dict) else {}


def _status_document(body: str | bytes) -> Mapping[str, Any] | None:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    known = isinstance(document, dict) and document.get("kind") == "Status"
    return document if known else None


def _page(body: str | bytes) -> str:
    """Return the first words of a body that is no Status: a proxy's page, most often."""
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    words = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", text[: 1 << 14])
    return clean_line(" ".join(words.split()), _PAGE_CHARACTERS)


def _seconds(value: Any) -> float | None:
    """Read Retry-After, a minute at most; the API server sends whole seconds, dates are left."""
    try:
        return min(max(0.0, float(value)), _LONGEST_PAUSE_SECONDS)
    except (TypeError, ValueError):
        return None


def from_transport(error: Exception, server: str) -> ApiError:
    """Name an error of urllib3, TLS or the socket; `server` is for the message."""
    text = clean_line(str(error))
    untrusted = re.search(r"certificate verify failed: ([^(]+)", text)
    if untrusted is not None:
        return TlsFailure(f"the certificate of {server} is not trusted: {untrusted[1].strip()}")
    if "WRONG_VERSION_NUMBER" in text or "wrong version number" in text:
        return TlsFailure(f"{server} does not speak TLS")
    match error:
        case urllib3.exceptions.NameResolutionError():
            return Unreachable(f"the name of {server} does not resolve")
        case urllib3.exceptions.ProxyError():
            return Unreachable(f"cannot connect to {server} through its proxy: {_cause(error)}")
        case urllib3.exceptions.NewConnectionError():
            return Unreachable(f"cannot connect to {server}: {_cause(error)}")
        case urllib3.exceptions.ConnectTimeoutError():
            return Unreachable(f"{server} does not answer: no connection in time")
        case urllib3.exceptions.ReadTimeoutError():
            return TimedOut(f"{server} did not answer in time")
    return ContactBroken(f"the connection to {server} broke: {_cause(error)}")


def _cause(error: Exception) -> str:
    """Return the innermost words: urllib3 wraps what the system said."""
    return clean_line(str(error)).rpartition(": ")[2].strip("()'\" ")[:_PAGE_CHARACTERS]
