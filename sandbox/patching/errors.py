"""A patch that cannot be understood, or that does not fit the object."""

from __future__ import annotations

from enum import Enum
from http import HTTPStatus

from sandbox.failure import ApiError
from sandbox.schema.spelling import json_type


class Fault(Enum):
    """How the server answers, by its kinds of patch and their libraries."""

    MALFORMED = HTTPStatus.BAD_REQUEST, "BadRequest"
    INAPPLICABLE = HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid"
    TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "RequestEntityTooLarge"

    INTERNAL = HTTPStatus.INTERNAL_SERVER_ERROR, ""
    """The server does not foresee the error: no reason, and the bare message."""


UNTOLD = "the server rejected our request due to an error in our request"
"""All that clients read of a patch that does not apply."""


class PatchError(Exception):
    """The object stays as it was; `message` says why, which clients are not always told."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.message = message
        self.fault = fault

    def refusal(self) -> ApiError:
        """Return what the server answers."""
        status, reason = self.fault.value
        told = UNTOLD if self.fault is Fault.INAPPLICABLE else self.message
        return ApiError(int(status), reason, told)


def make_malformed_error(message: str) -> PatchError:
    """Return the error of a patch that is none."""
    return PatchError(message, Fault.MALFORMED)


def inapplicable(message: str) -> PatchError:
    """Return the error of a patch that does not fit the object."""
    return PatchError(message, Fault.INAPPLICABLE)


def internal(message: str) -> PatchError:
    """Return an error that the server does not foresee."""
    return PatchError(message, Fault.INTERNAL)


def not_decodable(value: object, wanted: str) -> PatchError:
    """Return the error of a patch of the wrong JSON type; `wanted` is the server's Go type."""
    return make_malformed_error(
        f"json: cannot unmarshal {json_type(value)} into Go value of type {wanted}"
    )
