"""What has to hold in each state and at each step: S1 to S4, S6 to S13 and L1 to L3.

Stated over the model cluster and over what was sent, never over what the core thinks: the core is
what is on trial.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.field_manager import Verb
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import RemovePod, Write
from gate.core.rollout.deadlines import CONDITION_ROUNDING_SECONDS
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.progress import CONDITION_LAG_SECONDS
from gate.core.steps.step import wake_at
from gate.core.writes.order import answers_lost
from tests.model import cluster as rules
from tests.model import configuration, shown
from tests.model.cluster import name_of
from tests.model.configuration import KEYS, SETTINGS, THEIRS
from tests.model.serving import wanted_by
from tests.model.stepping import alive, deciding
from tests.model.world import WANTED, Flight, Stepped, World

SPARE_SECONDS = 10.0
"""What the budgets may be exceeded by in all."""
INTERRUPTED_SECONDS = 5.0
"""From a signal to the end."""


def wrong(before: World, stepped: Stepped) -> Iterator[str]:
    """Iterate what is wrong with a move and the world after it, each with its invariant's name."""
    after = stepped.world
    yield from _asked(before, stepped)
    if stepped.done is not None:
        yield from _took_effect(before, after, stepped.done)
    attempt = after.attempt
    if attempt is None:
        return
    if before.attempt is not None and before.number == after.number:
        yield from _turned(before, attempt)
    if attempt.result.verdict_at is not None and deciding(before) is not None:
        yield from _concluded(after, attempt)
    if attempt.course.state in _LOOKED and _is_looking(before):
        yield from _configuration_at_end(after, attempt)
    if not attempt.ended:
        yield from _lasts(attempt)
    elif alive(before) is not None:
        yield from _kept_uncertain(after, attempt)


_LOOKED = (State.CLOSING, State.ENDED)
"""The states behind the last look."""


def _is_looking(world: World) -> bool:
    return world.attempt is not None and world.attempt.course.state not in _LOOKED


def wrong_at_rest(world: World) -> Iterator[str]:
    """Iterate what is wrong with a world in which nothing will happen any more by itself."""
    attempt = world.attempt
    if alive(world) is not None:
        yield "L1: it waits for ever"
    elif attempt is not None and not (world.books.others or world.books.trouble):
        yield from _came_to_rest(world, attempt)


def _asked(before: World, stepped: Stepped) -> Iterator[str]:
    """Hold what is sent in a move to what allows it."""
    for effect in stepped.asked:
        if isinstance(effect, Write):
            yield from _sent(before, stepped.world, effect)
        if isinstance(effect, RemovePod):
            yield from _removes(before, stepped.world, effect)


# -- writes ----------------------------------------------------------------------------------------


def _sent(before: World, after: World, write: Write) -> Iterator[str]:
    """Hold a write to what allows it at the moment when it is sent."""
    attempt, books = after.attempt, after.books
    assert attempt is not None
    if before.attempt is not None and before.attempt.result.verdict_at is not None:
        yield "S7: a write after the verdict"
    if write.ref not in [planned.ref for planned in attempt.plan.objects]:
        yield f"S6: a write of {write.ref}, which is in no manifest"
    if books.taken:
        yield "S2: a write after the lock was taken"
    if attempt.course.leg is Leg.FORWARD and books.refused:
        yield "S10: a write forward after one was refused"
    still_fails = books.failed and rules.is_crashing(before.cluster, WANTED)
    if attempt.course.leg is Leg.FORWARD and still_fails:
        yield "S10: a write forward after a read has shown that what was written fails"
    ref = shown.ref_of(before.cluster)
    if before.attempt is not None and ref in before.attempt.interference.departures:
        yield "S10: a write after the Deployment was known to be somebody else's"
    if books.record_leg != attempt.course.leg.value:
        yield "L2: a write that no record stands for"
    yield from _needed(before, after, write)
    yield from _beside_others(attempt)
    if attempt.course.leg is Leg.BACK and write.verb is Verb.APPLY and write.ref != SETTINGS:
        image = wanted_by(write).image
        if image != books.served:
            yield f"S4: a rollback to {image}, but {books.served or 'nothing'} served before"


def _beside_others(attempt: Attempt) -> Iterator[str]:
    """Hold writes to their order: one at a time, or of one kind, back and after a signal."""
    refs = [one.ref for one in attempt.requests.outstanding.values() if isinstance(one, Write)]
    is_signalled = attempt.interference.signal_number is not None
    side_by_side = attempt.course.leg is Leg.BACK and is_signalled
    if len(refs) > (len({ref.name for ref in refs}) if side_by_side else 1):
        yield "S7: a write beside another one"
    if len({ref.kind for ref in refs}) > 1:
        yield "S7: writes of two kinds at once"


