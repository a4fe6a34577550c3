"""`pods/log`: the options of the query, and a log that is followed until its container ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON, dig
from sandbox.kubelet.logs import LogOptions
from sandbox.serving.options import number
from sandbox.serving.request import Answer, Request
from sandbox.serving.routing import Target, is_true
from sandbox.storage.store import Change, Key, Store

HEADERS = {"content-type": "text/plain"}
MOST_SINCE_SECONDS = 100 * 365 * 86_400


class ReadLog(Protocol):
    """A container's log as its kubelet has it; refusals are ApiError."""

    def __call__(
        self, namespace: str, pod: str, container: str = "", options: LogOptions | None = None
    ) -> bytes:
        """Return the whole log, or the part of it that the options ask for."""


def log_answer(request: Request, target: Target, store: Store, read: ReadLog) -> Answer:
    """Answer `GET pods/log`, as it is now or, followed, as it grows."""
    options = log_options(request)
    container = request.read_parameter("container")
    text = read(target.namespace, target.name, container, options)
    if not is_true(request.read_parameter("follow")):
        return Answer(200, text, HEADERS)
    pod = Key("pods", target.namespace, target.name)
    whole = replace(LogOptions(), timestamps=options.timestamps)

    def now() -> bytes:
        return read(pod.namespace, pod.name, container, whole)

    return Answer(200, FollowedLog(store, pod, container, now, text), HEADERS)


def log_options(request: Request) -> LogOptions:
    """Return the options of the query; 400 for what is no number."""
    seconds = request.read_parameter("sinceSeconds")
    since_time = request.read_parameter("sinceTime")
    if seconds and since_time:
        raise bad_request("at most one of `sinceTime` or `sinceSeconds` may be specified")
    return LogOptions(
        previous=is_true(request.read_parameter("previous")),
        tail_lines=_natural(request, "tailLines"),
        limit_bytes=_natural(request, "limitBytes"),
        since_seconds=_seconds(seconds),
        since_time=since_time,
        timestamps=is_true(request.read_parameter("timestamps")),
    )


def _natural(request: Request, name: str) -> int | None:
    """Return a number that is not negative, None where it is not given; 400 for anything else."""
    found = number(request.read_parameter(name))
    if found is not None and found < 0:
        raise bad_request(f"{name}: {found} is negative")
    return found


def _seconds(text: str) -> int | None:
    """Return a number of seconds, at most so many that the moment they lead back to is a date."""
    seconds = number(text)
    return None if seconds is None else min(seconds, MOST_SINCE_SECONDS)


class FollowedLog:
    """A log that grows with its pod; it ends when the attempt that writes it has ended."""

    def __init__(
        self, store: Store, pod: Key, container: str, read: Callable[[], bytes], text: bytes
    ) -> None:
        """Begin with `text`; `read` gives the whole log of the attempt at any later moment."""
        self._pod = pod
        self._container = container
        self._read = read
        self._pending = [text] if text else []
        self._told = len(read())
        self._attempt = _attempt(store.get(pod), container)
        self._hear: Callable[[], None] = _nobody
        self._over = not _runs(store.get(pod), container)
        self._stop = store.listen("pods", self._on_change)
        if self._over:
            self._stop()

    @property
    def ended(self) -> bool:
        """Whether the container has ended."""
        return self._over

    def take(self) -> list[bytes]:
        """Return what was written since the last call."""
        taken, self._pending = self._pending, []
        return taken

    def on_data(self, hear: Callable[[], None]) -> None:
        """Have `hear` called when there is more, and at the end."""
        self._hear = hear

    def close(self) -> None:
        """End it from the reader's side."""
        self._over = True
        self._stop()
        self._hear()

    def _on_change(self, change: Change) -> None:
        if change.key != self._pod:
            return
        is_same = _attempt(change.after, self._container) == self._attempt
        if is_same:
            self._grow()
        if not is_same or not _runs(change.after, self._container):
            self.close()
        else:
            self._hear()

    def _grow(self) -> None:
        try:
            text = self._read()
        except ApiError:
            return
        if len(text) > self._told:
            self._pending.append(text[self._told :])
            self._told = len(text)


def _status(pod: JSON | None, container: str) -> JSON:
    statuses = [
        *(dig(pod, "status", "containerStatuses") or []),
        *(dig(pod, "status", "initContainerStatuses") or []),
    ]
    named = [status for status in statuses if container in ("", status.get("name"))]
    return named[0] if named else {}


def _attempt(pod: JSON | None, container: str) -> tuple[str, int]:
    uid = dig(pod, "metadata", "uid") or ""
    return str(uid), int(_status(pod, container).get("restartCount", 0))


def _runs(pod: JSON | None, container: str) -> bool:
    return dig(_status(pod, container), "state", "running") is not None


def _nobody() -> None:
    """Tell nobody."""
