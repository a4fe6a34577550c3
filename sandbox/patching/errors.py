"""A patch that cannot be understood, or that does not fit the object."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from sandbox.failure import ApiError

UNTOLD: Final = "the server rejected our request due to an error in our request"
"""All that clients read of a patch that does not fit."""


class PatchError(Exception):
    """The object stays as it was; `status` is 400, or 422 where the patch does not fit."""

    def __init__(self, message: str, status: int = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.message = message
        self.status = status

    def refusal(self) -> ApiError:
        """Return the answer."""
        if self.status == HTTPStatus.UNPROCESSABLE_ENTITY:
            return ApiError(self.status, "Invalid", UNTOLD)
        return ApiError(self.status, "BadRequest", self.message)


def inapplicable(message: str) -> PatchError:
    """Return the error of a patch that does not fit the object."""
    return PatchError(message, HTTPStatus.UNPROCESSABLE_ENTITY)