def _removes(before: World, after: World, effect: RemovePod) -> Iterator[str]:
    """Hold the removal of a pod to what was read last, by the rule of the model's own."""
    attempt, books = after.attempt, after.books
    assert attempt is not None
    if before.attempt is not None and before.attempt.result.verdict_at is not None:
        yield "S7: a pod is removed after the verdict"
    if books.taken:
        yield "S2: a pod is removed after the lock was taken"
    own = effect.uid.partition("-of-")[0].rpartition("-")[0]
    if effect.uid != books.blocking and own == name_of(before.cluster.template):
        yield "S13: a pod of the version that is to run is removed"
    elif effect.uid != books.blocking:
        yield "S13: a pod is removed that does not block, by what was read last"
    removals = [one for one in attempt.requests.outstanding.values() if isinstance(one, RemovePod)]
    if len(removals) > 1:
        yield "S13: two pods are removed at once"
    record = after.lease.record
    removed = [pod.uid for one in record.followed for pod in one.removed] if record else []
    if effect.uid not in removed:
        yield "L2: a pod is removed that no record names"


def _needed(before: World, after: World, write: Write) -> Iterator[str]:
    """Hold a write of the way out to what it needs, unless somebody else has meddled with that."""
    attempt, books = after.attempt, after.books
    assert attempt is not None
    needs = attempt.plan.needs_of(write.ref) if attempt.course.leg is Leg.FORWARD else ()
    is_needed = shown.ref_of(before.cluster) in needs
    if not is_needed or books.others or rules.was_ready(before.cluster, WANTED):
        return
    yield f"S12: a write of {write.ref} before the Deployment that it needs was complete"


def _kept_uncertain(world: World, attempt: Attempt) -> Iterator[str]:
    """Hold the report to the writes of which nobody knows whether they were done."""
    uncertain = {str(ref) for ref in answers_lost(attempt)}
    for name in world.books.lost:
        if name not in uncertain:
            yield f"S11: nobody is told that the answer to a write of {name} was lost"


def _took_effect(before: World, after: World, flight: Flight) -> Iterator[str]:
    """Hold a write to what it changed at the server."""
    if flight.write.ref == SETTINGS:
        yield from _configured(before, after, flight)
        return
    cluster, books = before.cluster, before.books
    if after.books.back > 1 and flight.write.verb is Verb.APPLY:
        yield "S3: a second rollback of one attempt"
    if after.books.out > 1 and not flight.back and cluster.uid:
        yield "S3: a second revision of one attempt"
    if flight.number != before.number:
        return
    image = cluster.template.image
    if flight.back and image != WANTED:
        yield f"S2: a rollback over somebody else's {image or 'deletion'}"
    if not flight.back and image not in (WANTED, books.found.image):
        yield f"S2: an apply over somebody else's {image or 'deletion'}"


def _configured(before: World, after: World, flight: Flight) -> Iterator[str]:
    """Hold a write of the ConfigMap to the key that somebody else has changed or removed."""
    was, is_now = before.settings, after.settings
    assert was is not None
    assert is_now is not None
    set_by_others = was.level.value == THEIRS
    removed_by_others = flight.back and not was.level.value
    if (set_by_others or removed_by_others) and is_now.level.value != was.level.value:
        yield "S9: a write over somebody else's key of the ConfigMap"


def _configuration_at_end(world: World, attempt: Attempt) -> Iterator[str]:
    """Hold the ConfigMap to the version that runs: each key but what others set.

    Where the Deployment came not to be written, it goes back to what was found. A late write that
    is done after the last look at the ConfigMap is nobody's to know.
    """
    ends = (Outcome.VERIFIED, Outcome.ROLLED_BACK)
    if world.settings is None or attempt.outcome not in ends or world.books.unseen:
        return
    back = attempt.outcome is Outcome.ROLLED_BACK
    was_written = world.books.out or world.books.back
    before = world.books.returned if was_written else world.books.settings
    for name, was, value in zip(KEYS, before, configuration.values(world.settings), strict=True):
        wanted = was if back else WANTED
        if value != wanted and (name == "mode" or value not in (THEIRS, "")):
            yield f"S9: it ended {attempt.outcome}, and key {name} is that of {value or 'nobody'}"


def _turned(world: World, after: Attempt) -> Iterator[str]:
    before = world.attempt
    assert before is not None
    if before.course.leg is Leg.BACK and after.course.leg is Leg.FORWARD:
        yield "S3: it went forward again"
    if before.course.leg is Leg.FORWARD and after.course.leg is Leg.BACK:
        yield from _called_late(world, after)


