"""The last look: what it reads, how each answer is taken in, how it changes the endings.

A workload that was read for the verdict is not read again. What could not be read decides
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.last_look import Finding, FindingKind, compare
from gate.core.attempt.limits import EVIDENCE_SECONDS
from gate.core.attempt.state import Attempt, Step
from gate.core.endings.rollback_ending import failure_behind
from gate.core.endings.unwritten import LANDED_LATE, RAN_LATE
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import TAKEN_OVER, Outcome, Reason
from gate.core.protocol.effects import Effect, Read
from gate.core.protocol.events import ReadBack
from gate.core.rollout.causes import Cause
from gate.core.writes.order import without_writes

_CHANGED = Finding(FindingKind.CHANGED)
_GONE = Finding(FindingKind.DELETED)
_NOT_ANSWERED = Finding(FindingKind.UNREAD, why="the end of the run did not wait for the answer")


def begin_inspection(attempt: Attempt, also: Iterable[Ref] = (), *, confirmed: bool) -> Step:
    """Read each object that was left, and `also` others, side by side.

    `confirmed`: all workloads were just read.
    """
    findings = dict(_known_already(attempt, confirmed=confirmed))
    attempt = without_writes(attempt)
    attempt = replace(
        attempt,
        course=replace(attempt.course, inspecting_since=attempt.now),
        result=replace(attempt.result, verdict_at=attempt.now),
        ledger=replace(attempt.ledger, findings=FrozenMap(findings)),
    )
    effects: list[Effect] = []
    for ref in (*attempt.ledger.left, *also):
        if ref not in findings:
            read = Read(attempt.requests.next_id, ref, whole_rollout=False)
            attempt = attempt.with_effect(read)
            effects.append(read)
    return attempt, tuple(effects)


def _known_already(attempt: Attempt, *, confirmed: bool) -> Iterator[tuple[Ref, Finding]]:
    """Yield the findings on workloads that were read a moment ago."""
    taken, rollouts = attempt.interference.departures, attempt.workloads.rollouts
    # Of what others took over before a recovery began the ledger has the state before the attempt.
    found_taken = attempt.plan.resumed.departed if attempt.plan.resumed is not None else {}
    was_awaited = attempt.now >= attempt.interference.departed_at + EVIDENCE_SECONDS
    for ref, left in attempt.ledger.left.items():
        live = attempt.ledger.live.get(ref)
        if live is None or ref in found_taken:
            continue
        if _is_taken_over(attempt, ref):
            found = compare(left, Known(live))
            if found.kind is not FindingKind.AS_WRITTEN:
                yield ref, found
            elif was_awaited:
                # If nobody could say in time who changed it, that is not asked again.
                yield ref, _CHANGED
        elif confirmed and ref not in taken and ref in rollouts:
            yield ref, compare(left, Known(live))


def take_in(attempt: Attempt, ref: Ref, answer: ReadBack, *, stale: bool) -> Attempt:
    """Return the attempt with the finding on `ref`; a `stale` answer shows an older state."""
    fact: Fact[LiveObject] = Unknown("the server showed an older state") if stale else answer.fact
    found = compare(attempt.ledger.left[ref], fact)
    if found.kind in (FindingKind.AS_WRITTEN, FindingKind.UNREAD) and _is_taken_over(attempt, ref):
        # What a watch has shown stands, also where nobody can say who did it.
        found = _CHANGED
    return replace(
        attempt, ledger=replace(attempt.ledger, findings=attempt.ledger.findings.put(ref, found))
    )


def with_late_write(attempt: Attempt, ref: Ref) -> Attempt:
    """Return the attempt with the finding that a write of `ref` was done after all."""
    found = attempt.ledger.findings.put(ref, Finding(FindingKind.WRITTEN_LATE))
    return replace(attempt, ledger=replace(attempt.ledger, findings=found))


def with_unread(attempt: Attempt) -> Attempt:
    """Return the attempt with a finding for every object that it left; UNREAD without an answer."""
    missing = {
        ref: _find_last_known(attempt, ref)
        for ref in attempt.ledger.left
        if ref not in attempt.ledger.findings
    }
    findings = FrozenMap({**attempt.ledger.findings, **missing})
    return (
        replace(attempt, ledger=replace(attempt.ledger, findings=findings)) if missing else attempt
    )


def _find_last_known(attempt: Attempt, ref: Ref) -> Finding:
    """Return what is known of an object without a last look at it.

    What a dead gate created and is to have deleted has no uid: nobody else need have done that.
    """
    if _is_taken_over(attempt, ref):
        return _CHANGED
    ledger = attempt.ledger
    written = ledger.written.get(ref)
    was_there = written is not None and written.after.uid and ref not in ledger.deleted
    return _GONE if was_there and ref not in ledger.live else _NOT_ANSWERED


def _is_taken_over(attempt: Attempt, ref: Ref) -> bool:
    departure = attempt.interference.departures.get(ref)
    return departure is not None and departure.reason in TAKEN_OVER


def with_recreations(attempt: Attempt) -> Attempt:
    """Return the attempt whose endings say which deleted workloads exist again."""
    again = {
        ref: replace(ending, message=_say_recreated(ref))
        for ref, ending in attempt.result.endings.items()
        if ending.reason is Reason.DELETED and _is_recreated(attempt, ref)
    }
    whole, judged = attempt.result.ending, attempt.result.judged
    if whole is None or judged is None or not again:
        return attempt
    of_judged = next((ref for ref in again if attempt.result.endings[ref] == judged), None)
    if of_judged is not None:
        said = _say_recreated(of_judged)
        whole, judged = (replace(one, message=said) for one in (whole, judged))
    endings = FrozenMap({**attempt.result.endings, **again})
    result = replace(attempt.result, endings=endings, ending=whole, judged=judged)
    return replace(attempt, result=result)


def _say_recreated(ref: Ref) -> CleanText:
    return CleanText(f"the {ref.kind} was deleted and created again")


def _is_recreated(attempt: Attempt, ref: Ref) -> bool:
    found = attempt.ledger.findings.get(ref)
    return found is not None and found.kind is FindingKind.RECREATED


def with_deletions_checked(attempt: Attempt) -> Attempt:
    """Return the attempt as failed for each workload that was to be gone, and whose pods run on."""
    held = {
        ref: replace(ending, outcome=Outcome.FAILED)
        for ref, ending in attempt.result.endings.items()
        if ending.outcome is Outcome.ROLLED_BACK and _is_going(attempt, ref)
    }
    whole = attempt.result.ending
    if whole is None or whole.outcome is not Outcome.ROLLED_BACK or not held:
        return attempt
    whole = replace(whole, outcome=Outcome.FAILED)
    endings = FrozenMap({**attempt.result.endings, **held})
    result = replace(attempt.result, endings=endings, ending=whole, judged=whole)
    return replace(attempt, result=result)


def _is_going(attempt: Attempt, ref: Ref) -> bool:
    found = attempt.ledger.findings.get(ref)
    is_there = found is not None and found.kind is FindingKind.BEING_DELETED
    return is_there and ref in attempt.ledger.deleted


def with_restorations_checked(attempt: Attempt) -> Attempt:
    """Return the attempt with a failed rollback if not all is as it was to be.

    The server keeps other values than were sent, or has done a write that nobody could take back.
    """
    attempt = _with_late_endings(attempt)
    causes = (*_not_restored(attempt), *_written_late(attempt))
    whole = attempt.result.ending
    if whole is None or not causes or whole.outcome not in _GOOD_ON_THE_WAY_BACK:
        return attempt
    whole = replace(whole, outcome=Outcome.ROLLBACK_FAILED, causes=whole.causes + causes)
    endings = {
        ref: replace(one, outcome=_outcome_of(attempt, ref), causes=one.causes + causes)
        if one.outcome is Outcome.ROLLED_BACK
        else one
        for ref, one in attempt.result.endings.items()
    }
    result = replace(attempt.result, endings=FrozenMap(endings), ending=whole, judged=whole)
    return replace(attempt, result=result)


def _outcome_of(attempt: Attempt, ref: Ref) -> Outcome:
    """Return how the way back of a workload ended that runs: to what was sent, or not."""
    is_back = not _is_kept_otherwise(attempt, ref)
    return Outcome.ROLLED_BACK if is_back else Outcome.ROLLBACK_FAILED


def _is_kept_otherwise(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the server keeps what was restored with other values than were sent."""
    found = attempt.ledger.findings.get(ref)
    is_other = found is not None and found.kind is FindingKind.NOT_AS_SENT
    return is_other and ref in attempt.ledger.restored


