"""The form of what an attempt is made of: every value of the core, as atoms and as numbers.

Fields are found by looking at the classes, so that whatever the core gets is part of the form by
itself; what needs more thought, or decides nothing, is named here.
"""

from __future__ import annotations

import enum
import hashlib
import marshal
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any, Final

from gate.core.attempt.limits import EVIDENCE_SECONDS
from gate.core.attempt.parts import Interference, Requests, Writes
from gate.core.attempt.state import Attempt
from gate.core.attempt.wait import Wait
from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.deployment.kind import DeploymentKind
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.kinds.stateful_set.kind import StatefulSetKind
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.body import Body, FrozenMap
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Pod, Ref, Template
from gate.core.plan.plan import Plan
from gate.core.plan.record import Kept
from gate.core.protocol.effects import Write
from gate.core.rollout.applied import Applied
from gate.core.rollout.blind_time import CONDITION_STANDS_SECONDS, CONTROLLER_LAG_SECONDS, Blindness
from gate.core.rollout.controller_faults import Hindrances
from gate.core.rollout.pod_history import ContainerTrack, PodTrack
from gate.core.rollout.policy import Policy

NO_REFERENCES: Final = 2
"""The last version of marshal whose bytes depend on values alone, not on who shares them."""

_FROM_NOW: Final = frozenset(
    {
        "at",
        "baked_since",
        "begins_at",
        "closing_since",
        "deleting_since",
        "confirming_since",
        "forward_ended_at",
        "inspecting_since",
        "interrupted_at",
        "last_at",
        "leg_at",
        "next_read_at",
        "ripe_at",
        "soonest_ripe_at",
        "started_at",
        "first_sent_at",
        "facts_at",
        "since",
        "sign_since",
        "unserved_since",
    }
)
"""Fields that hold a time on the gate's clock."""
_LEFT_OUT: Final = frozenset(
    {
        "attempt_id",
        "causes",
        "closed",
        "effect_id",
        "ending",
        "endings",
        "evidence",
        "findings",
        "last_causes",
        "left",
        "message",
        "next_id",
        "now",
        "origin",
        "record",
        "rollback_written_at",
        "run_url",
        "seen_at",
        "verdict_at",
    }
)
"""Fields that decide nothing: texts, reports, and what is encoded in another way."""


class Form:
    """What a world is made of, in one order: `atoms`, and apart from them what counts by order."""

    __slots__ = ("atoms", "now", "numbers")

    def __init__(self, now: float) -> None:
        """Begin with nothing; times count from `now`."""
        self.now = now
        self.atoms: list[Any] = []
        self.numbers: list[tuple[str, int]] = []

    def add(self, value: Any) -> None:
        """Add a value of any type that states are made of."""
        encode = _ENCODERS.get(type(value))
        if encode is None:
            encode = _ENCODERS[type(value)] = _encoder(type(value))
        encode(value, self)


# -- the parts of an attempt -----------------------------------------------------------------------

Encode = Callable[[Any, Form], None]


def _nothing(_value: Any, _form: Form) -> None:
    """Leave out what is the same in all worlds of a scene."""


def _atom(value: Any, form: Form) -> None:
    form.atoms.append(value)


def _member(value: enum.Enum, form: Form) -> None:
    form.atoms.append(value._value_)


def _items(value: Iterable[Any], form: Form) -> None:
    form.atoms.append(">")
    for item in value:
        form.add(item)
    form.atoms.append("<")


def _sorted_items(value: frozenset[Any], form: Form) -> None:
    _items(tuple(sorted(value)), form)


def _map(value: FrozenMap[Any, Any], form: Form) -> None:
    """Add the values by their keys; those by number, the effects, in the order of asking."""
    if not value:
        form.atoms.append("<>")
        return
    form.atoms.append(">")
    for key in sorted(value):
        if not isinstance(key, int):
            form.atoms.append(str(key))
        form.add(value[key])
    form.atoms.append("<")


def _body(value: Body, form: Form) -> None:
    form.atoms.append(value.digest)


