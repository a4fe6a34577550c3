"""What an answer or a broken connection means: translated where it enters the gate.

HTTP answers, `Status` bodies (meta/v1) and errors of TLS and network become leaves of the tree in
`failures`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import urllib3

from gate.kube.answers.failures import (
    AlreadyExists,
    ApiError,
    ContactBroken,
    DisruptionForbidden,
    FieldConflict,
    FieldManagerConflict,
    FieldProblem,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    NotServed,
    Rejected,
    ResourceVersionConflict,
    ServerFailure,
    TimedOut,
    TlsFailure,
    TooManyRequests,
    UidMismatch,
    Unauthorized,
    Unreachable,
)
from gate.wire.untrusted import clean_line

_PAGE_CHARACTERS = 160
_LONGEST_PAUSE_SECONDS = 60.0


def from_answer(
    status: int, body: str | bytes | None, headers: Mapping[str, str], *, to_read: bool = False
) -> ApiError:
    """Turn an HTTP answer that is no success into an ApiError; `to_read` tells what was asked."""
    document = _status_document(body or "")
    after = _seconds(headers.get("Retry-After"))
    if document is not None:
        return from_status(document, status, retry_after_seconds=after, to_read=to_read)
    page = _page(body or "")
    message = f"the server answered {status}" + (f": {page}" if page else "")
    return _leaf(status, message, {}, after)


def from_status(
    document: Mapping[str, Any],
    code: int = 0,
    *,
    retry_after_seconds: float | None = None,
    to_read: bool = False,
) -> ApiError:
    """Translate a `Status` document: the body of an answer or the object of an ERROR event."""
    claimed = document.get("code")
    code = code or (claimed if isinstance(claimed, int) else 0)
    after = retry_after_seconds
    if after is None:
        after = _seconds(_details(document).get("retryAfterSeconds") or None)
    said = str(document.get("message") or f"the server answered {code}")
    message = clean_line(_without_bodies(said, document))
    if code == HTTPStatus.FORBIDDEN:
        return _forbidden(message, to_read=to_read)
    return _leaf(code, message, document, after)


_UNMERGEABLE = ("failed to create typed patch object", "failed to convert new object")
"""How a server-side apply begins its 500 for a body that does not fit the schema."""
_SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
"""An eviction of a pod with several of them, which the server does not support: a 500 for good."""
_QUOTED = (
    (
        re.compile(
            r"(?s)(, got )&.*?"
            r"(?=\Z|\n  \.\S+: (?:expected [a-z ()]+, got |field not declared in schema))"
        ),
        r"\1something else",
    ),
    (
        re.compile(r'(?s)(Invalid value: )(?:[\w.*&]*\{|\[)(?:.*(?=: [^"{}[\]]*\]?$)|.*)'),
        r"\1(not shown)",
    ),
)
"""Parts of a body that the server quotes: Go values of another type than the schema's, and whole
structures, such as the pod template of a Job, which is immutable."""

_IS_INVALID = " is invalid: "
"""What stands before the field errors of apimachinery's `NewInvalid`."""


def _without_bodies(message: str, document: Mapping[str, Any]) -> str:
    """Return what the server said, each of several field errors with its own field and words.

    A message that lists them cannot be taken apart: only its causes tell where a quoted body ends.
    """
    about, invalid, _ = message.partition(_IS_INVALID)
    errors = dict.fromkeys(_field_error(cause) for cause in _causes(document))
    if len(errors) > 1 and invalid and all(error in message for error in errors):
        return f"{about}{invalid}{'; '.join(map(_drop_quoted, errors))}"
    return _drop_quoted(message)


def _field_error(cause: Mapping[str, Any]) -> str:
    """Return a cause as the server's message has it (apimachinery's `field.Error`)."""
    return f"{cause.get('field', '')}: {cause.get('message', '')}"


def _drop_quoted(message: str) -> str:
    """Leave out what may hold values of env or of a Secret; names and single words stay."""
    for quoted, shown in _QUOTED:
        message = quoted.sub(shown, message)
    return message


_UNSERVED = re.compile(r"could not find the requested resource|404 page not found")
"""The text of a 404 that names no object: apiserver's `NewGenericServerResponse`, its router."""


def _leaf(code: int, message: str, document: Mapping[str, Any], after: float | None) -> ApiError:
    match code:
        case 401:
            return Unauthorized(f"the server does not accept the credentials ({message})")
        case 403:
            return Forbidden(message)  # of no Status: it never came to the server's admission
        case 404:
            return NotServed(message) if _UNSERVED.search(message) else NotFound(message)
        case 409:
            return _conflict(message, document)
        case 410:
            return Gone(message)
        case 422:
            return _invalid(message, document)
        case 429:
            return _too_many(message, document, after)
        case 500 if message.startswith(_UNMERGEABLE) or _SEVERAL_BUDGETS in message:
            return Rejected(message)
    if code >= 500:  # noqa: PLR2004 - the class of HTTP statuses
        return ServerFailure(message, code, retry_after_seconds=after)
    return Rejected(message)