_GOOD_ON_THE_WAY_BACK = (Outcome.ROLLED_BACK, Outcome.VERIFIED)


def _with_late_endings(attempt: Attempt) -> Attempt:
    """Return the attempt with a failed rollback of each workload that was written late.

    If all else went well, or what looked like somebody else's change was that write, it decides.
    """
    late = {
        ref: _end_late(attempt, ref) for ref in attempt.result.endings if _is_late(attempt, ref)
    }
    whole = attempt.result.ending
    if whole is None or not late:
        return attempt
    endings = FrozenMap({**attempt.result.endings, **late})
    taken = [ref for ref, one in endings.items() if one.outcome is Outcome.SUPERSEDED]
    judged = attempt.result.judged
    if whole.outcome is Outcome.SUPERSEDED and not taken:
        whole = judged = next(iter(late.values()))
    result = replace(attempt.result, endings=endings, ending=whole, judged=judged)
    return replace(attempt, result=result)


def _is_late(attempt: Attempt, ref: Ref) -> bool:
    found = attempt.ledger.findings.get(ref)
    return found is not None and found.kind is FindingKind.WRITTEN_LATE


def _end_late(attempt: Attempt, ref: Ref) -> Ending:
    failure, text = failure_behind(attempt, ref), CleanText(_describe_late(ref))
    return replace(failure, outcome=Outcome.ROLLBACK_FAILED, message=text)


def _describe_late(ref: Ref) -> str:
    """Say what became of a write that was done late; of a Job all stays that it does."""
    return LANDED_LATE if has_way_back(ref) else RAN_LATE


def _not_restored(attempt: Attempt) -> Iterator[Cause]:
    for ref, found in attempt.ledger.findings.items():
        if _is_kept_otherwise(attempt, ref):
            paths = ", ".join(found.paths)
            name = attempt.plan.name_of(ref)
            text = f"{name}: the server keeps another {paths} than was sent to restore it"
            yield Cause(Reason.NOT_RESTORED, CleanText(text))


def _written_late(attempt: Attempt) -> Iterator[Cause]:
    for ref in attempt.ledger.findings:
        if _is_late(attempt, ref):
            text = f"{attempt.plan.name_of(ref)}: {_describe_late(ref)}"
            yield Cause(Reason.NOT_RESTORED, CleanText(text))
