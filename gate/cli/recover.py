"""`rollout-gate recover [NAME]...`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import names_argument
from gate.config import Settings


@command(names_argument())
def recover(world: World, settings: Settings, names: tuple[str, ...]) -> int:
    """Forward if the new version is complete, back otherwise.

    Back, too, if health checks had still to decide about it and the attempt that was cut off ran
    with on-inconclusive: rollback. Nobody asks them again.

    Where nothing served before, there is nothing to go back to: a first version that was written
    is followed until it is complete or fails, and so is any other whose attempt ran with
    on-failure: keep or pause. A short --timeout makes it fail sooner, and on-first-failure may then
    delete it or scale it to 0. An apply that writes the same workloads again does not wait where
    that failure would change nothing: it closes the attempt as interrupted.

    In a pipeline, let it be the last step, one that always runs. Without a NAME it finishes all
    attempts of the namespace. Safe at any time, and twice.

    The flags of the attempt that was cut off hold on, such as its deadlines; only its budgets can
    be replaced here.
    """
    from gate.app import entry

    return entry.recover(world, settings, names)