def _template(value: Template, form: Form) -> None:
    form.atoms.append(value.body.digest)


_OF_A_DEPLOYMENT = attrgetter(
    "paused",
    "replicas",
    "status_replicas",
    "updated_replicas",
    "ready_replicas",
    "available_replicas",
)


def _deployment(value: Deployment, form: Form) -> None:
    uid = value.uid
    form.numbers += (
        (uid, int(value.resource_version)),
        (uid + "*", value.generation),
        (uid + "*", value.observed_generation),
    )
    form.atoms += (uid, value.template.body.digest, *_OF_A_DEPLOYMENT(value))
    form.atoms.append([condition.status for condition in value.conditions])


_OF_A_STATEFUL_SET = attrgetter(
    "replicas",
    "status_replicas",
    "updated_replicas",
    "ready_replicas",
    "available_replicas",
    "current_revision",
    "update_revision",
)


def _stateful_set(value: StatefulSet, form: Form) -> None:
    uid = value.uid
    form.numbers += (
        (uid, int(value.resource_version)),
        (uid + "*", value.generation),
        (uid + "*", value.observed_generation),
    )
    form.atoms += (uid, value.template.body.digest, *_OF_A_STATEFUL_SET(value))


def _controller_revision(value: ControllerRevision, form: Form) -> None:
    form.numbers.append((value.uid, int(value.resource_version)))
    form.atoms.append(value.uid)


def _replica_set(value: ReplicaSet, form: Form) -> None:
    form.numbers.append((value.uid, int(value.resource_version)))
    form.atoms += (value.uid, value.status_replicas, value.ready_replicas)


def _pod(value: Pod, form: Form) -> None:
    form.numbers.append((value.uid, int(value.resource_version)))
    form.atoms += (value.uid, value.ready, value.containers[0].restarts, value.deleting)


def _wait(value: Wait, form: Form) -> None:
    """Add a wait: a time to read that has passed has merely passed, and so has what has ended."""
    form.atoms += (max(value.next_read_at - form.now, 0.0), max(value.ended_at - form.now, -60.0))
    _WAIT(value, form)


def _blindness(value: Blindness, form: Form) -> None:
    """Add a blindness: what has stood or passed for long enough has merely passed."""
    passed = -max(CONDITION_STANDS_SECONDS, CONTROLLER_LAG_SECONDS)
    form.atoms += (
        max(value.ended_at - form.now, passed),
        max(value.exceeded_since - form.now, passed),
    )
    _BLINDNESS(value, form)


def _applied(value: Applied, form: Form) -> None:
    form.numbers.append((value.uid + "*", value.generation))
    _APPLIED(value, form)


def _kept(value: Kept, form: Form) -> None:
    if value.resource_version:
        form.numbers.append((value.uid, int(value.resource_version)))
    _KEPT(value, form)


def _container_track(value: ContainerTrack, form: Form) -> None:
    """Add the history of a container: since when it waits, where it does."""
    since = value.waiting_since - form.now if value.waiting else 0.0
    form.atoms += (value.restarts_before, value.waiting, since, value.pull_message)


def _pod_track(value: PodTrack, form: Form) -> None:
    """Add the history of a pod: whether it was ever ready, and since when it is not any more.

    How long a start took decides nothing below ten seconds, the longest that a scene has.
    """
    has_started = value.start_seconds is not None
    since = value.unready_since - form.now if has_started and not value.pod.ready else 0.0
    form.atoms += (has_started, since)
    _POD_TRACK(value, form)


def _live_object(value: LiveObject, form: Form) -> None:
    form.atoms.append(value.managed.digest)
    if value.workload is not None:
        form.add(value.workload)
        return
    form.atoms += (value.uid, value.body.digest)
    form.numbers.append((value.uid, int(value.resource_version or 0)))


def _hindrances(value: Hindrances, form: Form) -> None:
    form.atoms += [(reason.value, at - form.now) for reason, at in value.seen_since.items()]


def _write(value: Write, form: Form) -> None:
    form.atoms += (value.verb.value, value.body.digest, value.uid)
    if value.resource_version is not None:
        form.numbers.append((value.uid or "", int(value.resource_version)))


