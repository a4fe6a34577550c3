"""The state of the model: cluster, attempt, what is under way between them, and what has happened.

One value for each; a search visits them. `Books` holds what an invariant has to remember and
neither cluster nor attempt does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

from gate.core.attempt.state import Attempt
from gate.core.model.outcome import Outcome
from gate.core.plan.record import Record
from gate.core.protocol.effects import Effect, Write
from gate.core.protocol.events import AttemptEvent
from gate.core.rollout.policy import Policy
from gate.core.versions.history import Closed, History
from tests.model.cluster import READY, Cluster, Template
from tests.model.configuration import Settings

KEPT: Final = "v0"
"""A bad version that an attempt before the first has left standing."""
BEFORE: Final = "v1"
WANTED: Final = "v2"
THEIRS: Final = "v3"
"""What serves before the first attempt, what each attempt applies, what somebody else does."""
REPLICAS: Final = 2
MOST_ATTEMPTS: Final = 3
"""A rollout, what finishes it where its gate died, and the rollout again."""
RESUMABLE: Final = frozenset({Outcome.INTERRUPTED, Outcome.LOST_CONTACT, Outcome.ROLLBACK_FAILED})
"""Ends after which the pipeline is run again, as after a death."""


class Fate(NamedTuple):
    """What the pods of an image become by themselves, from starting on."""

    image: str
    phase: int


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a search begins: whether a version serves, what becomes of pods, by which policy.

    `configured` is whether the manifest has a ConfigMap, too; `configured_last` that it is written
    after the Deployment, whose answer comes once its pods are what they become; `configured_once`
    that it is written once the Deployment is complete, which it needs. `kept` is whether
    an attempt has left a version standing that crashes, with its configuration, after one that was
    verified. `ordered` is whether the workload is a StatefulSet.
    """

    name: str
    policy: Policy
    served: bool = True
    fates: tuple[Fate, ...] = ()
    configured: bool = False
    configured_last: bool = False
    configured_once: bool = False
    kept: bool = False
    ordered: bool = False

    def fate(self, image: str) -> int:
        """Return what the pods of an image become: ready, unless the scene says otherwise."""
        return next((fate.phase for fate in self.fates if fate.image == image), READY)


class Flight(NamedTuple):
    """A write on its way: `answer` is None until the server has done or refused it.

    `back` is whether its leg was the way back, `number` that of its attempt. `late` is one that
    the gate has stopped waiting for, and that the server may do yet.
    """

    write: Write
    back: bool
    number: int
    answer: AttemptEvent | None = None
    late: bool = False


class Books(NamedTuple):
    """What happened that neither the cluster nor the attempt tells.

    Of the present attempt: `found` is the template that was there before it, `served` the image
    that served then. `record_leg` is the leg whose record stands. `out` and `back` count the writes
    that had an effect, `late` is whether one of them had it after the gate had stopped waiting.
    `read` is what was complete when all was read last, "" for nothing, `blind_seconds` how long the
    server was away for a while. `configured` is whether the ConfigMap was written, `settings` the
    values of its keys before, `returned` those that go back with the Deployment. `meddled` is
    whether somebody else changed the template or the Deployment itself, `taken` whether the lock
    was taken. `refused` is whether a write of the way out was, `failed` whether the latest read
    shows pods of it that crash, `lost` the objects whose last write has no answer, and that were
    not read since. `unseen` is whether the ConfigMap was written after the verdict by a write that
    nobody waits for, and not read since. `blocking` is the uid of the pod at which the controller
    stopped when all was read last, "" for none.

    Of the whole run: `others` is whether anybody else wrote at all, `trouble` whether the server,
    the controllers or the baseline gave some that no gate can make up for.
    """

    found: Template = Template("")
    served: str = ""
    record_leg: str = ""
    out: int = 0
    back: int = 0
    read: str = ""
    blind_seconds: float = 0.0
    late: bool = False
    configured: bool = False
    settings: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    meddled: bool = False
    taken: bool = False
    refused: bool = False
    failed: bool = False
    lost: tuple[str, ...] = ()
    unseen: bool = False
    blocking: str = ""
    others: bool = False
    trouble: bool = False


class Lease(NamedTuple):
    """What the lock's Lease keeps: the record of an attempt that is left open, and the history.

    Its holder and its expiry are no part of the model: who takes over has waited for them.
    """

    record: Record | None = None
    history: History = History()

    def saved(self, record: Record) -> Lease:
        """Return the Lease with the record of an attempt's leg."""
        return self._replace(record=record)

    def released(self, closed: Closed) -> Lease:
        """Return the Lease after an orderly end."""
        record, history = self.record if closed.left_open else None, self.history
        for closing in closed.workloads:
            history = history.after(closing, "", "", "")
        return Lease(record, history)


class World(NamedTuple):
    """Everything; `attempt` None is that no gate runs, `number` how many have begun.

    `back_at` is when an API server that is away for a while is back, infinite while it is not
    away: until then nothing is answered, and nobody writes.

    `deaf` are effects whose answers never come, `evicted` evictions that are done and that nobody
    was told of yet. `again` is when the pipeline is run again: "" not at all, "soon" before the
    cluster goes on, "late" after it has come to rest. `past` is the cluster before the attempt's
    latest write: what a server that lags behind still shows. `settings` is the ConfigMap beside the
    workload, where the scene has one.
    """

    cluster: Cluster
    attempt: Attempt | None = None
    number: int = 0
    flights: tuple[Flight, ...] = ()
    deaf: tuple[int, ...] = ()
    evicted: tuple[int, ...] = ()
    contact: bool = True
    controlling: bool = True
    watching: bool = True
    back_at: float = math.inf
    again: str = "soon"
    past: Cluster | None = None
    lease: Lease = Lease()
    books: Books = Books()
    settings: Settings | None = None

    @property
    def is_away(self) -> bool:
        """Whether the API server is away for a while."""
        return self.back_at < math.inf


class Stepped(NamedTuple):
    """A world after a move: what the attempt asked for in it, and the write that the server did."""

    world: World
    asked: tuple[Effect, ...] = ()
    done: Flight | None = None
