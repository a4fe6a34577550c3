"""What the API server refuses: an HTTP status and the Status object that explains it.

Words and codes are those of a real server (apimachinery `api/errors`): clients read them. What
whoever runs a sandbox does wrong is a `SandboxError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from sandbox.json import JSON


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is wrong; `type` is the API's reason, as FieldValueInvalid."""

    field: str
    type: str
    message: str

    def cause(self) -> JSON:
        """Return the entry of `details.causes`."""
        return {"reason": self.type, "message": self.message, "field": self.field}


class ApiError(Exception):
    """An answer that is no success: `status` as HTTP says it, `reason` as the API does."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details = dict(details or {})
        self.headers = dict(headers or {})

    def body(self) -> JSON:
        """Return the Status object."""
        found: JSON = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.status,
        }
        if self.details:
            found["details"] = self.details
        return found


def qualify_resource(resource: str, group: str) -> str:
    """Return a resource as messages name it: `deployments.apps`, `pods`."""
    return f"{resource}.{group}" if group else resource


def _about(name: str, group: str, kind: str) -> JSON:
    return {"name": name, **({"group": group} if group else {}), "kind": kind}


def not_found(resource: str, group: str, name: str) -> ApiError:
    """404 for an object; `resource` is the plural."""
    message = f'{qualify_resource(resource, group)} "{name}" not found'
    return ApiError(404, "NotFound", message, details=_about(name, group, resource))


def already_exists(resource: str, group: str, name: str) -> ApiError:
    """409 for a name that is taken."""
    message = f'{qualify_resource(resource, group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, details=_about(name, group, resource))


def conflict(resource: str, group: str, name: str, why: str) -> ApiError:
    """409 for a precondition that does not hold."""
    message = (
        f'Operation cannot be fulfilled on {qualify_resource(resource, group)} "{name}": {why}'
    )
    return ApiError(409, "Conflict", message, details=_about(name, group, resource))


def forbidden(resource: str, group: str, name: str, why: str) -> ApiError:
    """403, by an authorizer or an admission plugin."""
    message = f'{qualify_resource(resource, group)} "{name}" is forbidden: {why}'
    return ApiError(403, "Forbidden", message, details=_about(name, group, resource))


def invalid(kind: str, group: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    """422 with every field that is wrong, each told once; `kind` is the object's kind."""
    problems = list(dict.fromkeys(f"{error.field}: {error.message}" for error in errors))
    what = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    details = {**_about(name, group, kind), "causes": [error.cause() for error in errors]}
    message = f'{qualify_resource(kind, group)} "{name}" is invalid: {what}'
    return ApiError(422, "Invalid", message, details=details)


def bad_request(message: str) -> ApiError:
    """400 for what cannot be understood."""
    return ApiError(400, "BadRequest", message)


def not_served(what: str) -> ApiError:
    """501 for what a real server answers and the sandbox does not."""
    return ApiError(501, "NotImplemented", f"the sandbox does not serve this: {what}")


def make_expired_error(message: str) -> ApiError:
    """410 for a position that is no longer in the history."""
    return ApiError(410, "Expired", message)


class SandboxError(Exception):
    """`problems` has a line for each mistake, `hint` what to do instead, which may be empty."""

    def __init__(self, *problems: str, hint: str = "") -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.hint = hint


@contextmanager
def forgiving_absence() -> Iterator[None]:
    """Let a refusal with 404 pass: what is gone already needs no write."""
    try:
        yield
    except ApiError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
