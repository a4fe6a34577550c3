"""Everything that may happen next, in the order by which a course names its choices."""

from __future__ import annotations

from tests.model.course import usual
from tests.model.deviations import deviations
from tests.model.stepping import Move
from tests.model.world import Scene, World


def moves(world: World, scene: Scene) -> list[Move]:
    """Return all moves, the usual course first; what deviates comes after what may pass by itself.

    Empty where nothing may happen any more.
    """
    return [*usual(world, scene), *deviations(world, scene)]
