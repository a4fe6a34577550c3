"""`pods/log`: the options of the query, and the log as it is now."""

from __future__ import annotations

from typing import Protocol

from sandbox.failure import bad_request, not_served
from sandbox.kubelet.logs import LogOptions
from sandbox.serving.options import number
from sandbox.serving.request import Answer, Request
from sandbox.serving.routing import Target, is_true

HEADERS = {"content-type": "text/plain"}


class ReadLog(Protocol):
    """A container's log as its kubelet has it; refusals are ApiError."""

    def __call__(
        self, namespace: str, pod: str, container: str = "", options: LogOptions | None = None
    ) -> bytes:
        """Return the whole log, or the part of it that the options ask for."""


def log_answer(request: Request, target: Target, read: ReadLog) -> Answer:
    """Answer `GET pods/log`; 400 for what is no number, 501 for a log that is followed."""
    if is_true(request.read_parameter("follow")):
        raise not_served("a log that is followed: ask for it again")
    if request.read_parameter("sinceSeconds") or request.read_parameter("sinceTime"):
        raise not_served("a log from a moment on: ask for its last lines")
    options = LogOptions(
        previous=is_true(request.read_parameter("previous")),
        tail_lines=_natural(request, "tailLines"),
        limit_bytes=_natural(request, "limitBytes"),
        timestamps=is_true(request.read_parameter("timestamps")),
    )
    container = request.read_parameter("container")
    return Answer(200, read(target.namespace, target.name, container, options), HEADERS)


def _natural(request: Request, name: str) -> int | None:
    """Return a number that is not negative, None where it is not given; 400 for anything else."""
    found = number(request.read_parameter(name))
    if found is not None and found < 0:
        raise bad_request(f"{name}: {found} is negative")
    return found
