"""What its kind says of a workload beside its verdict, as values and as warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.report.document.versions import latest_snapshot, latest_snapshot_of_run
from gate.report.schema.result import RemarkResult
from gate.wire.untrusted import clean_line

_MOST_NAMED = 5
_MOST_IN_FULL = 3


def workload_remarks(attempt: Attempt, ref: Ref) -> list[RemarkResult]:
    """Return what is to be known of a workload as it was seen last."""
    snapshot = latest_snapshot(attempt, ref)
    if snapshot is None or snapshot.live is None:
        return []
    found = snapshot.kind.remarks(snapshot, snapshot.live)
    return [{"message": one.text, "about": list(map(clean_line, one.about))} for one in found]


def lasting_effect(attempt: Attempt, ref: Ref) -> str:
    """Return what of a workload no rollback takes back, "" if there is nothing of that kind."""
    snapshot = latest_snapshot_of_run(attempt, ref)
    if snapshot is None or snapshot.live is None:
        return ""
    effect = clean_line(snapshot.kind.lasting_effect(snapshot, snapshot.live))
    return f"what is left of {effect}" if effect and _lost_claims(attempt, ref) else effect


def lost_data(attempt: Attempt) -> Iterator[str]:
    """Yield, for each workload that the attempt scaled down, which claims that has deleted."""
    for ref in (target.ref for target in attempt.plan.targets):
        claims = _lost_claims(attempt, ref)
        if claims:
            name, its = attempt.plan.name_of(ref), "its" if len(claims) == 1 else "their"
            claim = "claim" if len(claims) == 1 else "claims"
            named = ", ".join(_name_in_rows(claims))
            yield f"{name}: scaling it down deleted the {claim} {named}: {its} data is gone"


def _name_in_rows(claims: Iterable[str]) -> Iterator[str]:
    """Yield the names of claims, of many with neighbouring numbers the first and the last."""
    for stem, group in groupby(claims, key=_stem):
        names = list(group)
        numbers = [int(name.rpartition("-")[2]) for name in names]
        is_row = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        if is_row and len(names) > _MOST_IN_FULL:
            names = [f"{stem}-{numbers[0]} to {stem}-{numbers[-1]}"]
        yield from map(clean_line, names)


def _lost_claims(attempt: Attempt, ref: Ref) -> list[str]:
    """Return the claims that went with pods as a workload was scaled down, by their templates.

    The controller makes a pod that is to go the owner of its claims first
    (`UpdatePodClaimForRetentionPolicy`); what was no pod then keeps its claims.
    """
    before, written = attempt.plan.before(ref), attempt.ledger.written.get(ref)
    old = before.workload if before is not None else None
    new = written.after.workload if written is not None else None
    if old is None or new is None or not new.loses_by_scaling_down:
        return []
    kept, gone = new.claims_of_pods, _find_gone_pods(attempt, ref)
    owned = old.claims_of_pods.items()
    lost = [one for pod, claims in owned if pod in gone and pod not in kept for one in claims]
    return sorted(lost, key=_stem)


def _find_gone_pods(attempt: Attempt, ref: Ref) -> set[str]:
    """Return the pods from before the write that went, or began to, on either leg."""
    forward = attempt.workloads.followed_before.get(ref)
    seen = [latest_snapshot(attempt, ref), None if forward is None else forward.snapshot]
    gone = set()
    for uid, track in attempt.plan.target(ref).snapshot.pods.items():
        later = [one.pods.get(uid) for one in seen if one is not None]
        if any(found is None or found.pod.deleting for found in later):
            gone.add(track.pod.name)
    return gone


def _stem(claim: str) -> str:
    return claim.rpartition("-")[0]


def workload_warnings(attempt: Attempt) -> Iterator[str]:
    """Yield the remarks on all workloads, and what stays of those that went back."""
    name = attempt.plan.name_of
    for target in attempt.plan.targets:
        for remark in workload_remarks(attempt, target.ref):
            about = remark["about"]
            more = f" and {len(about) - _MOST_NAMED} more" if len(about) > _MOST_NAMED else ""
            named = f": {', '.join(about[:_MOST_NAMED])}{more}" if about else ""
            yield f"{name(target.ref)}: {remark['message']}{named}"
        written = attempt.ledger.written.get(target.ref)
        went_back = attempt.course.leg is Leg.BACK and written is not None and written.changed
        effect = lasting_effect(attempt, target.ref) if went_back else ""
        if effect:
            yield f"{name(target.ref)}: {effect} stays as it is: no rollback takes that back"