_plans: dict[int, tuple[Plan, bytes, list[tuple[str, int]]]] = {}


def _plan(value: Plan, form: Form) -> None:
    """Add a plan, which has no times but absolute ones that nobody looks at: encoded once each."""
    known = _plans.get(id(value))
    if known is None:
        alone = Form(0.0)
        alone.add(value.targets)
        alone.add(value.objects)
        alone.add(value.resumed)
        text = marshal.dumps(alone.atoms, NO_REFERENCES)
        known = _plans[id(value)] = (value, hashlib.sha256(text).digest(), alone.numbers)
    form.atoms.append(known[1])
    form.numbers += known[2]


def _attempt(value: Attempt, form: Form) -> None:
    """Add an attempt: what has passed is merely past, and of the end only its outcome counts."""
    now = form.now
    form.atoms += (
        max(value.requests.not_before - now, 0.0),
        max(value.interference.departed_at - now, -EVIDENCE_SECONDS),
        value.writes.first_write_at is None,
        value.result.ending.outcome.value if value.result.ending is not None else "",
    )
    _ATTEMPT(value, form)


def _encoder(kind: type) -> Encode:
    """Return what adds a value of a type: by its fields, where nothing better is known."""
    if issubclass(kind, enum.Enum):
        return _member
    if issubclass(kind, tuple):
        return _items
    if issubclass(kind, frozenset):
        return _sorted_items
    if not is_dataclass(kind):
        raise TypeError(f"no canonical form for {kind.__name__}")
    return _of_fields(kind)


def _of_fields(kind: type, left_out: frozenset[str] = _LEFT_OUT) -> Encode:
    names = [one.name for one in fields(kind) if one.name not in left_out]
    times = _several([name for name in names if name in _FROM_NOW])
    others = _several([name for name in names if name not in _FROM_NOW])

    def encode(value: Any, form: Form) -> None:
        atoms, now = form.atoms, form.now
        for at in times(value):
            atoms.append(at if at is None else at - now)
        for part in others(value):
            if type(part) in _ATOMS:
                atoms.append(part)
            else:
                form.add(part)

    return encode


def _several(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the named attributes of a value."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


_ATTEMPT: Final = _of_fields(Attempt)
_BLINDNESS: Final = _of_fields(Blindness, _LEFT_OUT | {"ended_at", "exceeded_since"})
_APPLIED: Final = _of_fields(Applied, _LEFT_OUT | {"generation"})
_POD_TRACK: Final = _of_fields(PodTrack, _LEFT_OUT | {"start_seconds", "unready_since"})
_WAIT: Final = _of_fields(Wait, _LEFT_OUT | {"next_read_at", "ended_at"})
_KEPT: Final = _of_fields(Kept, _LEFT_OUT | {"resource_version"})
_ATOMS: Final = frozenset({type(None), bool, int, float, str})
_ENCODERS: Final[dict[type, Encode]] = {
    **dict.fromkeys(_ATOMS, _atom),
    Applied: _applied,
    Attempt: _attempt,
    Blindness: _blindness,
    Body: _body,
    ContainerTrack: _container_track,
    ControllerRevision: _controller_revision,
    Deployment: _deployment,
    DeploymentKind: _nothing,
    FrozenMap: _map,
    Hindrances: _hindrances,
    Kept: _kept,
    LiveObject: _live_object,
    Plan: _plan,
    Pod: _pod,
    PodTrack: _pod_track,
    Policy: _nothing,
    Ref: _nothing,
    ReplicaSet: _replica_set,
    StatefulSet: _stateful_set,
    StatefulSetKind: _nothing,
    Template: _template,
    Wait: _wait,
    Write: _write,
    Requests: _of_fields(Requests, _LEFT_OUT | {"not_before"}),
    Interference: _of_fields(Interference, _LEFT_OUT | {"departed_at"}),
    Writes: _of_fields(Writes, _LEFT_OUT | {"first_write_at"}),
}
