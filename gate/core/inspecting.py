"""The last look: what it reads, what comes of each answer, what it does to the endings.

A Deployment that the confirming read has just read is not read again, nor is one that somebody
else has taken over. What could not be read decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt import Attempt, Step
from gate.core.body import FrozenMap
from gate.core.causes import Cause
from gate.core.effects import Effect, Read
from gate.core.events import LiveObject, ReadBack
from gate.core.fact import Fact, Known, Unknown
from gate.core.last_look import Finding, FindingKind, compare
from gate.core.objects import CleanText, Ref
from gate.core.outcome import Outcome, Reason

_NOT_ANSWERED = Finding(FindingKind.UNREAD, why="the end of the run did not wait for the answer")


def begin_inspection(attempt: Attempt, *, confirmed: bool) -> Step:
    """Read each object that was left, side by side; `confirmed`: all Deployments were just read."""
    read_already = set(attempt.rollouts) if confirmed else set()
    findings = dict(_known_already(attempt, read_already))
    attempt = replace(
        attempt,
        inspecting_since=attempt.now,
        verdict_at=attempt.now,
        outstanding=FrozenMap(),
        queue=(),
        retry=None,
        findings=FrozenMap(findings),
    )
    effects: list[Effect] = []
    for ref in attempt.left:
        if ref not in findings:
            read = Read(attempt.next_id, ref, whole_rollout=False)
            attempt = attempt.with_effect(read)
            effects.append(read)
    return attempt, tuple(effects)


def _known_already(attempt: Attempt, read_already: set[Ref]) -> Iterator[tuple[Ref, Finding]]:
    for ref, left in attempt.left.items():
        live = attempt.live.get(ref)
        if ref in attempt.departures:
            yield ref, _departed(attempt, ref)
        elif ref in read_already and live is not None:
            yield ref, compare(left, Known(live))


def _departed(attempt: Attempt, ref: Ref) -> Finding:
    """Return how a Deployment stands that is somebody else's, by what is known of it."""
    live, left = attempt.live.get(ref), attempt.left[ref]
    if live is None:
        return Finding(FindingKind.DELETED)
    found = compare(left, Known(live))
    if found.kind is not FindingKind.AS_WRITTEN:
        return found
    # The watches told of the change, and no read has shown it.
    gone = attempt.departures[ref].reason is Reason.DELETED
    return Finding(FindingKind.DELETED if gone else FindingKind.CHANGED)


def take_in(attempt: Attempt, ref: Ref, answer: ReadBack, *, stale: bool) -> Attempt:
    """Return the attempt that knows how `ref` stands; `stale` is an answer from before."""
    fact: Fact[LiveObject] = Unknown("the server showed an older state") if stale else answer.fact
    found = compare(attempt.left[ref], fact)
    return replace(attempt, findings=attempt.findings.put(ref, found))


def with_unread(attempt: Attempt) -> Attempt:
    """Return the attempt with a finding for each object that was left, read or not."""
    missing = {ref: _NOT_ANSWERED for ref in attempt.left if ref not in attempt.findings}
    findings = FrozenMap({**attempt.findings, **missing})
    return replace(attempt, findings=findings) if missing else attempt


def with_restorations_checked(attempt: Attempt) -> Attempt:
    """A restoration that the server keeps otherwise than it was sent is no rollback."""
    causes = tuple(_not_restored(attempt))
    whole = attempt.ending
    if whole is None or not causes or whole.outcome not in _GOOD_ON_THE_WAY_BACK:
        return attempt
    whole = replace(whole, outcome=Outcome.ROLLBACK_FAILED, causes=whole.causes + causes)
    endings = {
        ref: replace(one, causes=one.causes + causes) if one.outcome is Outcome.ROLLED_BACK else one
        for ref, one in attempt.endings.items()
    }
    return replace(attempt, ending=whole, endings=FrozenMap(endings))


_GOOD_ON_THE_WAY_BACK = (Outcome.ROLLED_BACK, Outcome.VERIFIED)


def _not_restored(attempt: Attempt) -> Iterator[Cause]:
    for ref, found in attempt.findings.items():
        if found.kind is FindingKind.NOT_AS_SENT and ref in attempt.restored:
            paths = ", ".join(found.paths)
            text = f"{ref}: the server keeps another {paths} than was sent to restore it"
            yield Cause(Reason.NOT_RESTORED, CleanText(text))
