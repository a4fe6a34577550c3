"""What our own apply returned, and whether it still stands."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from gate.core import fields
from gate.core.body import Body
from gate.core.objects import Deployment, Template


@dataclass(frozen=True, slots=True)
class Applied:
    """What our own apply returned, or what `verify` found.

    `owned` is the FieldsV1 tree under `spec.template` that our manager owned in that answer,
    None where managed fields are not known. `at` is monotonic seconds of the write, or of when it
    was `found` as somebody else's.
    """

    uid: str
    generation: int
    template: Template
    owned: Body | None
    at: float
    new_template: bool
    spec_changed: bool
    found: bool = False

    def still_stands(self, live: Deployment) -> bool:
        """Tell whether what our apply set in `spec.template` is still there.

        Additions by others do not count; where managed fields are not known, the whole template
        has to be ours.
        """
        if live.template.body == self.template.body:
            return True
        if self.owned is None:
            return False
        return _still_holds(self.template.body, self.owned, live.template.body)


@functools.lru_cache(maxsize=64)
def _still_holds(ours: Body, owned: Body, live: Body) -> bool:
    """Compare once for each template: every verdict asks, and templates rarely change."""
    return fields.still_holds(ours.thaw(), owned.thaw(), live.thaw())
