"""Reads with quorum: single objects, a whole rollout, who scales it.

No resourceVersion is sent, so that the answer is the newest there is (Kubernetes API concepts,
"Resource versions"). What could not be read is Unknown, never Absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.clock import Clock
from gate.core.effects import Read
from gate.core.events import Kind, LiveObject, ReadBack
from gate.core.fact import Absent, Fact, Known, Unknown
from gate.core.objects import Pod, Ref, ReplicaSet
from gate.kube.client import Client
from gate.kube.failures import ApiError, BadAnswer, Forbidden, NotFound, Unauthorized
from gate.kube.lists import list_all
from gate.kube.resources import AUTOSCALERS, SCALED_OBJECTS, Resource, Resources
from gate.kube.scope import query_of
from gate.wire import decode
from gate.wire.untrusted import clean_line


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """Something that owns the replicas of `target`."""

    kind: str
    name: str
    target: Ref


class Reader:
    """Reads objects, tried again as the client does."""

    def __init__(self, client: Client, resources: Resources, clock: Clock) -> None:
        """Share the client's connections."""
        self._client = client
        self._resources = resources
        self._clock = clock

    def perform(self, effect: Read) -> ReadBack:
        """Read one object, with its ReplicaSets and Pods where the whole rollout is meant.

        All of it or nothing: where a part cannot be read, the fact is Unknown. A 401 or 403 ends
        contact for good.
        """
        replica_sets: tuple[ReplicaSet, ...] | None = None
        pods: tuple[Pod, ...] | None = None
        fact: Fact[LiveObject]
        try:
            fact = self.live(effect.ref)
            if effect.whole_rollout:
                replica_sets, pods = self._parts(fact)
        except ApiError as error:
            self._noted(error)
            fact, replica_sets, pods = Unknown(error.message), None, None
        return ReadBack(self._clock.now(), effect.effect_id, fact, replica_sets, pods)

    def live(self, ref: Ref) -> Known[LiveObject] | Absent:
        """Read one object; ApiError where nobody could tell."""
        path = self._resources.path(ref)
        try:
            body = self._client.get(path)
        except NotFound:
            return Absent()
        try:
            return Known(decode.live_object(body))
        except decode.DecodeError as error:
            raise BadAnswer(f"{ref} cannot be read: {error}") from error

    def parts(self, live: LiveObject) -> tuple[tuple[ReplicaSet, ...], tuple[Pod, ...]]:
        """Read the ReplicaSets and Pods that a Deployment selects; ApiError if that fails."""
        selector = query_of(live.body.thaw()["spec"]["selector"])
        found = [
            list_all(self._client, kind, live.ref.namespace, (("labelSelector", selector),)).objects
            for kind in (Kind.REPLICA_SET, Kind.POD)
        ]
        return (
            tuple(thing for thing in found[0] if isinstance(thing, ReplicaSet)),
            tuple(thing for thing in found[1] if isinstance(thing, Pod)),
        )

    def _parts(self, fact: Fact[LiveObject]) -> tuple[tuple[ReplicaSet, ...], tuple[Pod, ...]]:
        return self.parts(fact.value) if isinstance(fact, Known) else ((), ())

    def _noted(self, error: ApiError) -> None:
        if self._client.contact is not None and isinstance(error, Forbidden | Unauthorized):
            self._client.contact.ended(error.message)

    def autoscalers(self, namespace: str) -> Fact[tuple[Autoscaler, ...]]:
        """Return what scales in a namespace: HorizontalPodAutoscalers and KEDA's ScaledObjects.

        Unknown where reading them is not allowed or fails; KEDA not installed means none.
        """
        try:
            found = self._scalers(AUTOSCALERS, namespace)
            found += self._scalers(SCALED_OBJECTS, namespace)
        except ApiError as error:
            return Unknown(error.message)
        return Known(tuple(found))

    def _scalers(self, resource: Resource, namespace: str) -> list[Autoscaler]:
        try:
            body = self._client.get(resource.path(namespace))
        except NotFound:
            return []
        try:
            return [_scaler(resource.kind, namespace, item) for item in json.loads(body)["items"]]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadAnswer(f"the list of {resource.plural} cannot be read") from error


def _scaler(kind: str, namespace: str, item: Mapping[str, Any]) -> Autoscaler:
    target = item["spec"]["scaleTargetRef"]
    ref = Ref(
        target.get("apiVersion") or "apps/v1",
        target.get("kind") or "Deployment",
        namespace,
        target["name"],
    )
    return Autoscaler(kind, clean_line(item["metadata"]["name"]), ref)
