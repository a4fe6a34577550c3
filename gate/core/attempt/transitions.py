"""All states of an attempt and every transition between them.

Rule 1: every transition is in `TRANSITIONS`; no other file may hold any. Rule 2: the table does
not know which rollouts, writes or checks there are: `core.states` derives from them at most one
trigger at a time, in a module per state.

Theory of operation
-------------------
An attempt has one or two legs. FORWARD writes the manifest and follows it; BACK restores what
was before and follows that through the same states, so that a rollback is verified by the same
predicate as a rollout. A leg begins with RECORDING: the record names all its writes before the
first is sent. WRITING sends them (`writes.order`). On the way out AWAITING interrupts that where
the next write needs what was written before: a definition to be established, a Job to be complete
(`plan.phases`). FOLLOWING waits for a verdict, and AWAITING, once all workloads are complete, for
the other objects to be ready; BAKING waits for the
window after completion (0 s is legal and still passed through), CONFIRMING for a quorum read
that either confirms the verdict or sends the attempt back to FOLLOWING. A failure that leads back
ends WRITING too, on the way out: if the read does not confirm it, UNWRITTEN leads back to the
writes that are left. INSPECTING reads what the attempt wrote and has not just read, to report what
somebody has changed. Nothing is written in INSPECTING, in CLOSING, which releases the lock, or in
ENDED.

RETREAT is the only way from FORWARD to BACK, and nothing leads from BACK to FORWARD: at most one
rollback. A refused write ends the way out or turns it back; on the way back it is one cause among
others. If two triggers are possible at once, the one nearer to the end is preferred: INTERRUPTED,
LOST, DEPARTED (`states.interference`), then FAILED and RETREAT, then the good ones. A lock known to
be lost to somebody else is DEPARTED even if the budget has ended.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from gate.core.plan.leg import Leg


class State(enum.StrEnum):
    """Where on a leg the attempt is."""

    RECORDING = "recording"
    WRITING = "writing"
    AWAITING = "awaiting"
    FOLLOWING = "following"
    BAKING = "baking"
    CONFIRMING = "confirming"
    INSPECTING = "inspecting"
    CLOSING = "closing"
    ENDED = "ended"


class Trigger(enum.StrEnum):
    """What moves an attempt on."""

    RECORDED = "recorded"
    WRITTEN = "written"
    BLOCKED = "blocked"
    READY = "ready"
    REJECTED = "rejected"
    COMPLETE = "complete"
    UNSETTLED = "unsettled"
    FAILED = "failed"
    BAKED = "baked"
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNWRITTEN = "unwritten"
    RETREAT = "retreat"
    DEPARTED = "departed"
    LOST = "lost"
    INTERRUPTED = "interrupted"
    INSPECTED = "inspected"
    CLOSED = "closed"


Place = tuple[Leg, State]


def _leg(leg: Leg) -> dict[State, dict[Trigger, Place]]:
    """Return the transitions that both legs share."""
    closing, inspecting = (leg, State.CLOSING), (leg, State.INSPECTING)
    always = {Trigger.LOST: closing, Trigger.INTERRUPTED: closing, Trigger.DEPARTED: inspecting}
    return {
        State.RECORDING: {Trigger.RECORDED: (leg, State.WRITING), **always},
        State.WRITING: {Trigger.WRITTEN: (leg, State.FOLLOWING), **always},
        State.FOLLOWING: {
            Trigger.COMPLETE: (leg, State.BAKING),
            Trigger.FAILED: (leg, State.CONFIRMING),
            **always,
        },
        State.BAKING: {
            Trigger.BAKED: (leg, State.CONFIRMING),
            Trigger.UNSETTLED: (leg, State.FOLLOWING),
            Trigger.FAILED: (leg, State.CONFIRMING),
            **always,
        },
        State.CONFIRMING: {
            Trigger.CONFIRMED: inspecting,
            Trigger.REFUTED: (leg, State.FOLLOWING),
            **always,
        },
        State.INSPECTING: {Trigger.INSPECTED: closing},
        State.CLOSING: {Trigger.CLOSED: (leg, State.ENDED)},
        State.ENDED: {},
    }


def _out(table: dict[State, dict[Trigger, Place]]) -> dict[State, dict[Trigger, Place]]:
    """Return the way out: `table`, which both legs share, with what only the way out has.

    That is AWAITING, RETREAT, REJECTED, and a failure that is found before all is written.
    """
    closing, inspecting = (Leg.FORWARD, State.CLOSING), (Leg.FORWARD, State.INSPECTING)
    for state in (State.WRITING, State.FOLLOWING):
        table[state][Trigger.BLOCKED] = (Leg.FORWARD, State.AWAITING)
    table[State.AWAITING] = {
        Trigger.READY: (Leg.FORWARD, State.WRITING),
        Trigger.COMPLETE: (Leg.FORWARD, State.BAKING),
        Trigger.UNSETTLED: (Leg.FORWARD, State.FOLLOWING),
        Trigger.LOST: closing,
        Trigger.INTERRUPTED: closing,
        Trigger.DEPARTED: inspecting,
    }
    for state in (State.WRITING, State.AWAITING):
        table[state][Trigger.REJECTED] = inspecting
        table[state][Trigger.FAILED] = (Leg.FORWARD, State.CONFIRMING)
    writes_may_stand = (
        State.WRITING,
        State.AWAITING,
        State.FOLLOWING,
        State.BAKING,
        State.CONFIRMING,
    )
    for state in writes_may_stand:
        table[state][Trigger.RETREAT] = (Leg.BACK, State.RECORDING)
    table[State.CONFIRMING][Trigger.UNWRITTEN] = (Leg.FORWARD, State.WRITING)
    return {state: table[state] for state in State}


TRANSITIONS: Mapping[Leg, Mapping[State, Mapping[Trigger, Place]]] = {
    Leg.FORWARD: _out(_leg(Leg.FORWARD)),
    Leg.BACK: _leg(Leg.BACK),
}


class IllegalTransition(Exception):
    """A trigger that the table does not have for this state; the attempt is unchanged."""


def after(leg: Leg, state: State, trigger: Trigger) -> Place:
    """Return where `trigger` leads; raise IllegalTransition if the table does not have it."""
    try:
        return TRANSITIONS[leg][state][trigger]
    except KeyError:
        raise IllegalTransition(f"{trigger} has no meaning in {leg}/{state}") from None
