"""Before the way back takes an object away, or changes it, it asks which other runs use it now.

Another run that applies the very same object changes nothing in it, so the object cannot show it.
So it asks as well who had brought what this attempt found as it applies it, and did not change: the
run that had brought it may have left it to this one to return.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from gate.core.attempt.state import Attempt, Step
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import OtherUse, Target, describe_use
from gate.core.plan.rollback_plan import WrittenObject, find_versions, restore
from gate.core.protocol.effects import FindUsers
from gate.core.protocol.events import UsersFound
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import OnFailure
from gate.core.versions.brought_states import BroughtState


def find_users(attempt: Attempt, verb: Verb) -> Step:
    """Ask who uses what the queue deletes (DELETE) or restores (APPLY), each version once.

    A rollback is also about what stays beside it: who had brought that, and who has it since.
    The attempt is returned unchanged if all that is known.
    """
    lives, states = _list_unasked(attempt, verb), FrozenMap[Ref, LiveObject]()
    is_rollback = attempt.plan.policy.response.on_failure is OnFailure.ROLLBACK
    if verb is Verb.APPLY and is_rollback:
        lives = FrozenMap({**lives, **_list_left_to_others(attempt)})
        states = _list_found_states(attempt)
    if not lives and not states:
        return attempt, ()
    versions = {ref: live.resource_version for ref, live in {**states, **lives}.items()}
    asked = FrozenMap({**attempt.requests.users_asked, **versions})
    attempt = replace(attempt, requests=replace(attempt.requests, users_asked=asked))
    effect_id = attempt.requests.next_id
    if verb is Verb.DELETE:
        effect = FindUsers(effect_id, created=lives)
    else:
        states = FrozenMap({**states, **_list_states_before(attempt, lives)})
        effect = FindUsers(effect_id, changed=lives, states=states)
    return attempt.with_effect(effect), (effect,)


def with_users(attempt: Attempt, found: UsersFound) -> Attempt:
    """Return the attempt that leaves what others use as it is.

    What may be theirs is not deleted: either run may have created it. It is restored, though:
    else a right that is missing would keep all configuration from going back.
    """
    brought = _drop_settled(attempt, found.brought_states)
    used = {**found.used, **dict(_list_staying(attempt, brought))}
    attempt = _with_writes_of_dead_gate(attempt, used)
    left = attempt.ledger.left_to_others
    kept: dict[Ref, OtherUse] = {
        **{ref: Known(why) for ref, why in used.items()},
        **{ref: Unknown(why) for ref, why in found.unknown.items() if ref not in left},
    }
    deleted = {one.ref for one in attempt.writes.queue if one.verb is Verb.DELETE}
    written = {
        ref: replace(one, is_created=Unknown(describe_use(kept[ref])))
        if ref in kept and ref in deleted
        else one
        for ref, one in attempt.ledger.written.items()
    }
    stays = {*used, *(ref for ref in found.unknown if ref in deleted)}
    unreturned = {
        ref: f"does not go back: {why}" for ref, why in used.items() if ref not in deleted
    }
    targets = tuple(_beside_unreturned(one, unreturned) for one in attempt.plan.targets)
    held = FrozenMap({**attempt.plan.held, **kept})
    attempt = replace(
        attempt,
        plan=replace(attempt.plan, held=held, targets=targets),
        ledger=replace(attempt.ledger, written=FrozenMap(written)),
    )
    attempt = _without_writes(attempt, stays)
    for ref, state in brought.items():
        if ref not in used:
            attempt = _with_brought_state(attempt, ref, state)
    return attempt


def _may_return_found(attempt: Attempt) -> bool:
    """Tell whether the way back takes others with it: it restores, or deletes the new versions.

    A dead gate may have begun that. Whatever else stays may need what it was written beside.
    """
    if attempt.plan.target_set.is_set_aside:
        return False
    queue, ledger = attempt.writes.queue, attempt.ledger
    if ledger.restored or any(one.verb is Verb.APPLY for one in queue):
        return True
    gone = {*ledger.deleted, *(one.ref for one in queue if one.verb is Verb.DELETE)}
    changed = [ref for ref, one in ledger.written.items() if one.changed]
    versions = find_versions(attempt.plan, changed)
    return bool(versions) and versions <= gone


def _drop_settled(
    attempt: Attempt, brought_states: Mapping[Ref, BroughtState]
) -> dict[Ref, BroughtState]:
    """Return the states without those of objects that are back, or were left to others."""
    ahead, written = {one.ref for one in attempt.writes.queue}, attempt.ledger.written
    return {
        ref: state
        for ref, state in brought_states.items()
        if ref in ahead or not written[ref].changed
    }


def _list_staying(
    attempt: Attempt, brought_states: Mapping[Ref, BroughtState]
) -> Iterator[tuple[Ref, str]]:
    """Yield what was found as another run had brought it, and stays so; each with the reason."""
    ahead, may_return = {one.ref for one in attempt.writes.queue}, _may_return_found(attempt)
    for ref, state in brought_states.items():
        if ref not in ahead and (state.instead is None or not may_return):
            what = "is not finished needs it" if state.needs else "brought it was not verified"
            yield ref, f"the attempt of {state.lock} that {what}"


def _with_writes_of_dead_gate(attempt: Attempt, refs: Collection[Ref]) -> Attempt:
    """Count what others have changed since a dead gate wrote it, and use, as kept by this attempt.

    A gate that lives finds them out in the same way, and has them among what it wrote.
    """
    ledger, before = attempt.ledger, attempt.plan.before
    theirs = [ref for ref in ledger.left_to_others if ref not in ledger.written]
    found = {ref: before(ref) for ref in theirs if ref in refs}
    if not found:
        return attempt
    kept = {ref: WrittenObject(one, ledger.left[ref].answer) for ref, one in found.items()}
    left = tuple(ref for ref in ledger.left_to_others if ref not in found)
    written = FrozenMap({**ledger.written, **kept})
    return replace(attempt, ledger=replace(ledger, written=written, left_to_others=left))


def _with_brought_state(attempt: Attempt, ref: Ref, state: BroughtState) -> Attempt:
    """Return an object to what another run had found in place of what that one had brought.

    Where that is not known, or what it brought still needed, the object goes back as planned, and
    what serves again beside it is not verified.
    """
    plan, queue = attempt.plan, attempt.writes.queue
    target_set, targets = plan.target_set, plan.targets
    body = None if target_set.is_set_aside else state.instead
    to = _describe_state(state, is_replaced=body is not None)
    target_set = replace(
        target_set, other_run_returns=target_set.other_run_returns.put(ref, CleanText(to))
    )
    if body is None or not state.is_verified:
        targets = tuple(_beside_unreturned(one, {ref: f"goes back to {to}"}) for one in targets)
    if body is not None:
        target_set = replace(target_set, bodies=target_set.bodies.put(ref, body))
        place = next((number for number, one in enumerate(queue) if one.ref == ref), 0)
        others = [one for one in queue if one.ref != ref]
        back = restore(plan, target_set, attempt.ledger.written[ref])
        queue = (*others[:place], *back, *others[place:])
    objects = (replace(one, returned=None) if one.ref == ref else one for one in plan.objects)
    plan = replace(plan, target_set=target_set, targets=targets, objects=tuple(objects))
    return replace(attempt, plan=plan, writes=replace(attempt.writes, queue=queue))


def _describe_state(state: BroughtState, *, is_replaced: bool) -> str:
    """Say what an object goes back to."""
    whose = f"the attempt of {state.lock}"
    if is_replaced:
        return f"what it was before {whose}, which was not verified"
    if state.needs:
        return f"what {whose} that is not finished needs: nothing was verified with it"
    return f"what {whose} wrote: nothing was verified with it"


def _without_writes(attempt: Attempt, refs: Collection[Ref]) -> Attempt:
    """Drop all writes of some objects; what is known of the head's last try goes with it."""
    while attempt.writes.queue and attempt.writes.queue[0].ref in refs:
        attempt = attempt.past_head()
    queue = tuple(write for write in attempt.writes.queue if write.ref not in refs)
    return replace(attempt, writes=replace(attempt.writes, queue=queue))


