"""Two recoveries at once of one attempt that its gate left open: the real core, and a lock.

Each recovery has a world of its own, with its attempt and what is under way for it; cluster and
Lease are the same in both. Who may take the lock is asked of `gate.core.model.lock_holder`; the
Lease's resourceVersion is compared as the server does it. One killed gate, or both, may be dead;
a write of a dead one may still arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple, TypeVar

from gate.core.model import lock_holder as holders
from gate.core.model.lock_holder import Holder, Process, Sighting
from gate.core.model.outcome import Outcome
from gate.core.protocol.effects import Release, Write
from gate.core.protocol.events import LeaseLost, Released
from gate.core.steps.step import begin
from tests.model import cluster as rules
from tests.model.attempts import first_world, recovery_of
from tests.model.course import usual
from tests.model.deviations import deviations
from tests.model.stepping import Move, alive, heard, running, took_off
from tests.model.world import BEFORE, WANTED, Flight, Scene, Stepped, World

JOB: Final = "shop/7/1/deploy"
APPLY: Final = 2
"""The gate that was killed; 0 and 1 are the recoveries, `NOBODY` holds a lock that is free."""
NOBODY: Final = 3
SCENES: Final = ("good", "crashing", "never-ready")

WAITING: Final = "waiting"
TAKING: Final = "taking"
HOLDING: Final = "holding"
OVER: Final = "over"
KILLED: Final = "killed"

_KILL: Final = "the gate is killed"
_SHARED: Final = ("the controller", "a pod of", "the deadline is called")
_NOT_HERE: Final = ("somebody", "the lock is taken", "an attempt begins", _KILL)
"""Moves of the single model that are nobody's here, or that this one has of its own."""


Item = TypeVar("Item")


class Pair(NamedTuple):
    """Both recoveries: their worlds, how far each is, and the lock.

    `seen` is the version of the Lease that each decided on. `verdict` is the image that a
    verdict has said to serve, "" before there is one.
    """

    worlds: tuple[World, World]
    phases: tuple[str, str] = (WAITING, WAITING)
    seen: tuple[int, int] = (0, 0)
    holder: int = APPLY
    version: int = 1
    verdict: str = ""


class PairMove(NamedTuple):
    """What one of them, or the cluster, does; `make` returns the pair after it."""

    name: str
    make: partial[PairStep]


class PairStep(NamedTuple):
    """A pair after a move, who moved, and what came of it."""

    pair: Pair
    who: int = NOBODY
    stepped: Stepped | None = None


# -- where it begins -------------------------------------------------------------------------------


def left_open(scene: Scene) -> Iterator[World]:
    """Iterate the worlds in which an apply was killed on its usual course, with its record."""
    world = first_world(scene)
    while (move := next(usual(world, scene), None)) is not None:
        world = move.make().world
        if world.number > 1 or (world.attempt is not None and world.attempt.ended):
            return
        if world.lease.record is not None:
            late = tuple(one._replace(late=True) for one in world.flights if one.answer is None)
            books = world.books._replace(record_leg="", read="", taken=False)
            dead = world._replace(attempt=None, flights=(), again="", past=None, books=books)
            yield dead._replace(flights=late)


def first_pair(world: World) -> Pair:
    """Return two recoveries of what was left; a late write of the dead apply is in the first's."""
    return Pair((world, world._replace(flights=())))


# -- the lock --------------------------------------------------------------------------------------


def holder_of(number: int) -> Holder:
    """Return a gate as it says who it is: all three are of one job, on one machine."""
    if number == NOBODY:
        return holders.NOBODY
    return Holder(f"{JOB} {number}", process=Process("runner", "boot", "pid time", 10 + number, 1))


def is_free(pair: Pair, who: int) -> bool:
    """Tell whether a recovery may take the lock, by the core's rule; its Lease never expires."""
    dead = {10 + APPLY, *(10 + one for one in (0, 1) if pair.phases[one] in (OVER, KILLED))}
    holder = holder_of(pair.holder)
    seen = Sighting(holder.identity, str(pair.version), 60.0, 0.0)
    free_at = holders.free_at(holder, seen, holder_of(who), lambda one: one.pid in dead, 0.0)
    return free_at <= 0.0


def _looked(pair: Pair, who: int) -> PairStep:
    seen = _put(pair.seen, who, pair.version)
    return PairStep(_at(pair._replace(seen=seen), who, TAKING), who)


def _taken(pair: Pair, who: int) -> PairStep:
    """Take the lock by compare-and-swap, and begin to finish what is found."""
    if pair.seen[who] != pair.version:
        return PairStep(_at(pair, who, WAITING), who)
    pair = pair._replace(holder=who, version=pair.version + 1)
    world = pair.worlds[who]
    plan = recovery_of(world)
    if plan is None:
        lease = world.lease._replace(record=None)
        return PairStep(_given_back(_shared(pair, who, world._replace(lease=lease)), who), who)
    attempt, asked = begin(plan, 0.0)
    world = world._replace(attempt=attempt, number=world.number + 1)
    stepped = took_off(Stepped(world, asked))
    return PairStep(_shared(_at(pair, who, HOLDING), who, stepped.world), who, stepped)


def _given_back(pair: Pair, who: int) -> Pair:
    pair = _at(pair, who, OVER)
    if pair.holder != who:
        return pair
    return pair._replace(holder=NOBODY, version=pair.version + 1)


# -- moves -----------------------------------------------------------------------------------------


