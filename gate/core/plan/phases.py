"""The phases of the way out: what is written and awaited before the rest, and what after it.

A manifest is written in the order of application. Two things change that: a workload of another
phase than the rest, and an object that others cannot do without (`needs` of a write). A write is
sent once everything that it needs is ready; until then the attempt is AWAITING.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Final

from gate.core.model.objects import Ref


class Phase(enum.StrEnum):
    """When a workload is written, and what waits for it.

    `BEFORE`: whatever comes behind it in the order of application is written once it is complete.
    `AFTER`: it is written last, once all workloads before it are complete.
    """

    BEFORE = "before"
    MAIN = "main"
    AFTER = "after"


NO_NEEDS: Final[Mapping[Ref, tuple[Ref, ...]]] = {}


def order_by_phase(
    refs: Iterable[Ref], phases: Mapping[Ref, Phase], own: Mapping[Ref, tuple[Ref, ...]]
) -> tuple[Ref, ...]:
    """Return `refs`, in the order of application, with the workloads of the phase `AFTER` last.

    `phases` has the workloads that are followed. What an object needs (`own`) comes before it.
    """
    ordered: dict[Ref, None] = {}
    known = dict.fromkeys(refs)
    for ref in known:
        ordered.update(dict.fromkeys(needed for needed in own.get(ref, ()) if needed in known))
        ordered[ref] = None
    return tuple(sorted(ordered, key=lambda ref: phases.get(ref) is Phase.AFTER))


def find_needs(
    refs: Iterable[Ref], phases: Mapping[Ref, Phase], own: Mapping[Ref, tuple[Ref, ...]]
) -> dict[Ref, tuple[Ref, ...]]:
    """Return what has to be complete or ready before each of `refs` is written, in their order.

    `own` are needs of an object that no phase gives it, as a custom resource needs its definition.
    An object that is not among `refs` ahead of the one that needs it is not waited for.
    """
    needs: dict[Ref, tuple[Ref, ...]] = {}
    for ref in refs:
        wanted = set(own.get(ref, ()))
        is_last = phases.get(ref) is Phase.AFTER
        needs[ref] = tuple(
            earlier
            for earlier in needs
            if earlier in wanted or _holds_up(phases.get(earlier), is_last=is_last)
        )
    return needs


def _holds_up(phase: Phase | None, *, is_last: bool) -> bool:
    """Tell whether a workload of that phase, None for another object, holds up what follows it."""
    return phase is Phase.BEFORE or (is_last and phase is not None)
