"""The reads that a state asks for, beside those of the writes and of the last look."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gate.core.attempt.state import Attempt, Step
from gate.core.model.objects import Ref
from gate.core.protocol.effects import Effect, Read


def read_all(
    attempt: Attempt, refs: Iterable[Ref], *, whole_rollout: bool = True, again: bool = False
) -> Step:
    """Read `refs`, whatever the watches say, except those that are being read already.

    With `again` those too: the answer that is awaited may be older than what a watch brought since.
    """
    under_way = {
        effect.ref for effect in attempt.requests.outstanding.values() if isinstance(effect, Read)
    }
    effects: list[Effect] = []
    for ref in refs:
        if again or ref not in under_way:
            read = Read(attempt.requests.next_id, ref, whole_rollout)
            attempt = attempt.with_effect(read)
            effects.append(read)
    return attempt, tuple(effects)


def awaits_read(attempt: Attempt, refs: Collection[Ref]) -> bool:
    """Tell whether a read of any of `refs` is outstanding."""
    return any(
        isinstance(effect, Read) and effect.ref in refs
        for effect in attempt.requests.outstanding.values()
    )
