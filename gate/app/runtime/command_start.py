"""What a command begins with, before it has connected to anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from gate import signals
from gate.app.runtime.console import Console
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.frozen import dataclass
from gate.errors import GateError


@dataclass(frozen=True, slots=True)
class CommandStart:
    """The world, the settings and the console of one command.

    What stays open until the end of the command goes on the `stack`.
    """

    world: World
    settings: Settings
    console: Console
    stack: ExitStack

    def ends_at_signal(self) -> AbstractContextManager[None]:
        """Return a block that a first signal ends at once: nothing in it writes an object."""
        return ends_at_signal(self.world, self.console)


@contextmanager
def ends_at_signal(world: World, console: Console) -> Iterator[None]:
    """Raise `Signalled` at the first signal, for the block.

    Whatever ends the block is marked if the command has finished an earlier attempt before it.
    """
    try:
        with signals.raise_at_signal(world.delivered):
            yield
    except (GateError, signals.Signalled) as error:
        error.after_recovery = console.has_recovered
        raise