def moves(pair: Pair, scene: Scene) -> Iterator[tuple[PairMove, bool]]:
    """Iterate what may happen, each with whether it deviates from the usual course.

    Which of the two goes first is no deviation, and neither is where they take turns.
    """
    for who in (0, 1):
        name = f"recovery {who + 1}"
        match pair.phases[who]:
            case "waiting" if is_free(pair, who):
                yield PairMove(f"{name} sees a free lock", partial(_looked, pair, who)), False
            case "taking":
                yield PairMove(f"{name} takes the lock", partial(_taken, pair, who)), False
            case "holding" if pair.holder != who and alive(pair.worlds[who]) is not None:
                yield from _robbed(pair, who, name)
        yield from _of_one(pair, who, scene)
        if pair.phases[who] in (TAKING, HOLDING):
            yield PairMove(f"{name} is killed", partial(_killed, pair, who)), True


def _of_one(pair: Pair, who: int, scene: Scene) -> Iterator[tuple[PairMove, bool]]:
    """Iterate the moves of one world; those of the cluster, which are in both, once.

    They are in the course of the one that works, so that the other's turns alone are free.
    """
    world, plays_cluster = pair.worlds[who], who == (1 if pair.phases[1] == HOLDING else 0)
    course = [(move, number > 0) for number, move in enumerate(usual(world, scene))]
    course += [(move, True) for move in deviations(world, scene)]
    for move, deviates in course:
        if move.name.startswith(_NOT_HERE):
            continue
        if move.name.startswith(_SHARED) and not plays_cluster:
            continue
        if pair.holder != who and move.name in ("SaveRecord is answered", "Release is answered"):
            continue
        name = f"recovery {who + 1}: {move.name}"
        yield PairMove(name, partial(_moved, pair, who, move)), deviates


def _moved(pair: Pair, who: int, move: Move) -> PairStep:
    stepped = move.make()
    after = _shared(pair, who, stepped.world)
    if pair.phases[who] == HOLDING and alive(stepped.world) is None:
        attempt = stepped.world.attempt
        if attempt is not None and attempt.outcome in (Outcome.VERIFIED, Outcome.ROLLED_BACK):
            after = after._replace(verdict=after.verdict or stepped.world.books.read)
        after = _given_back(after, who)
    return PairStep(after, who, stepped)


def _robbed(pair: Pair, who: int, name: str) -> Iterator[tuple[PairMove, bool]]:
    """Let who has lost the lock hear of it: at its next renewal, or where it writes its record."""
    world = pair.worlds[who]
    attempt = running(world)
    if attempt.interference.lock_lost is None:
        lost = Move("", partial(heard, world, LeaseLost(attempt.now, "another")))
        heard_of = partial(_moved, pair, who, lost)
        yield PairMove(f"{name} hears that its lock is taken", heard_of), False
    for effect_id, effect in attempt.requests.outstanding.items():
        if isinstance(effect, Release):
            ended = Move("", partial(heard, world, Released(attempt.now, effect_id)))
            yield PairMove(f"{name} ends", partial(_moved, pair, who, ended)), False


def _killed(pair: Pair, who: int) -> PairStep:
    """End a recovery at once; what it had sent may be done yet, and another is begun for it."""
    world = pair.worlds[who]
    late = tuple(one._replace(late=True) for one in world.flights if one.answer is None)
    left = world._replace(attempt=None, flights=late, deaf=(), past=None)
    return PairStep(_shared(_at(pair, who, KILLED), who, left), who)


def _shared(pair: Pair, who: int, world: World) -> Pair:
    """Put one world in its place; the other has the same cluster and the same Lease.

    No apply follows: the pipeline is not run again here.
    """
    world = world._replace(again="")
    other = pair.worlds[1 - who]._replace(cluster=world.cluster, lease=world.lease)
    return pair._replace(worlds=(world, other) if who == 0 else (other, world))


def _at(pair: Pair, who: int, phase: str) -> Pair:
    return pair._replace(phases=_put(pair.phases, who, phase))


def _put(values: tuple[Item, Item], place: int, value: Item) -> tuple[Item, Item]:
    return (value, values[1]) if place == 0 else (values[0], value)


# -- what has to hold ------------------------------------------------------------------------------


def wrong(before: Pair, step: PairStep) -> Iterator[str]:
    """Iterate what is wrong with a move: two that write, or a verdict that was undone."""
    if step.stepped is None:
        return
    who, after = step.who, step.pair
    sent = [one for one in step.stepped.asked if isinstance(one, Write)]
    other = 1 - who
    if sent and before.phases[other] == HOLDING and alive(after.worlds[other]) is not None:
        yield "R1: both write"
    done: Flight | None = step.stepped.done
    template = after.worlds[who].cluster.template
    if done is not None and before.verdict not in ("", template.image):
        yield f"R2: {before.verdict} was the verdict, and {template.image} was written over it"


def wrong_at_rest(pair: Pair) -> Iterator[str]:
    """Iterate what is wrong where nothing happens any more: no whole version, a held lock."""
    if WAITING in pair.phases or TAKING in pair.phases:
        yield "R3: it waits for ever"
    if pair.phases == (KILLED, KILLED) or any(world.books.trouble for world in pair.worlds):
        return
    runs = rules.serves(pair.worlds[0].cluster)
    if runs not in (BEFORE, WANTED) or (pair.verdict and runs != pair.verdict):
        yield f"R2: {pair.verdict or 'nothing'} was the verdict, and {runs or 'nothing'} runs"
    left = [world.attempt for world in pair.worlds if world.attempt is not None]
    if OVER in pair.phases and pair.holder not in (NOBODY, APPLY):
        yield "R3: the lock is not given back"
    if any(attempt.outcome is Outcome.SUPERSEDED for attempt in left):
        yield "R2: a recovery stepped back from the other"