def _called_late(world: World, attempt: Attempt) -> Iterator[str]:
    """Hold a rollback for want of progress to the time in which anybody could have seen some.

    Of blind time a progress deadline counts for the version, no more.
    """
    before = world.attempt
    assert before is not None
    blind_seconds = min(world.books.blind_seconds, float(shown.DEADLINE_SECONDS))
    seen_seconds = attempt.course.leg_at - before.course.leg_at - blind_seconds
    for failure in attempt.result.failures.values():
        by_the_total = failure.message.startswith("not complete")
        if failure.reason is not Reason.PROGRESS_DEADLINE_EXCEEDED or by_the_total:
            continue
        own_clock = failure.message.startswith("no progress")
        beyond = CONDITION_LAG_SECONDS if own_clock else -CONDITION_ROUNDING_SECONDS
        if world.cluster.ordered:  # which has no condition to wait for
            beyond = 0.0
        if seen_seconds < shown.DEADLINE_SECONDS + beyond:
            yield f"S8: late after {seen_seconds:g} s in sight, with {blind_seconds:g} s blind"


# -- time ------------------------------------------------------------------------------------------


def _lasts(attempt: Attempt) -> Iterator[str]:
    """Hold an attempt that runs to its bounds, and to being woken."""
    policy = attempt.plan.policy
    began_at = (
        attempt.course.started_at
        if attempt.writes.first_sent_at is None
        else attempt.writes.first_sent_at
    )
    budgets = (
        policy.budgets.timeout_seconds,
        policy.budgets.bake_seconds,
        policy.budgets.rollback_timeout_seconds,
    )
    ends_at = began_at + sum(seconds or 0.0 for seconds in budgets) + SPARE_SECONDS
    if attempt.now > ends_at:
        yield f"L1: it runs {attempt.now - ends_at:g} s longer than it may"
    if attempt.now > attempt.interference.interrupted_at + INTERRUPTED_SECONDS:
        yield "L1: it runs on after a signal"
    if math.isinf(wake_at(attempt)):
        yield "L1: nobody will wake it"


# -- the end ---------------------------------------------------------------------------------------


def _concluded(world: World, attempt: Attempt) -> Iterator[str]:
    """Hold the outcome to what the cluster is at that moment, and to what was done.

    A refusal need not know of a write that is done after the gate has stopped waiting for it, nor
    of one that somebody else has undone meanwhile. Where what ran did not serve and came not to be
    written, its configuration is what goes back.
    """
    books, outcome = world.books, attempt.outcome
    runs_new = world.cluster.template.image == WANTED
    there_was = books.out or books.back or books.meddled or books.configured
    back_to_nothing = not (books.found.image or world.cluster.uid)
    as_before = books.meddled and world.cluster.template == books.found
    was_deleted = not world.cluster.uid and books.back > 0
    untrue = {
        Outcome.VERIFIED: books.read != WANTED,
        Outcome.ROLLED_BACK: not (books.served and there_was and books.read == books.served)
        and not (back_to_nothing or _is_as_found(world)),
        Outcome.REFUSED: books.out + books.back > books.late and not as_before,
        Outcome.SUPERSEDED: not (books.meddled or books.others),
        Outcome.FAILED: not (runs_new or was_deleted or books.others or books.meddled),
        Outcome.ROLLBACK_FAILED: attempt.course.leg is not Leg.BACK,
        Outcome.LOST_CONTACT: not books.trouble,
        Outcome.INTERRUPTED: attempt.interference.signal_number is None,
    }
    if untrue.get(outcome, True):
        ran = rules.serves(world.cluster) or "nothing whole"
        said = (
            f"{outcome} ({attempt.result.ending.reason})" if attempt.result.ending else f"{outcome}"
        )
        yield f"S1: it ended {said}, but {books.read or 'nothing'} was read and {ran} runs"


def _came_to_rest(world: World, attempt: Attempt) -> Iterator[str]:
    """Hold a run in which nobody else wrote, and no trouble lasted, to where it had to end."""
    name = "L2" if world.number > 1 else "L3"
    runs, books = rules.serves(world.cluster), world.books
    match attempt.outcome:
        case Outcome.VERIFIED if runs != WANTED:
            yield f"{name}: verified, and {runs or 'nothing whole'} runs in the end"
        case Outcome.ROLLED_BACK if runs != books.served and not _is_as_found(world):
            yield f"{name}: rolled back, and {runs or 'nothing whole'} runs in the end"
        case Outcome.VERIFIED | Outcome.ROLLED_BACK | Outcome.INTERRUPTED:
            return
        case Outcome.FAILED if books.served in ("", WANTED) or not _goes_back(attempt):
            return
        case outcome:
            yield f"{name}: it ended {outcome}, and nobody is to blame"


def _is_as_found(world: World) -> bool:
    """Tell whether a Deployment that did not serve, or not with all pods, was never written by us.

    It is as it was found then, or as somebody else has made it since.
    """
    books = world.books
    served = bool(books.served) and books.found.image == books.served and not books.trouble
    is_untouched = not (books.out or books.back or served)
    return is_untouched and (books.meddled or world.cluster.template == books.found)


def _goes_back(attempt: Attempt) -> bool:
    return attempt.plan.policy.response.on_failure is OnFailure.ROLLBACK
