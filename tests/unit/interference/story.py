"""Attempts as facts: a good end of each kind, to plant one wrong fact into."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from tests.bed.invariants import Key, key_of
from tests.cluster.audit import Request
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.interference import shop
from tests.interference.facts import Ended, Facts, Performed, Version, Writer
from tests.interference.trial import Start, Trial

NAMESPACE = "shop"
WEB = Key("deployments", NAMESPACE, shop.WEB)
SETTINGS = Key("configmaps", NAMESPACE, shop.SETTINGS)
KEYS = Key("secrets", NAMESPACE, shop.KEYS)
SERVICE = Key("services", NAMESPACE, shop.WEB)
LEASE = Key("leases", NAMESPACE, "rollout-gate.deployment.web")
POD = Key("pods", NAMESPACE, "web-1")
STARTED = 100
_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Story:
    """The writes of a namespace one after the other, each a second after the one before."""

    number: int = 0
    versions: dict[Key, list[Version]] = field(default_factory=dict)

    def write(self, writer: Writer, key: Key, body: JSON | None) -> None:
        """Let somebody write an object; None deletes it."""
        self.number += 1
        at = _BEGINNING + timedelta(seconds=self.number)
        self.versions.setdefault(key, []).append(Version(self.number, at, writer, body))

    def apply(self, writer: Writer, number: int, *, only: Sequence[Key] = ()) -> None:
        """Let somebody write a whole version; its Deployment is complete."""
        for body in shop.version(number):
            key = key_of(body, NAMESPACE)
            if not only or key in only:
                self.write(writer, key, complete(body) if key == WEB else body)
        if not only or WEB in only:
            self.write(Writer.MACHINERY, POD, pod(number))

    def change(self, writer: Writer, key: Key, **over: object) -> None:
        """Let somebody change top-level fields of an object as it is."""
        body = deepcopy(self.versions[key][-1].body)
        assert body is not None
        self.write(writer, key, {**body, **over})

    def now(self, seconds: float = 0.0) -> datetime:
        """Return when the last write was, or so many seconds later."""
        return _BEGINNING + timedelta(seconds=self.number + seconds)

    def facts(self, code: int, **over: object) -> Facts:
        """Return the facts of an attempt that ended with this code."""
        result = Result(("apply",), code, "", "", 5.0)
        ended = Ended((result,), None, STARTED, self.number, {WEB: self.now()})
        facts = Facts(
            trial=trial(is_good=code == 0),
            ended=ended,
            manifest={key_of(body, NAMESPACE): body for body in shop.version(shop.NEW)},
            versions={key: tuple(versions) for key, versions in self.versions.items()},
            requests=tuple(map(write_of, shop.version(shop.NEW))),
            performed=(),
            verified=STARTED,
            left=(),
            next_apply=Result(("apply",), 0, "", "", 5.0),
        )
        return replace(facts, **over)  # type: ignore[arg-type]


def write_of(body: JSON) -> Request:
    """Return the request with which the attempt wrote an object."""
    key = key_of(body, NAMESPACE)
    return Request(
        at=_BEGINNING + timedelta(seconds=STARTED + 1),
        verb="patch",
        group="",
        resource=key.resource,
        subresource="",
        namespace=key.namespace,
        name=key.name,
        code=200,
        user="gate",
        user_agent="rollout-gate/1",
        uri=f"/{key.resource}/{key.name}",
        body=body,
        answer=body,
    )


def trial(*, is_good: bool = True, start: Start = Start.GATE, flags: tuple[str, ...] = ()) -> Trial:
    """Return a trial in which nobody does anything."""
    behaviour = "ready=0.3" if is_good else "crash=0.1"
    return Trial(0, start, frozenset(), 2, behaviour, flags, ())


def pod(number: int) -> JSON:
    """Return the pod that stands for all of a version."""
    containers = [{"name": shop.WEB, "image": f"shop/web:{number}"}]
    metadata = {"name": POD.name, "labels": {"app": shop.WEB}}
    return {"metadata": metadata, "spec": {"containers": containers}}


def complete(body: JSON) -> JSON:
    """Return a Deployment with all its pods new and available."""
    counters = ("replicas", "updatedReplicas", "availableReplicas")
    status = dict.fromkeys(counters, body["spec"]["replicas"]) | {"observedGeneration": 1}
    metadata = {**body["metadata"], "generation": 1}
    return {**body, "metadata": metadata, "status": status}


def broken_off(body: JSON) -> JSON:
    """Return a Deployment of which no pod is available."""
    return {**complete(body), "status": {"observedGeneration": 1, "replicas": 2}}


def begun() -> Story:
    """Return a story in which version 1 serves, verified."""
    story = Story()
    story.apply(Writer.BEFORE, 1)
    story.number = STARTED
    return story


def verified() -> Story:
    """Return a story in which version 2 was applied and is complete."""
    story = begun()
    story.apply(Writer.OURS, shop.NEW)
    return story


def rolled_back() -> Story:
    """Return a story in which version 2 was applied, and version 1 restored."""
    story = verified()
    story.apply(Writer.OURS, 1)
    return story


def superseded() -> Story:
    """Return a story in which somebody changed the image over version 2."""
    story = verified()
    story.write(Writer.OTHERS, WEB, by_hand(story))
    return story


def by_hand(story: Story) -> JSON:
    """Return the Deployment with another image."""
    body = deepcopy(story.versions[WEB][-1].body)
    assert body is not None
    body["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/web:hand"
    return body


def performed(name: str, *, is_early: bool = False) -> tuple[Performed, ...]:
    """Return that an action was performed, before the attempt wrote anything or after all of it."""
    at = _BEGINNING if is_early else _BEGINNING + timedelta(hours=1)
    return (Performed(name, at, 1.0, ""),)


def said(*actions: tuple[Key, str], running: str = "new", code: int = 0, state: str = "") -> JSON:
    """Return a document that says these actions of objects, how they stand, and what runs."""
    kinds = {"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service"}
    objects = [
        {
            "kind": kinds.get(key.resource, "Deployment"),
            "namespace": key.namespace,
            "name": key.name,
            "action": action,
            "at_end": {"state": state} if state else None,
        }
        for key, action in actions
    ]
    workload = {
        "kind": "Deployment",
        "namespace": NAMESPACE,
        "name": shop.WEB,
        "running": running,
        "baseline": {"images": ["shop/web:1"]},
        "new": {"images": ["shop/web:2"]},
    }
    return {"exit_code": code, "workloads": [workload], "objects": objects}


def lease(holder: str, annotations: JSON | None = None) -> JSON:
    """Return the lock of the Deployment."""
    metadata = {"name": LEASE.name, "annotations": annotations or {}}
    return {"kind": "Lease", "metadata": metadata, "spec": {"holderIdentity": holder}}


def kept_and_forgotten(*, is_early: bool) -> Facts:
    """Return a failure beside a kept version whose Lease others deleted, before it was taken."""
    story = begun()
    story.apply(Writer.BEFORE, shop.KEPT)
    story.write(Writer.BEFORE, LEASE, lease(""))
    started = story.number
    ours, gone = (Writer.OURS, lease("vm 1")), (Writer.OTHERS, None)
    for writer, body in (gone, ours) if is_early else (ours, gone):
        story.write(writer, LEASE, body)
    story.apply(Writer.OURS, shop.NEW)
    kept = trial(is_good=False, start=Start.KEPT_WITH_SECRET)
    facts = story.facts(6, trial=kept, performed=performed("lease-deleted", is_early=is_early))
    return replace(facts, ended=replace(facts.ended, started=started))
