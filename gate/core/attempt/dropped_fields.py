"""The fields outside a pod template that a way back leaves as they are live."""

from __future__ import annotations

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText


@dataclass(frozen=True, slots=True)
class DroppedFields:
    """Paths of fields, as the way back of one object leaves them.

    `theirs` are as others have them. `unfit` did not return since the server refused them beside
    what others have changed; `refusal` is what it said.
    """

    theirs: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    refusal: CleanText = CleanText("")
