"""The pods of the old version by their names: those as young as new ones, and the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FRESH_SECONDS: Final = 60.0
"""A fresh old pod was created at most so long before or after a pod of the new version."""


@dataclass(frozen=True, slots=True)
class OldPods:
    """The names of the old version's pods as they are known now."""

    fresh: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def after(self, now: OldPods) -> OldPods:
        """Return them with those that are gone: what a fresh pod counted last is still read.

        A name goes to the pod that has it now.
        """
        return OldPods(now.fresh | (self.fresh - now.others), now.others)


NO_OLD_PODS: Final = OldPods()
