"""`rollout-gate history NAME`."""

from __future__ import annotations

from gate.app.runtime.world import World
from gate.cli.command import command
from gate.cli.names import name_argument
from gate.config import Settings


@command(name_argument())
def history(world: World, settings: Settings, name: str) -> int:
    """Newest first: the images, change cause and verdict of each, and how old its ReplicaSet is.

    A StatefulSet or DaemonSet has a ControllerRevision in place of that. A version that comes back
    keeps its own: AGE says when it was first there, and not since when it runs. VERDICT says when
    it was judged last, of the last few versions: the workload's lock remembers those.

    At the end of a line, current is what the live template asks for, running the same where no
    other version has pods, serving what has ready pods. A version that is
    left by an undo is one that an undo went back from: no later one returns to it by itself.
    """
    from gate.app import entry

    return entry.history(world, settings, name)
