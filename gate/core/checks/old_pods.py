"""The pods of the old version by their names: those as young as new ones, and the others."""

from __future__ import annotations

from typing import Final

from gate.core.frozen import dataclass

FRESH_SECONDS: Final = 60.0
"""A fresh old pod was created at most so long before or after a pod of the new version."""


@dataclass(frozen=True, slots=True)
class OldPods:
    """The old version's pods as they are known now: names where fresh ones are compared with.

    `are_there` is whether there is any that is compared with, False also where nobody looked.
    """

    fresh: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    are_there: bool = False

    def after(self, now: OldPods) -> OldPods:
        """Return them with those that are gone: what a fresh pod counted last is still read.

        A name goes to the pod that has it now.
        """
        return OldPods(now.fresh | (self.fresh - now.others), now.others, now.are_there)


NO_OLD_PODS: Final = OldPods()
