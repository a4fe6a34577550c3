"""INSPECTING: what was written and not just read is read once more, to report what changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt import limits
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.endings.conclusion import with_endings
from gate.core.endings.last_reads import begin_inspection, take_in, with_late_write
from gate.core.endings.terminating_namespaces import find_terminating_namespaces
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.protocol.effects import FindTerminatingNamespaces, Read
from gate.core.protocol.events import ReadBack
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.late_writes import find_open_writes, is_written_late
from gate.core.states.read_answers import Facts, is_stale
from gate.core.states.verdicts import Verdicts


class Inspecting(StateBehaviour):
    """Waits for the last look, unless a signal came; the verdict stands either way."""

    is_final = True

    def enter(self, attempt: Attempt, trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Decide the endings, then read what was not just read, or may have been written late.

        Their namespaces are read beside it.
        """
        confirmed = trigger is Trigger.CONFIRMED
        attempt = with_endings(attempt, trigger)
        open_writes = find_open_writes(attempt)
        just_read = _find_just_read(attempt, open_writes) if confirmed else ()
        unread = tuple(ref for ref in open_writes if ref not in just_read)
        attempt, reads = begin_inspection(attempt, unread, confirmed=confirmed)
        for ref in just_read:
            if is_written_late(attempt, ref, Known(attempt.ledger.live[ref])):
                attempt = with_late_write(attempt, ref)
        attempt, asked = find_terminating_namespaces(attempt)
        return attempt, (*reads, *asked)

    def next_trigger(self, attempt: Attempt, _verdicts: Verdicts) -> Trigger | None:
        """Go on once all reads are answered, their time is up, or a signal came."""
        interrupted = attempt.interference.signal_number is not None
        is_awaited = attempt.awaits(Read) or attempt.awaits(FindTerminatingNamespaces)
        over = attempt.now >= _ends_at(attempt) or not is_awaited
        return Trigger.INSPECTED if interrupted or over else None

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield when the reads are no longer waited for."""
        yield _ends_at(attempt)

    def fold_read(self, attempt: Attempt, effect: Read, answer: ReadBack) -> tuple[Attempt, Facts]:
        """Keep what was found; it is no observation, since no verdict may change any more."""
        if effect.ref not in attempt.ledger.left:
            is_done = is_written_late(attempt, effect.ref, answer.fact)
            return (with_late_write(attempt, effect.ref) if is_done else attempt), ()
        live = answer.fact.value if isinstance(answer.fact, Known) else None
        stale = live is not None and is_stale(attempt, live)
        attempt = take_in(attempt, effect.ref, answer, stale=stale)
        if live is None or stale:
            return attempt, ()
        seen = attempt.ledger.live.put(effect.ref, live)
        return replace(attempt, ledger=replace(attempt.ledger, live=seen)), ()


def _find_just_read(attempt: Attempt, refs: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """Return which of `refs` the confirmation of the verdict has read."""
    followed = attempt.workloads.rollouts.keys() - attempt.interference.departures.keys()
    return tuple(ref for ref in refs if ref in followed and ref in attempt.ledger.live)


def _ends_at(attempt: Attempt) -> float:
    """Return when the last look stops waiting for answers, monotonic seconds."""
    since = attempt.course.inspecting_since
    return min(since + limits.INSPECTION_SECONDS, attempt.gives_up_at)
