"""A log that is followed until its container ends (`pods/log?follow=true`)."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.failure import ApiError
from sandbox.json import JSON, dig
from sandbox.storage.store import Change, Key, Store


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
        self._sent_bytes = len(read())
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
        if len(text) > self._sent_bytes:
            self._pending.append(text[self._sent_bytes :])
            self._sent_bytes = len(text)


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
    """Call nobody."""
