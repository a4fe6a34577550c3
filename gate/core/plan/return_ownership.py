"""The ownership that a way back needs before its apply: one patch of managed fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.plan.plan import PlannedWrite
from gate.core.ssa.field_set import Fields, union
from gate.core.ssa.held_fields import held_fields


def after_take_over(
    write: PlannedWrite,
    after: LiveObject,
    by: str,
    claims: Fields | None,
    *,
    forces: bool,
) -> Iterator[PlannedWrite]:
    """Yield an apply of the way back, after the patch of managed fields that it needs, if any.

    `after` is the object as `by`, a manager of ours, left it: all fields of `by` become those of
    the apply, and so do `claims`, which it must remove. A run that `forces` conflicts also releases
    what others owned at the time of its write and the apply has to change.
    """
    patch: dict[str, Any] = {"claims": claims} if claims is not None else {}
    if by != write.field_manager:
        patch["managers"] = [by]
    if forces:
        released: Fields | None = None
        for held in held_fields(after, write.body, {by, write.field_manager}).values():
            released = union(released, held)
        patch.update({"released": released} if released is not None else {})
    if patch:
        yield PlannedWrite(write.ref, Verb.TAKE_OVER, Body.of(patch))
    yield write
