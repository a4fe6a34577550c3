"""v1 Event: its JSON, and the core's value of it."""

from __future__ import annotations

from typing import Final

from gate.core.model import objects as core
from gate.core.rollout.observations import Kind
from gate.wire import build, shapes
from gate.wire.kinds.kind import WatchedKind


class Involved(shapes.Shape):
    """The object that an Event is about."""

    kind: str | None = None
    name: str | None = None
    uid: str | None = None


class Series(shapes.Shape):
    """EventSeries: how often, of events written through events.k8s.io."""

    count: int | None = None
    last_observed_time: str | None = None


class Event(shapes.Shape, tag_field="kind", tag="Event"):
    """v1 Event."""

    metadata: shapes.Meta
    involved_object: Involved | None = None
    type: str | None = None
    reason: str | None = None
    message: str | None = None
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: Series | None = None


def build_event(found: Event) -> core.ClusterEvent:
    """Build a v1 Event; those written through events.k8s.io count in a series."""
    about = found.involved_object or Involved()
    series = found.series or Series()
    last = series.last_observed_time or found.last_timestamp or found.event_time
    return core.ClusterEvent(
        uid=found.metadata.uid or "",
        resource_version=found.metadata.resource_version or "",
        about_kind=build.line(about.kind),
        about_name=build.line(about.name),
        about_uid=about.uid or "",
        type=build.line(found.type),
        reason=build.line(found.reason),
        message=build.line(found.message),
        count=series.count or found.count or 1,
        at=build.line(last or found.first_timestamp or found.metadata.creation_timestamp),
    )


EVENT: Final = WatchedKind(Kind.EVENT, "v1", Event, core.ClusterEvent, build_event)
