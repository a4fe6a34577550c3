"""Reads with quorum: single objects, a whole rollout, who scales it.

No resourceVersion is sent, so that the answer is the newest there is (Kubernetes API concepts,
"Resource versions"). What could not be read is Unknown, never Absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Node, Pod, Ref, Revision, Watched
from gate.core.protocol.effects import Read
from gate.core.protocol.events import ReadBack
from gate.core.rollout.observations import Kind
from gate.kube.answers.failures import ApiError, BadAnswer, Forbidden, NotFound, NotServed
from gate.kube.client.client import Client
from gate.kube.client.contact import access_to
from gate.kube.kinds import registry
from gate.kube.kinds.resource import Resource
from gate.kube.paths.resources import AUTOSCALERS, SCALED_OBJECTS, Resources
from gate.kube.paths.scope import Selector, query_of, query_of_any
from gate.kube.reads.lists import list_all, list_live
from gate.side_by_side import each
from gate.wire import decode
from gate.wire.untrusted import clean_line

Parts = tuple[tuple[Revision, ...], tuple[Pod, ...], tuple[Node, ...]]
"""What belongs to a workload: its revisions, its pods, and the nodes that it looks at."""
_NO_PARTS: Final[Parts] = ((), (), ())
WithParts = tuple[Fact[LiveObject], Parts | tuple[None, None]]
MOST_READ_SINGLY = 8
"""How many workloads of a kind and namespace are read one by one; more are read by a list."""


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """Something that owns the replicas of `target`."""

    kind: str
    name: str
    target: Ref


class Reader:
    """Reads objects, with the client's retries."""

    def __init__(
        self,
        client: Client,
        resources: Resources,
        clock: Clock,
        selectors: Mapping[Ref, Selector] = FrozenMap(),
        *,
        insists: bool = False,
    ) -> None:
        """Share the client's connections; known `selectors` of workloads save time.

        A reader that `insists` asks again what was refused, for a while.
        """
        self._client = client
        self._resources = resources
        self._clock = clock
        self._insists = insists
        self._followed = selectors
        self._selectors = {ref: query_of(selector) for ref, selector in selectors.items()}

    def perform(self, effect: Read) -> ReadBack:
        """Read one object, with what belongs to it if the whole rollout is meant.

        All of it or nothing: if a part cannot be read, the fact is Unknown.
        """
        fact: Fact[LiveObject]
        parts: Parts | tuple[None, None] = (None, None)
        try:
            if effect.whole_rollout:
                fact, parts = self._rollout(effect.ref)
            else:
                fact = self.live(effect.ref)
        except ApiError as error:
            fact = Unknown(error.message)
        return ReadBack(self._clock.now(), effect.effect_id, fact, *parts)

    def perform_together(self, effects: Sequence[Read]) -> list[ReadBack]:
        """Read whole rollouts of one kind and namespace with a list for each kind of their parts.

        A list that cannot be read makes all of them Unknown. What is of another kind or namespace
        than the first one is read alone.
        """
        first = effects[0].ref
        refs = [effect.ref for effect in effects if _scope(effect.ref) == _scope(first)]
        try:
            found = self._rollouts(refs)
        except ApiError as error:
            found = dict.fromkeys(refs, (Unknown(error.message), (None, None)))
        at = self._clock.now()
        return [
            ReadBack(at, effect.effect_id, found[effect.ref][0], *found[effect.ref][1])
            if effect.ref in found
            else self.perform(effect)
            for effect in effects
        ]

    def _rollouts(self, refs: Sequence[Ref]) -> dict[Ref, WithParts]:
        """Return what the lists show of workloads of one kind whose selectors are as they were.

        What has no owner in the lists may be of each, as in the lists of watches.
        """
        namespace = refs[0].namespace
        names = {ref.name for ref in refs}
        query = query_of_any([self._followed[ref] for ref in refs if ref in self._followed])
        workload = registry.workload_of(refs[0])
        access = self._access(namespace, workload.watched.kind)
        lists = self._lists(refs[0], query)
        questions: list[Callable[[], Any]] = [
            partial(
                list_live, self._client, workload.watched.resource, namespace, names, access=access
            )
        ]
        questions += [partial(lists, kind) for kind in _kinds_of_parts(refs[0])]
        lives, *listed = each(self._clock, lambda question: question(), questions)
        there: dict[Ref, LiveObject] = {live.ref: live for live in lives}
        parts = _by_owner(there, *_sorted_out(listed))
        return {
            ref: (Known(there[ref]), parts[ref]) if ref in there else (Absent(), _NO_PARTS)
            for ref in refs
            if ref in self._followed
            and (ref not in there or _selector_of(there[ref]) == self._selectors[ref])
        }

    def live(self, ref: Ref) -> Known[LiveObject] | Absent:
        """Read one object; ApiError if nobody could tell.

        One of a kind that the run is to define is absent while the server does not serve it.
        """
        path = self._resources.path(ref)
        try:
            body = self._client.get(path, access=self._access(ref.namespace, ref.kind))
        except NotServed:
            if self._resources.is_defined(ref):
                return Absent()
            raise
        except NotFound:
            return Absent()
        try:
            return Known(decode.live_object(body))
        except decode.DecodeError as error:
            raise BadAnswer(f"{ref} cannot be read: {error}") from error

    def lives(self, refs: Sequence[Ref]) -> dict[Ref, Fact[LiveObject]]:
        """Read objects, many workloads of a namespace with one list; raises as `live` does."""
        found: dict[Ref, Fact[LiveObject]] = {}
        for (resource, namespace), group in _many_alike(refs).items():
            with suppress(ApiError):  # one that may not be listed is read by its name
                names = {ref.name for ref in group}
                listed = list_live(self._client, resource, namespace, names)
                there = {live.ref: Known(live) for live in listed}
                found |= {ref: there.get(ref, Absent()) for ref in group}
        single = [ref for ref in refs if ref not in found]
        found |= dict(zip(single, each(self._clock, self.live, single), strict=True))
        return {ref: found[ref] for ref in refs}

    def lists(self, live: LiveObject) -> tuple[tuple[Kind, tuple[Watched, ...]], ...]:
        """Read what a workload selects, kind by kind; ApiError if that fails."""
        selector = self._selectors[live.ref] = _selector_of(live)
        kinds = _kinds_of_parts(live.ref)
        listed = each(self._clock, self._lists(live.ref, selector), kinds)
        return tuple(zip(kinds, map(tuple, listed), strict=True))

    def _parts(self, live: LiveObject) -> Parts:
        return _sorted_out([things for _, things in self.lists(live)])

    def _rollout(self, ref: Ref) -> tuple[Known[LiveObject] | Absent, Parts]:
        """Read the workload and its parts in parallel, if its selector is known already.

        A selector does not change while the object lives (apps/v1); a recreated workload may have
        another: then its parts are read again.
        """
        selector = self._selectors.get(ref)
        if selector is None:
            fact = self.live(ref)
            return fact, self._parts(fact.value) if isinstance(fact, Known) else _NO_PARTS
        lists = self._lists(ref, selector)
        questions: list[Callable[[], Any]] = [partial(self.live, ref)]
        questions += [partial(lists, kind) for kind in _kinds_of_parts(ref)]
        fact, *listed = each(self._clock, lambda question: question(), questions)
        if isinstance(fact, Absent):
            return fact, _NO_PARTS
        if _selector_of(fact.value) != selector:
            return fact, self._parts(fact.value)
        return fact, _sorted_out(listed)

    def _lists(self, ref: Ref, selector: str) -> Callable[[Kind], Sequence[Watched]]:
        query = (("labelSelector", selector),)

        def list_kind(kind: Kind) -> Sequence[Watched]:
            if kind in registry.OPTIONAL:
                return self._optional(kind)
            access = self._access(ref.namespace, kind)
            return list_all(self._client, kind, ref.namespace, query, access=access).objects

        return list_kind

    def _optional(self, kind: Kind) -> Sequence[Watched]:
        """List a kind of the cluster, none of which is known where it may not be read."""
        try:
            return list_all(self._client, kind, "", ()).objects
        except Forbidden:
            return ()

    def _access(self, namespace: str, kind: str) -> str:
        return access_to(namespace, kind) if self._insists else ""

    def autoscalers(self, namespace: str) -> Fact[tuple[Autoscaler, ...]]:
        """Return what scales in a namespace: HorizontalPodAutoscalers and KEDA's ScaledObjects.

        Unknown if reading them is not allowed or fails; KEDA not installed means none.
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


def _many_alike(refs: Sequence[Ref]) -> dict[tuple[Resource, str], list[Ref]]:
    """Return the workloads of each kind and namespace of which a list is worth it."""
    groups: dict[tuple[Resource, str], list[Ref]] = {}
    for ref in refs:
        if registry.find_workload(ref) is not None:
            groups.setdefault(_scope(ref), []).append(ref)
    return {one: group for one, group in groups.items() if len(group) > MOST_READ_SINGLY}


def _scope(ref: Ref) -> tuple[Resource, str]:
    """Return what one list can hold: a kind in a namespace."""
    return registry.workload_of(ref).watched.resource, ref.namespace


def _kinds_of_parts(ref: Ref) -> tuple[Kind, ...]:
    workload = registry.workload_of(ref)
    return tuple(one.kind for one in (*workload.children, *workload.surroundings))


def _selector_of(live: LiveObject) -> str:
    return query_of(registry.workload_of(live.ref).selector(live.body.thaw()))


def _by_owner(
    lives: Mapping[Ref, LiveObject],
    revisions: Sequence[Revision],
    pods: Sequence[Pod],
    nodes: tuple[Node, ...],
) -> Mapping[Ref, Parts]:
    """Return the parts of each workload; one of which nobody listed is the owner is of each."""
    owners: dict[str, Ref | None] = {live.uid: ref for ref, live in lives.items()}
    of_revisions = {one.uid: owners.get(one.owner_uid) for one in revisions}
    kept: dict[Ref | None, list[Revision]] = {}
    for one in revisions:
        kept.setdefault(of_revisions[one.uid], []).append(one)
    running: dict[Ref | None, list[Pod]] = {}
    for pod in pods:
        owner = of_revisions.get(pod.owner_uid) or owners.get(pod.owner_uid)
        running.setdefault(owner, []).append(pod)
    return {
        ref: (
            (*kept.get(ref, ()), *kept.get(None, ())),
            (*running.get(ref, ()), *running.get(None, ())),
            nodes,
        )
        for ref in lives
    }


def _sorted_out(listed: Sequence[Sequence[Watched]]) -> Parts:
    things = [thing for listing in listed for thing in listing]
    return (
        tuple(thing for thing in things if isinstance(thing, Revision)),
        tuple(thing for thing in things if isinstance(thing, Pod)),
        tuple(thing for thing in things if isinstance(thing, Node)),
    )


def _scaler(kind: str, namespace: str, item: Mapping[str, Any]) -> Autoscaler:
    target = scale_target(namespace, item)
    if target is None:
        raise ValueError("an autoscaler without a target")
    return Autoscaler(kind, clean_line(item["metadata"]["name"]), target)


def scale_target(namespace: str, item: Mapping[str, Any]) -> Ref | None:
    """Return what an autoscaler's body targets (`spec.scaleTargetRef`), None if it names none.

    KEDA's default is a Deployment.

    """
    try:
        target = item["spec"]["scaleTargetRef"]
        api_version, kind = target.get("apiVersion"), target.get("kind")
        name = target["name"]
    except (KeyError, TypeError, AttributeError):
        return None
    usual = registry.SCALED_BY_DEFAULT
    return Ref(str(api_version or usual.api_version), str(kind or usual.kind), namespace, str(name))
