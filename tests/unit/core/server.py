"""A model of an API server and its controllers, small enough to be seen through.

Objects are leaves: paths with values, each owned by managers, as server-side apply has it. The
controllers act at once and completely: a version is good, or behaves as `Server.behaviour` says
of its image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gate.core.kinds.deployment.objects import DEPLOYMENT, REPLICA_SET, Deployment, ReplicaSet
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Pod, Ref, Watched
from gate.core.model.outcome import Reason
from gate.core.model.readiness import UNJUDGED, Readiness
from gate.core.protocol.effects import Write
from gate.core.protocol.events import Answer, WriteConflicted, WriteRejected, Written
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from tests.unit.core import world
from tests.unit.core.leaves import Leaves, leaves_of, nested, ref_of, spec_of, tree_of

DENIALS = {
    "denied": "denied the request: not here",
    "over-quota": "exceeded quota: full, requested: pods=1, used: pods=3, limited: pods=3",
}
"""What keeps a ReplicaSet from creating pods, by behaviour."""
NOBODY = ""
"""The field manager of what no manager owns."""


@dataclass
class Set:
    """A ReplicaSet with the pods that it has."""

    name: str
    revision: int
    image: str
    template: Body
    pods: list[Pod] = field(default_factory=list)
    failure: str = ""


@dataclass
class Stored:
    """An object of the server; `parts` are the leaves that each (manager, operation) owns."""

    ref: Ref
    uid: str
    version: int
    generation: int = 1
    observed: int = 0
    revision: int = 0
    parts: dict[tuple[str, str], Leaves] = field(default_factory=dict)
    sets: list[Set] = field(default_factory=list)

    @property
    def leaves(self) -> Leaves:
        """All leaves, of the owners of some of them too."""
        merged: Leaves = {}
        for part in self.parts.values():
            merged |= part
        return merged

    @property
    def image(self) -> str:
        """The image of the container `web`."""
        return str(self.leaves['spec.template.spec.containers[name="web"].image'])

    @property
    def template(self) -> Body:
        """The pod template."""
        return Body.of(nested(self.leaves)["spec"]["template"])


class Server:
    """All objects, with what each image does to the pods that run it."""

    def __init__(self, **behaviour: str) -> None:
        """Take behaviours by tag: v2="crash" is about `shop/web:v2`.

        With `merges_creations` an apply that is to create goes into what is there already.
        `readiness` is what the status of an object says, by default nothing.
        """
        self.merges_creations = False
        self.behaviour = {f"shop/web:{tag}": what for tag, what in behaviour.items()}
        self.readiness: dict[Ref, Readiness] = {}
        self.stored: dict[Ref, Stored] = {}
        self.done: list[Write] = []
        self._version = 1000
        self._told: dict[str, Watched] = {}

    def version(self) -> int:
        """Return a new resourceVersion."""
        self._version += 1
        return self._version

    # -- what others do ----------------------------------------------------------------------------

    def put(self, body: Mapping[str, Any], manager: str = "rollout-gate") -> Ref:
        """Apply something, and let the controllers act on it."""
        ref = ref_of(body)
        operation = "Apply" if manager == "rollout-gate" else "Update"
        self._set(ref, (manager, operation), leaves_of(spec_of(body)), exact=True)
        self.control(ref)
        return ref

    def edit(self, ref: Ref, manager: str, leaves: Leaves) -> None:
        """Change some leaves as another manager, who owns them alone from then on.

        `NOBODY` is as after `kubectl scale --replicas=0`: no manager owns them.
        """
        stored = self.stored[ref]
        for part in stored.parts.values():
            for path in leaves:
                part.pop(path, None)
        merged = {**stored.parts.get((manager, "Update"), {}), **leaves}
        self._set(ref, (manager, "Update"), merged, exact=True)

    def remove(self, ref: Ref) -> None:
        """Delete an object."""
        del self.stored[ref]

    def touch(self, ref: Ref) -> None:
        """Write the object without a change, as a controller's status does all the time."""
        self.stored[ref].version = self.version()

    def _set(self, ref: Ref, owner: tuple[str, str], leaves: Leaves, *, exact: bool) -> None:
        stored = self.stored.get(ref)
        if stored is None:
            stored = self.stored[ref] = Stored(ref, f"{ref.name}-uid-{self.version()}", 0)
        before = stored.leaves
        own = stored.parts.get(owner, {})
        stored.parts[owner] = leaves if exact else {**own, **leaves}
        if {**before} != stored.leaves:
            stored.generation += 1
        stored.version = self.version()

    # -- writes ------------------------------------------------------------------------------------

    def perform(self, write: Write, at: float) -> Answer:
        """Do a write, or say why not; `done` keeps those that were."""
        answer = self._performed(write, at)
        if isinstance(answer, Written):
            self.done.append(write)
        return answer

    def _performed(self, write: Write, at: float) -> Answer:
        stored, effect_id = self.stored.get(write.ref), write.effect_id
        if write.uid is not None and (stored is None or stored.uid != write.uid):
            return WriteConflicted(at, effect_id)
        if stored is not None and write.resource_version not in (None, str(stored.version)):
            return WriteConflicted(at, effect_id)
        is_creation = write.uid is None and write.resource_version is None
        if stored is not None and is_creation and not self.merges_creations:
            return WriteConflicted(at, effect_id)
        if write.verb is Verb.DELETE:
            self.stored.pop(write.ref, None)
            return Written(at, effect_id, None)
        body = write.body.thaw()
        if write.verb is Verb.TAKE_OVER and stored is not None:
            self._take_over(stored, {entry["manager"] for entry in body["managedFields"]})
        elif write.verb is Verb.MERGE:
            self._set(write.ref, (write.field_manager, "Update"), leaves_of(body), exact=False)
        else:
            wanted = leaves_of(spec_of(body))
            lost = self._conflicts(stored, write.field_manager, wanted)
            if lost and not write.force:
                text = CleanText(f"conflicts: {', '.join(lost)}")
                return WriteRejected(at, effect_id, Reason.CONFLICT, text, tuple(lost))
            if lost and stored is not None:
                _taken_from(stored, write.field_manager, lost)
            self._set(write.ref, (write.field_manager, "Apply"), wanted, exact=True)
        return Written(at, effect_id, self.read(write.ref), is_created=stored is None)

    def _conflicts(self, stored: Stored | None, manager: str, wanted: Leaves) -> list[str]:
        parts = {} if stored is None else stored.parts
        theirs = [part for (owner, _), part in parts.items() if owner not in (manager, NOBODY)]
        lost = [
            path
            for path, value in wanted.items()
            if any(p.get(path, value) != value for p in theirs)
        ]
        return sorted(f".{path}" for path in lost)

    def _take_over(self, stored: Stored, left: set[str]) -> None:
        own = stored.parts.setdefault(("rollout-gate", "Apply"), {})
        for manager, operation in list(stored.parts):
            if manager not in left:
                own |= stored.parts.pop((manager, operation))
        stored.version = self.version()

    # -- what is read ------------------------------------------------------------------------------

    def read(self, ref: Ref) -> LiveObject | None:
        """Return an object as a read does."""
        stored = self.stored.get(ref)
        if stored is None:
            return None
        content = nested(stored.leaves)
        metadata = {
            **content.get("metadata", {}),
            "name": ref.name,
            "namespace": ref.namespace,
            "uid": stored.uid,
            "resourceVersion": str(stored.version),
            "generation": stored.generation,
        }
        identity = {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata}
        managed = [
            {
                "manager": manager,
                "operation": operation,
                "apiVersion": ref.api_version,
                "time": f"2026-11-21T12:00:{number:02}Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": tree_of(nested(part)),
            }
            for number, ((manager, operation), part) in enumerate(stored.parts.items())
            if manager != NOBODY and part
        ]
        return LiveObject(
            ref=ref,
            uid=stored.uid,
            resource_version=str(stored.version),
            body=Body.of({**content, **identity}),
            managed=Body.of({"managedFields": managed}),
            workload=self.deployment(stored) if ref.kind == "Deployment" else None,
            readiness=self.readiness.get(ref, UNJUDGED),
        )

    def deployment(self, stored: Stored) -> Deployment:
        """Return a Deployment with the counters that its ReplicaSets add up to."""
        spec = nested(stored.leaves)["spec"]
        new = [pod for one in stored.sets if one.template == stored.template for pod in one.pods]
        every = [pod for one in stored.sets for pod in one.pods]
        ready = sum(pod.ready for pod in every)
        conditions = (world.AVAILABLE,) if ready >= spec["replicas"] * 3 // 4 else ()
        made = world.template(stored.image)
        return world.deployment(
            ref=stored.ref,
            uid=stored.uid,
            resource_version=str(stored.version),
            generation=stored.generation,
            revision=stored.revision or None,
            paused=bool(spec.get("paused")),
            replicas=spec["replicas"],
            progress_deadline_seconds=spec.get("progressDeadlineSeconds", 600),
            template=replace(made, body=stored.template),
            observed_generation=stored.observed,
            status_replicas=len(every),
            updated_replicas=len(new),
            ready_replicas=ready,
            available_replicas=ready,
            conditions=conditions,
        )

    def parts(self, ref: Ref) -> tuple[tuple[ReplicaSet, ...], tuple[Pod, ...]]:
        """Return the ReplicaSets and pods of a Deployment."""
        stored = self.stored.get(ref)
        if stored is None:
            return (), ()
        sets = tuple(_replica_set(stored, one) for one in stored.sets)
        return sets, tuple(pod for one in stored.sets for pod in one.pods)

    def news(self, at: float) -> Iterator[Observed | Vanished]:
        """Iterate what a watcher of everything hears since it was asked last."""
        now: dict[str, Watched] = {}
        for ref, stored in self.stored.items():
            if ref.kind == "Deployment":
                sets, pods = self.parts(ref)
                things: list[Watched] = [self.deployment(stored), *sets, *pods]
                now |= {thing.uid: thing for thing in things}
        for uid, thing in self._told.items():
            if uid not in now:
                yield Vanished(at, _KINDS[type(thing)], uid)
        for uid, thing in now.items():
            if self._told.get(uid) != thing:
                yield Observed(at, thing)
        self._told = now

    def listed(self, ref: Ref, at: float) -> Iterator[Observed | Listed]:
        """Iterate what is known of a Deployment when it is listed."""
        stored = self.stored.get(ref)
        found = () if stored is None else (self.deployment(stored),)
        sets, pods = self.parts(ref)
        yield Listed(at, DEPLOYMENT, ref, found)
        yield Listed(at, REPLICA_SET, ref, sets)
        yield Listed(at, Kind.POD, ref, pods)

    # -- the controllers ---------------------------------------------------------------------------

    def control(self, ref: Ref) -> None:
        """Let the controllers and kubelets act on a Deployment until nothing is left to do."""
        stored = self.stored.get(ref)
        if stored is None or ref.kind != "Deployment":
            return
        before = self.deployment(stored)
        stored.observed = stored.generation
        if not nested(stored.leaves)["spec"].get("paused"):
            self._roll_out(stored)
        if self.deployment(stored) != before:
            stored.version = self.version()

    def _roll_out(self, stored: Stored) -> None:
        current = next((one for one in stored.sets if one.template == stored.template), None)
        number = max((one.revision for one in stored.sets), default=0) + 1
        if current is None:
            name = f"{stored.ref.name}-{len(stored.sets) + 1}"
            current = Set(name, number, stored.image, stored.template)
            stored.sets.append(current)
        elif current.revision != number - 1:
            current.revision = number
        stored.revision = current.revision
        wanted = nested(stored.leaves)["spec"]["replicas"]
        what = self.behaviour.get(stored.image, "good")
        old = [one for one in stored.sets if one is not current]
        if what == "good":
            for one in old:
                one.pods = []
            self._scale(current, stored, wanted, what)
            return
        serving = max(old, key=lambda one: len(one.pods), default=None)
        if serving is not None:
            serving.pods = serving.pods[: max(1, wanted - 1)]
        self._scale(current, stored, 0 if what in DENIALS else min(2, wanted), what)
        current.failure = DENIALS.get(what, "")

    def _scale(self, one: Set, stored: Stored, count: int, what: str) -> None:
        one.failure = ""
        one.pods = [self._pod(one, stored, number, what) for number in range(count)]

    def _pod(self, one: Set, stored: Stored, number: int, what: str) -> Pod:
        status = {
            "good": world.container(image_id=CleanText("shop/web@sha256:1111")),
            "crash": world.crashing(3),
            "crashed-once": world.crashing(1),
            "pull": world.waiting("InvalidImageName", "no such name"),
        }.get(what, world.container(ready=False))
        made = world.pod(number, status)
        known = next((pod for pod in one.pods if pod.name == f"{one.name}-p{number}"), None)
        fresh = replace(
            made,
            name=f"{one.name}-p{number}",
            uid=f"{one.name}-p{number}-uid-{stored.uid}",
            owner_uid=f"{one.name}-uid-{stored.uid}",
            resource_version=known.resource_version if known is not None else "0",
        )
        return fresh if fresh == known else replace(fresh, resource_version=str(self.version()))


def _taken_from(stored: Stored, manager: str, lost: list[str]) -> None:
    """Let a forced apply take these leaves from all others."""
    for (owner, _), part in stored.parts.items():
        if owner != manager:
            for path in lost:
                part.pop(path.removeprefix("."), None)


_KINDS = {Deployment: DEPLOYMENT, ReplicaSet: REPLICA_SET, Pod: Kind.POD}


def _replica_set(stored: Stored, one: Set) -> ReplicaSet:
    ready = sum(pod.ready for pod in one.pods)
    failing = world.condition("ReplicaFailure", "True", "FailedCreate", one.failure)
    return world.replica_set(
        one.name,
        uid=f"{one.name}-uid-{stored.uid}",
        resource_version=str(stored.version),
        owner_uid=stored.uid,
        revision=one.revision,
        replicas=len(one.pods),
        template=replace(world.template(one.image), body=one.template),
        ready_replicas=ready,
        available_replicas=ready,
        conditions=(failing,) if one.failure else (),
    )
