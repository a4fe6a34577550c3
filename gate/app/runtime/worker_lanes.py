"""Worker lanes: each performs effects from its queue, one by one, and puts answers into the inbox.

The read of each rollout, evidence and each check have lanes of their own, so that a slow log or
query never delays a verdict. Many rollouts that are read at once are read together. Writes share
a few, and so do reads of single objects; the core decides which of them may be under way at the
same time (`gate.core.writes.order`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from queue import SimpleQueue

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import (
    Ask,
    Asking,
    Collect,
    FindTerminatingNamespaces,
    FindUsers,
    Read,
    Release,
    RemovePod,
    SaveRecord,
    Write,
)
from gate.core.protocol.events import Answer, Recorded, Released
from gate.engine import Broken, Inbox
from gate.kube.reads.quorum_reads import MOST_READ_SINGLY

WRITE_LANES = 16
"""How many writes are under way at most; only after a signal is it more than one at a time."""
OBJECT_LANES = 8
"""How many objects are read at once; the last look may have hundreds to read."""


_Work = Asking | tuple[Read, ...]
"""What a lane performs next: an effect, or rollouts that are read together."""


@dataclass(frozen=True, slots=True)
class Performers:
    """What performs each kind of effect and returns its answer."""

    write: Callable[[Write], Answer]
    remove_pod: Callable[[RemovePod], Answer]
    read: Callable[[Read], Answer]
    read_together: Callable[[Sequence[Read]], Iterable[Answer]]
    collect: Callable[[Collect], Answer]
    ask: Callable[[Ask], Answer]
    find_users: Callable[[FindUsers], Answer]
    find_terminating_namespaces: Callable[[FindTerminatingNamespaces], Answer]


class Lanes:
    """Dispatches effects to daemon threads.

    An exception in a lane is a bug: it goes to the inbox as `Broken`, in the answer's place.
    """

    def __init__(self, clock: Clock, inbox: Inbox, performers: Performers) -> None:
        """Take what performs the effects; nothing runs before the first dispatch."""
        self._clock = clock
        self._inbox = inbox
        self._performers = performers
        self._lanes: dict[str, SimpleQueue[_Work | None]] = {}
        self._sent: dict[Ref, Leg] = {}
        self._asked: dict[str, int] = {}

    @property
    def sent(self) -> Mapping[Ref, Leg]:
        """Return the objects that a write was dispatched for, in order, with its latest leg."""
        return dict(self._sent)

    def dispatch(self, *effects: Asking) -> None:
        """Queue effects; their answers come through the inbox."""
        rollouts: dict[tuple[str, str], list[Read]] = {}
        for effect in effects:
            if isinstance(effect, Read) and effect.whole_rollout:
                alike = rollouts.setdefault((effect.ref.kind, effect.ref.namespace), [])
                alike.append(effect)
            else:
                self._dispatch(effect)
        for (kind, namespace), reads in rollouts.items():
            if len(reads) > MOST_READ_SINGLY:
                self._lane(f"read all {kind} in {namespace}").put(tuple(reads))
                continue
            for read in reads:
                self._lane(f"read {read.ref}").put(read)

    def _dispatch(self, effect: Asking) -> None:
        match effect:
            case SaveRecord():
                self._inbox.put(Recorded(self._clock.now(), effect.effect_id))
            case Release():
                self._inbox.put(Released(self._clock.now(), effect.effect_id))
            case Write():
                self._sent[effect.ref] = effect.leg
                self._lane(f"write {effect.effect_id % WRITE_LANES}").put(effect)
            case RemovePod():
                self._sent.setdefault(effect.workload, Leg.FORWARD)
                self._lane("remove pod").put(effect)
            case Read():
                self._lane(f"read object {effect.effect_id % OBJECT_LANES}").put(effect)
            case Collect():
                self._lane("collect").put(effect)
            case FindUsers():
                self._lane("users").put(effect)
            case FindTerminatingNamespaces():
                self._lane("namespaces").put(effect)
            case Ask(check=check):
                self._asked[check] = effect.effect_id
                self._lane(f"check {check}").put(effect)

    def stop(self) -> None:
        """Let each lane end after its current effect; does not wait for them."""
        for lane in self._lanes.values():
            lane.put(None)

    def _lane(self, name: str) -> SimpleQueue[_Work | None]:
        if name not in self._lanes:
            queue: SimpleQueue[_Work | None] = SimpleQueue()
            self._lanes[name] = queue
            self._clock.start(partial(self._work, queue), name)
        return self._lanes[name]

    def _work(self, queue: SimpleQueue[_Work | None]) -> None:
        while (work := self._clock.receive(queue)) is not None:
            try:
                if isinstance(work, tuple):
                    for answer in self._performers.read_together(work):
                        self._inbox.put(answer)
                elif not self._is_replaced(work):
                    self._inbox.put(self._perform(work))
            except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
                self._inbox.put(Broken(error))

    def _is_replaced(self, effect: Asking) -> bool:
        """Tell whether its check was asked again since, by a window that begins again."""
        return isinstance(effect, Ask) and self._asked[effect.check] != effect.effect_id

    def _perform(self, effect: Asking) -> Answer:
        match effect:
            case Write():
                return self._performers.write(effect)
            case RemovePod():
                return self._performers.remove_pod(effect)
            case Read():
                return self._performers.read(effect)
            case Collect():
                return self._performers.collect(effect)
            case Ask():
                return self._performers.ask(effect)
            case FindUsers():
                return self._performers.find_users(effect)
            case FindTerminatingNamespaces():
                return self._performers.find_terminating_namespaces(effect)
            case _:
                raise TypeError(f"no lane performs {type(effect).__name__}")
