"""Folds the answer to a read: the object's latest state, and what it shows of a rollout."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.limits import RETRY_SECONDS
from gate.core.attempt.parts import Rejection
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import kind_of
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read
from gate.core.protocol.events import ReadBack
from gate.core.rollout.observations import Kind, Listed, Observed
from gate.core.rollout.snapshot import older
from gate.core.states.unblocking import mark_reread
from gate.core.writes.way_out import refused_for_good

Facts = tuple[Observed | Listed, ...]
"""The observations that an answer contains."""


def fold_read(attempt: Attempt, effect: Read, answer: ReadBack) -> tuple[Attempt, Facts]:
    """Return the attempt after an answered read; a stale or missing answer is asked for again."""
    match answer.fact:
        case Known(live) if not is_stale(attempt, live):
            attempt = replace(
                attempt,
                ledger=replace(attempt.ledger, live=attempt.ledger.live.put(effect.ref, live)),
            )
            if answer.tried is not None:
                plan = attempt.plan.with_returned(effect.ref, answer.tried)
                attempt = replace(attempt, plan=plan)
            return _decidable(attempt, effect), _facts(attempt.now, answer, live)
        case Absent():
            attempt = replace(
                attempt, ledger=replace(attempt.ledger, live=attempt.ledger.live.drop(effect.ref))
            )
            nothing = Listed(attempt.now, Kind(effect.ref.kind), effect.ref, ())
            return _decidable(attempt, effect), (nothing,)
        case _ if effect.ref in attempt.interference.departures:
            return attempt, ()
        case _ if (refusal := _find_refusal(attempt, effect)) is not None:
            return refused_for_good(attempt, refusal), ()
        case _:
            later, why = attempt.now + RETRY_SECONDS, _why_unreadable(answer.fact)
            return replace(
                attempt,
                requests=replace(attempt.requests, unread=True, unreadable=why, not_before=later),
            ), ()


def _why_unreadable(fact: Fact[LiveObject]) -> str:
    why = fact.why if isinstance(fact, Unknown) else "the server showed an older state"
    return why or "it was not answered"


def _find_refusal(attempt: Attempt, effect: Read) -> Rejection | None:
    """Return the refusal of a write on the way out that this read was to explain, None if none."""
    retry, queue = attempt.writes.retry, attempt.writes.queue
    is_about_head = bool(queue) and queue[0].ref == effect.ref
    if attempt.course.leg is not Leg.FORWARD or retry is None or not is_about_head:
        return None
    return retry.refused


def is_stale(attempt: Attempt, live: LiveObject) -> bool:
    """Tell whether a read is older than the state already known: the server lags behind."""
    known = attempt.ledger.live.get(live.ref)
    if known is None or known.uid != live.uid:
        return False
    return older(live.resource_version, known.resource_version)


def _decidable(attempt: Attempt, effect: Read) -> Attempt:
    """Mark the write that waited for this read as ready to be decided again."""
    attempt = replace(attempt, requests=replace(attempt.requests, unreadable=""))
    if effect.whole_rollout:
        attempt = mark_reread(attempt, effect.ref)
    retry = attempt.writes.retry
    if retry is None or not attempt.writes.queue or attempt.writes.queue[0].ref != effect.ref:
        return attempt
    tried = retry.tried or effect.tries is not None
    retry = replace(retry, read=True, tried=tried)
    return replace(attempt, writes=replace(attempt.writes, retry=retry))


def _facts(at: float, answer: ReadBack, live: LiveObject) -> Facts:
    facts: list[Observed | Listed] = []
    if live.workload is not None:
        facts.append(Observed(at, live.workload))
    kind = kind_of(live.ref) if live.workload is not None else None
    if answer.revisions is not None and kind is not None and kind.revision_kind != kind.name:
        facts.append(Listed(at, kind.revision_kind, live.ref, answer.revisions))
    if answer.pods is not None:
        facts.append(Listed(at, Kind.POD, live.ref, answer.pods))
    if answer.nodes:
        facts.append(Listed(at, Kind.NODE, live.ref, answer.nodes))
    return tuple(facts)
