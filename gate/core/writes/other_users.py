"""Before the way back takes an object away, or changes it, it asks which other runs use it now.

Another run that applies the very same object changes nothing in it, so the object cannot show it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from gate.core.attempt.state import Attempt, Step
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known, Unknown
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import OtherUse, Target, describe_use
from gate.core.plan.rollback_plan import restore
from gate.core.protocol.effects import FindUsers
from gate.core.protocol.events import UsersFound
from gate.core.rollout.causes import Cause
from gate.core.versions.brought_states import BroughtState


def find_users(attempt: Attempt, verb: Verb) -> Step:
    """Ask who uses what the queue deletes (DELETE) or restores (APPLY), each version once.

    The attempt is returned unchanged if all that is known.
    """
    lives = _list_unasked(attempt, verb)
    if not lives:
        return attempt, ()
    versions = {ref: live.resource_version for ref, live in lives.items()}
    asked = FrozenMap({**attempt.requests.users_asked, **versions})
    attempt = replace(attempt, requests=replace(attempt.requests, users_asked=asked))
    effect_id = attempt.requests.next_id
    if verb is Verb.DELETE:
        effect = FindUsers(effect_id, created=lives)
    else:
        effect = FindUsers(effect_id, changed=lives, states=_list_states_before(attempt, lives))
    return attempt.with_effect(effect), (effect,)


def with_users(attempt: Attempt, found: UsersFound) -> Attempt:
    """Return the attempt that leaves what others use as it is.

    What may be theirs is not deleted: either run may have created it. It is restored, though:
    else a right that is missing would keep all configuration from going back.
    """
    kept: dict[Ref, OtherUse] = {
        **{ref: Known(why) for ref, why in found.used.items()},
        **{ref: Unknown(why) for ref, why in found.unknown.items()},
    }
    deleted = {one.ref for one in attempt.writes.queue if one.verb is Verb.DELETE}
    written = {
        ref: replace(one, is_created=Unknown(describe_use(kept[ref])))
        if ref in kept and ref in deleted
        else one
        for ref, one in attempt.ledger.written.items()
    }
    stays = {*found.used, *(ref for ref in found.unknown if ref in deleted)}
    unreturned = {
        ref: f"does not go back: {why}" for ref, why in found.used.items() if ref not in deleted
    }
    targets = tuple(_beside_unreturned(one, unreturned) for one in attempt.plan.targets)
    held = FrozenMap({**attempt.plan.held, **kept})
    attempt = replace(
        attempt,
        plan=replace(attempt.plan, held=held, targets=targets),
        ledger=replace(attempt.ledger, written=FrozenMap(written)),
    )
    attempt = _without_writes(attempt, stays)
    for ref, state in found.brought_states.items():
        attempt = _with_brought_state(attempt, ref, state)
    return attempt


def _with_brought_state(attempt: Attempt, ref: Ref, state: BroughtState) -> Attempt:
    """Return an object to what another run had found in place of what that one had brought.

    Where that is not known, or what it brought still needed, the object goes back as planned, and
    what serves again beside it is not verified.
    """
    plan, queue = attempt.plan, attempt.writes.queue
    if all(one.ref != ref for one in queue):
        return attempt
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
        place = next(number for number, one in enumerate(queue) if one.ref == ref)
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
        return f"what {whose} that is not finished wrote: nothing was verified with it"
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