def _too_many(message: str, document: Mapping[str, Any], after: float | None) -> ApiError:
    """Tell the no of a PodDisruptionBudget, by its cause, from a server that sheds load."""
    for cause in _causes(document):
        if cause.get("reason") == "DisruptionBudget":
            return DisruptionForbidden(clean_line(cause.get("message") or message))
    return TooManyRequests(message, retry_after_seconds=after)


_TEXT = r'"(?:[^"\\]|\\.)*"'  # as Go quotes it (`%q`)
_LACKS_RIGHT = re.compile(
    rf"(?:(?:\S+(?: {_TEXT})? is )?forbidden: )?"
    rf"(?:User {_TEXT} cannot (?P<verb>\S+) (?:resource|path) "
    rf'(?:"(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)")?'
    rf"|user {_TEXT} \(groups=.*?\) is attempting to grant RBAC permissions not currently held)"
)
"""What the authorizer says (apiserver's `forbiddenMessage`), or RBAC to who would grant more than
they have (`ConfirmNoEscalation`), from the beginning: an admission webhook may quote the same."""


def _forbidden(message: str, *, to_read: bool) -> ApiError:
    """Tell a missing right from what admission denies; no admission sees a read."""
    found = _LACKS_RIGHT.match(message)
    if found is None:
        return Forbidden(message) if to_read else Rejected(message)
    verb, resource, group = found.group("verb", "resource", "group")
    if not resource:
        return Forbidden(message)
    return Forbidden(message, verb=verb, resource=f"{resource}.{group}" if group else resource)


_OTHER_UID = ("uid mismatch:", "the UID in the precondition")


def _conflict(message: str, document: Mapping[str, Any]) -> ApiError:
    conflicts = tuple(
        _field_conflict(cause)
        for cause in _causes(document)
        if cause.get("reason") == "FieldManagerConflict"
    )
    if conflicts:
        return FieldManagerConflict(_list_conflicts(message, document), conflicts)
    if document.get("reason") == "AlreadyExists":
        return AlreadyExists(message)
    if any(words in message for words in _OTHER_UID):
        return UidMismatch(message)
    return ResourceVersionConflict(message)


_CONFLICT_WITH = re.compile(r'conflict with "([^"]*)"(?: with subresource "([^"]*)")?')
"""The only place that names the manager: apimachinery's `managedfields/internal/conflict.go`."""


def _list_conflicts(message: str, document: Mapping[str, Any]) -> str:
    """Return what a conflict is about in one line; the server gives each of several fields one."""
    fields: dict[str, list[str]] = {}
    for cause in _causes(document):
        said = clean_line(str(cause.get("message", "")))
        fields.setdefault(said, []).append(clean_line(str(cause.get("field", ""))))
    summary, colon, _ = message.partition(": ")
    if not colon:
        return message
    listed = (f"{said}: {', '.join(names)}" for said, names in fields.items())
    return f"{summary}: {'; '.join(listed)}"


def _field_conflict(cause: Mapping[str, Any]) -> FieldConflict:
    found = _CONFLICT_WITH.search(str(cause.get("message", "")))
    manager, subresource = found.groups("") if found else ("", "")
    path = clean_line(str(cause.get("field", "")))
    return FieldConflict(clean_line(manager), path, clean_line(subresource))


def _invalid(message: str, document: Mapping[str, Any]) -> ApiError:
    problems = tuple(
        dict.fromkeys(
            FieldProblem(
                clean_line(str(cause.get("field", ""))),
                clean_line(_drop_quoted(str(cause.get("message", "")))),
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
    """Read Retry-After, a minute at most; the API server sends whole seconds, dates are ignored."""
    try:
        return min(max(0.0, float(value)), _LONGEST_PAUSE_SECONDS)
    except (TypeError, ValueError):
        return None


def from_transport(error: Exception, server: str) -> ApiError:
    """Translate an error of urllib3, TLS or the socket; `server` is for the message."""
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


def _cause(error: BaseException) -> str:
    """Return the innermost words: urllib3 wraps what the system said."""
    inner = [one for one in error.args if isinstance(one, BaseException)]
    if inner:
        return _cause(inner[-1])
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return clean_line(said).rpartition(": ")[2].strip("()'\" ")[:_PAGE_CHARACTERS]
