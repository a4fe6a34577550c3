"""Worker lanes: each performs effects from its queue, one by one, and puts answers into the inbox.

The read of each rollout, evidence and each check have lanes of their own, so that a slow log or
query never delays a verdict. Writes and reads of single objects share a few; the core decides which
of them may be under way at the same time (`gate.core.writes.order`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

from gate.clock import Clock
from gate.core.model.objects import Ref
from gate.core.protocol.effects import (
    Ask,
    Asking,
    Collect,
    FindUsers,
    Read,
    Release,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import Answer, Recorded, Released
from gate.engine import Broken, Inbox

WRITE_LANES = 16
"""How many writes are under way at most; only after a signal is it more than one at a time."""
OBJECT_LANES = 8
"""How many objects are read at once; the last look may have hundreds to read."""


@dataclass(frozen=True, slots=True)
class Performers:
    """What performs each kind of effect and returns its answer."""

    write: Callable[[Write], Answer]
    read: Callable[[Read], Answer]
    collect: Callable[[Collect], Answer]
    ask: Callable[[Ask], Answer]
    find_users: Callable[[FindUsers], Answer]


class Lanes:
    """Dispatches effects to daemon threads.

    An exception in a lane is a bug: it goes to the inbox as `Broken`, in the answer's place.
    """

    def __init__(self, clock: Clock, inbox: Inbox, performers: Performers) -> None:
        """Take what performs the effects; nothing runs before the first dispatch."""
        self._clock = clock
        self._inbox = inbox
        self._performers = performers
        self._lanes: dict[str, SimpleQueue[Asking | None]] = {}
        self._sent: dict[Ref, None] = {}

    @property
    def sent(self) -> tuple[Ref, ...]:
        """Return the objects that a write was dispatched for, in order."""
        return tuple(self._sent)

    def dispatch(self, effect: Asking) -> None:
        """Queue an effect; its answer comes through the inbox."""
        match effect:
            case SaveRecord():
                self._inbox.put(Recorded(self._clock.now(), effect.effect_id))
            case Release():
                self._inbox.put(Released(self._clock.now(), effect.effect_id))
            case Write():
                self._sent[effect.ref] = None
                self._lane(f"write {effect.effect_id % WRITE_LANES}").put(effect)
            case Read(whole_rollout=True):
                self._lane(f"read {effect.ref}").put(effect)
            case Read():
                self._lane(f"read object {effect.effect_id % OBJECT_LANES}").put(effect)
            case Collect():
                self._lane("collect").put(effect)
            case FindUsers():
                self._lane("users").put(effect)
            case Ask(check=check):
                self._lane(f"check {check}").put(effect)

    def stop(self) -> None:
        """Let each lane end after its current effect; does not wait for them."""
        for lane in self._lanes.values():
            lane.put(None)

    def _lane(self, name: str) -> SimpleQueue[Asking | None]:
        if name not in self._lanes:
            queue: SimpleQueue[Asking | None] = SimpleQueue()
            self._lanes[name] = queue
            self._clock.start(partial(self._work, queue), name)
        return self._lanes[name]

    def _work(self, queue: SimpleQueue[Asking | None]) -> None:
        while (effect := self._clock.receive(queue)) is not None:
            try:
                self._inbox.put(self._perform(effect))
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
                self._inbox.put(Broken(error))

    def _perform(self, effect: Asking) -> Answer:
        match effect:
            case Write():
                return self._performers.write(effect)
            case Read():
                return self._performers.read(effect)
            case Collect():
                return self._performers.collect(effect)
            case Ask():
                return self._performers.ask(effect)
            case FindUsers():
                return self._performers.find_users(effect)
            case _:
                raise TypeError(f"no lane performs {type(effect).__name__}")
