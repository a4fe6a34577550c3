"""The outgoing messages: all that an attempt may ask for. An effect is at most one write."""

from __future__ import annotations

from dataclasses import field

from gate.core.checks.questions import Questions
from gate.core.checks.tick_grid import Tick
from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Pod, Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Record
from gate.core.rollout.policy import BlockedPods
from gate.core.versions.history import Closed


@dataclass(frozen=True, slots=True)
class SaveRecord:
    """Save the record before the writes of a leg."""

    effect_id: int
    record: Record


@dataclass(frozen=True, slots=True)
class Write:
    """One write to one object.

    `uid` and `resource_version` are preconditions. If both are None, the object is to be
    created, and one that already exists is a conflict. `leg` is the leg that sends it.
    """

    effect_id: int
    ref: Ref
    verb: Verb
    body: Body
    uid: str | None
    resource_version: str | None
    field_manager: str = FIELD_MANAGER
    force: bool = False
    leg: Leg = Leg.FORWARD


@dataclass(frozen=True, slots=True)
class Read:
    """Read `ref` with quorum; with `whole_rollout` its revisions and Pods too.

    `tries` is a restoration that is sent as a dry run as well, None for none.
    """

    effect_id: int
    ref: Ref
    whole_rollout: bool
    tries: Write | None = None


@dataclass(frozen=True, slots=True)
class Collect:
    """Collect evidence on the most telling pod: last terminations, current and previous logs.

    `container` is "" if any will do. Answered within 2 s whatever happens.
    """

    effect_id: int
    ref: Ref
    pod: str
    container: str
    previous: bool


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the questions of a check at one of its ticks.

    Answered within the limits of the questions, in a lane that other checks do not share. Of the
    time since, the gate itself stood still for `asleep_seconds`.
    """

    effect_id: int
    check: str
    tick: Tick
    questions: Questions
    asleep_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class FindUsers:
    """Ask which other runs of the gate use, or had brought, objects that an attempt wrote.

    `created` are those that the way back would delete; `changed` those that it would restore, and
    those that a recovery leaves to whoever changed them since; each in its live state: another run
    that applied the very same object leaves no trace in it. `states` has those that return to what
    was before the attempt, each as it was, and those that the attempt found as it applied them.
    Asked before any of these objects is written, and answered within the time limits of lock
    requests.
    """

    effect_id: int
    created: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    changed: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)
    states: FrozenMap[Ref, LiveObject] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class FindTerminatingNamespaces:
    """Ask at the end which of the attempt's `namespaces` are being deleted, or are gone."""

    effect_id: int
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemovePod:
    """Evict or delete one pod of `workload`, for its controller to replace it.

    `uid` is a precondition. The pod has its whole time to terminate.
    """

    effect_id: int
    workload: Ref
    pod: str
    uid: str
    how: BlockedPods


@dataclass(frozen=True, slots=True)
class Announce:
    """A line of the timeline: terminal, log and report all render this one.

    `waits_for` is a pod after whose deletion the attempt goes on at once, None for none: whoever
    shows the line adds the command, for the run's cluster.
    """

    at: float
    event: str
    message: str
    waits_for: Pod | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """Release the locks and store what is to be remembered.

    `if_lost` is what is to be remembered instead if one of the locks turns out to be lost, None if
    that makes no difference.
    """

    effect_id: int
    closed: Closed
    if_lost: Closed | None = None


Asking = (
    SaveRecord
    | Write
    | Read
    | RemovePod
    | Collect
    | Ask
    | FindUsers
    | FindTerminatingNamespaces
    | Release
)
"""The effects that are answered."""
Effect = Asking | Announce
