"""The one value that the phases of a command share, from the connection to the end of its run."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import field, replace

from gate.app.locks.command_locks import look_at_locks, take_locks
from gate.app.locks.keeper import Keeper
from gate.app.locks.memory import Memory, MemorySnapshot
from gate.app.locks.tasks import LockLane
from gate.app.runtime.command_start import CommandStart, ends_at_signal
from gate.app.runtime.console import Console
from gate.app.runtime.session import Session, open_session
from gate.app.runtime.tape import Tape
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.frozen import dataclass
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref


@dataclass(frozen=True, slots=True)
class CommandContext:
    """A command that is connected to its cluster.

    `keeper` holds its locks, None for a command without locks; `memory` is what locks remember of
    its workloads. `lock_lane` serves the locks of an attempt. `tape` records the run if asked
    for.
    """

    world: World
    settings: Settings
    console: Console
    session: Session
    keeper: Keeper | None = None
    memory: Memory = field(default_factory=MemorySnapshot)
    lock_lane: LockLane | None = None
    tape: Tape | None = None

    def ends_at_signal(self) -> AbstractContextManager[None]:
        """Return a block that a first signal ends at once: nothing in it writes an object."""
        return ends_at_signal(self.world, self.console)

    def with_locks(self, locks: Iterable[Lock], *, recovers: bool = False) -> CommandContext:
        """Take locks and hold them until the end of the session; raises what `take_locks` does."""
        keeper = take_locks(
            self.session, self.settings, self.console, self.world, locks, recovers=recovers
        )
        return self if keeper is None else replace(self, keeper=keeper, memory=keeper)

    def with_memory_of(self, refs: Iterable[Ref]) -> CommandContext:
        """Read what the locks of workloads remember, each once, without taking them."""
        memory = look_at_locks(self.session, self.settings, self.console, refs, self.memory)
        return replace(self, memory=memory)

    def with_lock_lane(self) -> CommandContext:
        """Let the locks, if there are any, answer this session's inbox from now on.

        The lane of an earlier attempt under the same locks gets no answers any more.
        """
        if self.keeper is None:
            return self
        return replace(self, lock_lane=self.keeper.lane(self.session.inbox))


def connect(start: CommandStart, tape: Tape | None = None) -> CommandContext:
    """Open the session of a command, until its end; sends nothing."""
    on_answer = tape.on_answer if tape is not None else None
    session = open_session(start.world, start.settings, start.stack, start.console, on_answer)
    return CommandContext(start.world, start.settings, start.console, session, tape=tape)
