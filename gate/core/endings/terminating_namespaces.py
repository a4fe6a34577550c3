"""Namespaces that somebody deletes in mid-flight: whatever runs there at the end goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt, Step
from gate.core.endings.lock_ending import SERVING, promises_to_run
from gate.core.endings.rollback_ending import causes_behind
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import EXIT_CODES, Outcome, Reason
from gate.core.protocol.effects import Announce, FindTerminatingNamespaces


def find_terminating_namespaces(attempt: Attempt) -> Step:
    """Ask which namespaces go of what the attempt wrote, and of what somebody deleted.

    A run that succeeded asks nothing: what it verified was so, and a request would delay its end.
    Nor does one that a signal ends: it has little time.
    """
    whole, is_signalled = attempt.result.ending, attempt.interference.signal_number is not None
    if is_signalled or (whole is not None and EXIT_CODES[whole.outcome] == 0):
        return attempt, ()
    gone = (ref for ref, one in attempt.result.endings.items() if one.reason is Reason.DELETED)
    names = {ref.namespace for ref in (*attempt.ledger.left, *gone)} - {""}
    if not names:
        return attempt, ()
    effect = FindTerminatingNamespaces(attempt.requests.next_id, tuple(sorted(names)))
    return attempt.with_effect(effect), (effect,)


def with_terminating_namespaces(attempt: Attempt) -> tuple[Attempt, tuple[Announce, ...]]:
    """Return the attempt, superseded where what it says of a workload cannot last, and says so.

    That is somebody else's change, which has only not reached all objects yet. A failure that was
    seen stays one, and so does what is said of a run none of whose workloads goes.
    """
    whole, terminating = attempt.result.ending, attempt.workloads.terminating_namespaces
    endings = {
        ref: _end(attempt, ref, one)
        for ref, one in attempt.result.endings.items()
        if ref.namespace in terminating and promises_to_run(ref, one)
    }
    if whole is None or not endings:
        return attempt, ()
    lines = (f"{attempt.plan.name_of(ref)}: {one.message}" for ref, one in endings.items())
    said = tuple(attempt.say("superseded", line) for line in lines)
    result = replace(attempt.result, endings=FrozenMap({**attempt.result.endings, **endings}))
    if whole.outcome in SERVING:
        first = next(iter(endings.values()))
        result = replace(result, ending=first, judged=first)
    return replace(attempt, result=result), said


def _end(attempt: Attempt, ref: Ref, ending: Ending) -> Ending:
    causes = causes_behind(attempt, ref) if ending.outcome is Outcome.ROLLED_BACK else ()
    message = CleanText(say_namespace_goes(ref.namespace))
    return Ending(Outcome.SUPERSEDED, Reason.DELETED, message, causes)


def describe_terminating_namespaces(attempt: Attempt) -> Iterator[str]:
    """Yield a line for each namespace that goes, unless an ending in it says so."""
    endings = attempt.result.endings.items()
    said = {ref.namespace for ref, one in endings if one.reason is Reason.DELETED}
    for name in sorted(attempt.workloads.terminating_namespaces - said):
        yield say_namespace_goes(name)


def say_namespace_goes(name: str) -> str:
    """Say what becomes of all that is in a namespace."""
    return f"somebody deleted namespace {name}, and everything in it goes with it"
