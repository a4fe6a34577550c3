"""Asks the server what a restoration leaves, where what is live may be that, as admission set it.

A restoration is tried by force: who owns what is live is compared as well.
"""

from __future__ import annotations

from dataclasses import replace

from gate.app.runtime.session import Session
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import ReadBack
from gate.core.recovery.returned_otherwise import is_returned, list_doubtful
from gate.kube.answers.failures import ApiError
from gate.kube.reads.quorum_reads import Reader
from gate.kube.writes.writes import Writer
from gate.side_by_side import each


def read_and_try(reader: Reader, writer: Writer, effect: Read) -> ReadBack:
    """Read an object, and try what the read is to try where the object is still there."""
    answer = reader.perform(effect)
    if effect.tries is None or not isinstance(answer.fact, Known):
        return answer
    return replace(answer, tried=_try(writer, effect.tries))


def find_returned(session: Session, plan: Plan, found: LiveFacts) -> dict[Ref, LiveObject]:
    """Return the workloads that a recovery would leave to others and that the dead gate returned.

    The server's answer to the restoration comes with each; one without an answer shows nothing.
    """
    lives = ((head, found[head.ref]) for head in list_doubtful(plan))
    doubtful = [(head, fact.value) for head, fact in lives if isinstance(fact, Known)]
    writer = Writer(session.client, session.resources, session.clock)
    tries = [
        Write(0, head.ref, head.verb, head.body, live.uid, None, head.field_manager)
        for head, live in doubtful
    ]
    answers = each(session.clock, lambda one: _try(writer, one), tries)
    return {
        head.ref: answer
        for (head, live), answer in zip(doubtful, answers, strict=True)
        if answer is not None and is_returned(plan, head, live, answer)
    }


def _try(writer: Writer, restoration: Write) -> LiveObject | None:
    """Return what the server would make of a restoration, None where it does not say."""
    try:
        return writer.dry_run(replace(restoration, force=True))
    except ApiError:
        return None
