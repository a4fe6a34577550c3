"""The warnings of a cluster about one workload, its revisions and pods, and which came since when.

Events outlive what they report, by an hour as a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.objects import ClusterEvent

MOST_EVENTS: Final = 500
"""Warnings explain and decide little; the latest suffice."""


@dataclass(frozen=True, slots=True)
class Events:
    """The latest warnings, by uid; `before` is how they were before our write."""

    latest: FrozenMap[str, ClusterEvent] = field(default_factory=FrozenMap)
    before: FrozenMap[str, ClusterEvent] = field(default_factory=FrozenMap)

    def begin(self) -> Events:
        """Return them at the moment of a write after which controllers try again."""
        return replace(self, before=self.latest)

    def with_event(self, event: ClusterEvent) -> Events:
        """Return them after an event was seen, themselves if it is no warning or is known."""
        if event.type != "Warning" or self.latest.get(event.uid) == event:
            return self
        latest = self.latest.put(event.uid, event)
        if len(latest) > MOST_EVENTS:
            latest = latest.drop(next(iter(latest)))
        return replace(self, latest=latest)

    def list_denials(self, owner_uid: str) -> Iterator[ClusterEvent]:
        """Yield the events that a pod of an owner could not be created.

        One from before our write counts once it has occurred again.
        """
        for event in self.latest.values():
            if event.about_uid == owner_uid and event.reason == "FailedCreate":
                before = self.before.get(event.uid)
                if before is None or (before.count, before.at) != (event.count, event.at):
                    yield event
