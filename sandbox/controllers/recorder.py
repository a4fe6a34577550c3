"""Events as controllers record them: repeated ones are counted, similar ones combined.

Rules of client-go's `tools/record`: the tenth different message of one reason about one object
within ten minutes is combined with those after it; an object gets 25 events at once from a source,
then one in five minutes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from sandbox.api.api import Api, Patch, PatchType, Writer
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.storage.store import Key

MOST_DIFFERENT = 10
SIMILAR_SECONDS = 600.0
BURST = 25
SECONDS_PER_EVENT = 300.0
COMBINED = "(combined from similar events): "

Same = tuple[str, ...]
"""What makes an event the same as another: its type, reason and, unless combined, message."""


@dataclass(slots=True)
class _Budget:
    """How many more events an object may have from this source."""

    filled_at: float
    tokens: float = float(BURST)

    def take(self, now: float) -> bool:
        self.tokens = min(float(BURST), self.tokens + (now - self.filled_at) / SECONDS_PER_EVENT)
        self.filled_at = now
        if self.tokens < 1.0:
            return False
        self.tokens -= 1.0
        return True


@dataclass(slots=True)
class _Similar:
    """The different messages of one reason about one object."""

    at: float
    messages: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Memory:
    """What was recorded about one object: budgets by type, messages by reason, events written."""

    budgets: dict[str, _Budget] = field(default_factory=dict)
    similar: dict[Same, _Similar] = field(default_factory=dict)
    written: dict[Same, Key] = field(default_factory=dict)


class Recorder:
    """Writes the events of one component."""

    def __init__(self, api: Api, by: Writer, component: str) -> None:
        self._api = api
        self._by = by
        self._timers = api.timers
        self._component = component
        self._memories: dict[str, _Memory] = {}

    def normal(self, about: JSON, reason: str, message: str) -> None:
        """Record that something went as it should."""
        self._record(about, "Normal", reason, message)

    def warning(self, about: JSON, reason: str, message: str) -> None:
        """Record that something went wrong."""
        self._record(about, "Warning", reason, message)

    def forget(self, uid: str) -> None:
        """Drop what is remembered of an object that is gone."""
        self._memories.pop(uid, None)

    def _record(self, about: JSON, kind: str, reason: str, message: str) -> None:
        now = self._timers.epoch()
        memory = self._memories.setdefault(about["metadata"]["uid"], _Memory())
        same, message = _combine_similar(memory, (kind, reason), message, now)
        if not memory.budgets.setdefault(kind, _Budget(now)).take(now):
            return
        written = memory.written.get(same)
        if written is not None and self._count(written, message):
            return
        created = self._create(self._event(about, kind, reason, message))
        if created is not None:
            memory.written[same] = created

    def _count(self, key: Key, message: str) -> bool:
        """Count one more of an event that was written; say whether it is still there."""
        found = self._api.store.get(key)
        if found is None:
            return False
        changes = {
            "count": found.get("count", 1) + 1,
            "lastTimestamp": self._timers.wall(),
            "message": message,
        }
        with suppress(ApiError):
            self._api.patch(key, Patch(PatchType.STRATEGIC, changes), self._by)
        return True

    def _create(self, event: JSON) -> Key | None:
        """Write an event; one that the server refuses is dropped, as the real recorder does."""
        namespace = event["metadata"]["namespace"]
        try:
            created = self._api.create("events", namespace, event, self._by)
        except ApiError:
            return None
        return Key("events", namespace, created["metadata"]["name"])

    def _event(self, about: JSON, kind: str, reason: str, message: str) -> JSON:
        stamp = self._timers.wall()
        # A combined event is created again by client-go, which leaves its reporter out.
        reporter = "" if message.startswith(COMBINED) else self._component
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": self._metadata(about["metadata"]),
            "involvedObject": _reference(about),
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "type": kind,
            "eventTime": None,
            "reportingComponent": reporter,
            "reportingInstance": "",
        }

    def _metadata(self, about: JSON) -> JSON:
        """Name an event after its object and the nanosecond; two in one get one after the other."""
        namespace = about.get("namespace") or "default"
        nanosecond = round(self._timers.epoch() * 1e9)
        while True:
            name = f"{about['name']}.{nanosecond:x}"
            if self._api.store.get(Key("events", namespace, name)) is None:
                return {"name": name, "namespace": namespace}
            nanosecond += 1


def _reference(about: JSON) -> JSON:
    metadata = about["metadata"]
    return {
        "kind": about["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "uid": metadata["uid"],
        "apiVersion": about["apiVersion"],
        "resourceVersion": metadata["resourceVersion"],
    }


def _combine_similar(memory: _Memory, reason: Same, message: str, now: float) -> tuple[Same, str]:
    """Return what makes an event the same as another one, and the message to write."""
    similar = memory.similar.get(reason)
    if similar is None or now - similar.at > SIMILAR_SECONDS:
        similar = memory.similar[reason] = _Similar(now)
    similar.at = now
    similar.messages[message] = None
    if len(similar.messages) < MOST_DIFFERENT:
        return (*reason, message), message
    similar.messages.popitem()
    return reason, COMBINED + message