def _beside_unreturned(target: Target, unreturned: Mapping[Ref, str]) -> Target:
    """Return a target whose version is not verified beside what does not return with it."""
    baseline = target.baseline
    if not unreturned or not isinstance(baseline, Known) or baseline.value.unverified is not None:
        return target
    why = "; ".join(f"{ref} {reason}" for ref, reason in unreturned.items())
    doubt = Cause(Reason.SET_INCOMPLETE, CleanText(why))
    return replace(target, baseline=Known(replace(baseline.value, unverified=doubt)))


def _list_states_before(attempt: Attempt, lives: Collection[Ref]) -> FrozenMap[Ref, LiveObject]:
    """Return what each object was before, of those that the queue returns to that."""
    members, written = attempt.plan.target_set.members, attempt.ledger.written
    before = ((ref, written[ref].before) for ref in lives if ref in written and ref not in members)
    return FrozenMap((ref, state) for ref, state in before if state is not None)


def _list_unasked(attempt: Attempt, verb: Verb) -> FrozenMap[Ref, LiveObject]:
    """Return the live objects to ask about, except for followed workloads, which are locked.

    Cluster-scoped objects are left out, too.
    """
    followed = {target.ref for target in attempt.plan.targets}
    refs = (write.ref for write in attempt.writes.queue if write.verb is verb)
    lives = ((ref, attempt.ledger.live.get(ref)) for ref in refs if ref not in followed)
    asked = attempt.requests.users_asked
    return FrozenMap(
        {
            ref: live
            for ref, live in lives
            if live is not None and ref.namespace and asked.get(ref) != live.resource_version
        }
    )


def _list_found_states(attempt: Attempt) -> FrozenMap[Ref, LiveObject]:
    """Return what the attempt found as it applied it, and none of its workloads was verified with.

    Each once, and nothing that goes back anyway.
    """
    unproven, asked = attempt.plan.target_set.applied.unproven, attempt.requests.users_asked
    ahead = {one.ref for one in attempt.writes.queue}
    written = ((ref, attempt.ledger.written.get(ref)) for ref in unproven if ref.namespace)
    return FrozenMap(
        (ref, one.before)
        for ref, one in written
        if one is not None and one.before is not None and not one.changed
        if ref not in ahead and ref not in asked
    )


def _list_left_to_others(attempt: Attempt) -> FrozenMap[Ref, LiveObject]:
    """Return what others have changed since a dead gate wrote it and was to return; each once."""
    resumed, asked = attempt.plan.resumed, attempt.requests.users_asked
    found = resumed.left_to_others if resumed is not None else {}
    return FrozenMap(
        (ref, fact.value)
        for ref, fact in found.items()
        if ref in attempt.ledger.left_to_others and ref.namespace and ref not in asked
        if isinstance(fact, Known) and attempt.plan.before(ref) is not None
    )
