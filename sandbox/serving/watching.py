"""A watch on the wire: one line of JSON an event, in the form that the client asked for."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.json import JSON
from sandbox.serving.rendering import View
from sandbox.serving.request import to_json
from sandbox.storage.watching import Watch


class WatchStream:
    """The body of a watch; `view` gives the form of answers at the moment it is called."""

    def __init__(self, events: Watch, view: Callable[[], View]) -> None:
        self._events = events
        self._view = view
        self._is_first = True

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._events.ended

    def take(self) -> list[bytes]:
        """Return what has happened since the last call, a line each."""
        events = self._events.take()
        return [self._line(self._view(), event) for event in events]

    def on_data(self, hear: Callable[[], None]) -> None:
        """Have `hear` called when there may be lines, and at the end."""
        self._events.on_data(hear)

    def close(self) -> None:
        """End it from the reader's side."""
        self._events.close()

    def _line(self, view: View, event: JSON) -> bytes:
        first, self._is_first = self._is_first, False
        return to_json(view.event(event, first=first)) + b"\n"
