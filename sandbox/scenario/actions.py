"""What others do to a cluster: the grammar of a scenario's events, and what follows from each.

An event is a verb and its words; it sends the requests that kubectl would send.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Propagation, Writer
from sandbox.json import JSON, dig
from sandbox.kubelet.kubelet import Kubelet
from sandbox.kubelet.nodes import ANNOTATION as NODE_ANNOTATION
from sandbox.kubelet.nodes import NodeState, node
from sandbox.storage.store import Key

QUOTA_NAME: Final = "scenario"
_OVER: Final = ("Succeeded", "Failed")
_REVISION: Final = "deployment.kubernetes.io/revision"
_RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
_HASH: Final = "controller-revision-hash"
_PAUSED: Final = ("deployments.apps",)
_SCALED: Final = (*_PAUSED, "statefulsets.apps")
_WORKLOADS: Final = (*_SCALED, "daemonsets.apps", "jobs.batch")
"""The kinds that a name is looked for among, in this order, and those that can be scaled."""
_SUBJECTS: Final = {
    "scale": (_SCALED, "Deployment or StatefulSet"),
    "pause": (_PAUSED, "Deployment"),
    "resume": (_PAUSED, "Deployment"),
}
"""Of events that not every kind of workload can have: which can, and what to call these."""


class Target(NamedTuple):
    """A workload; `namespace` is empty for the one in which the scenario plays."""

    name: str
    namespace: str = ""


class Actor:
    """Does what events ask for, in a namespace unless they name another.

    Every method raises ApiError as the API server refuses it.
    """

    def __init__(self, api: Api, kubelet: Kubelet, namespace: str) -> None:
        self._api = api
        self._kubelet = kubelet
        self._namespace = namespace

    def scale(self, target: Target, replicas: int) -> None:
        """Set the replicas, as `kubectl scale`."""
        patch = Patch(PatchType.MERGE, {"spec": {"replicas": replicas}})
        key = self._key(target, _SCALED)
        self._api.patch(key, patch, _admin("kubectl"), subresource="scale")

    def pause(self, target: Target, *, paused: bool) -> None:
        """Pause or resume, as `kubectl rollout pause` and `resume`."""
        patch = Patch(PatchType.MERGE, {"spec": {"paused": paused or None}})
        self._api.patch(self._key(target, _PAUSED), patch, _admin("kubectl-rollout"))

    def restart(self, target: Target) -> None:
        """Start all pods again, as `kubectl rollout restart`."""
        annotations = {_RESTARTED_AT: self._api.timers.wall()}
        template = {"metadata": {"annotations": annotations}}
        self._merge(target, "kubectl-rollout", {"spec": {"template": template}})

    def supersede(self, target: Target, image: str) -> None:
        """Set another image in the first container, as `kubectl set image`."""
        live = self._api.get(self._key(target))
        first = live["spec"]["template"]["spec"]["containers"][0]["name"]
        template = {"spec": {"containers": [{"name": first, "image": image}]}}
        patch = Patch(PatchType.STRATEGIC, {"spec": {"template": template}})
        self._api.patch(self._key(target), patch, _admin("kubectl-set"))

    def edit(self, target: Target, path: tuple[str, ...], value: Any) -> None:
        """Set one field, as `kubectl edit`."""
        for name in reversed(path):
            value = {name: value}
        self._merge(target, "kubectl-edit", value)

    def delete(self, target: Target) -> None:
        """Delete the workload and what it owns."""
        options = DeleteOptions(propagation=Propagation.BACKGROUND)
        self._api.delete(self._key(target), _admin("kubectl"), options)

    def delete_pods(self, target: Target, count: int) -> None:
        """Delete pods, those of the newest revision first."""
        for pod in self._pods(target)[:count]:
            self._api.delete(pod, _admin("kubectl"))

    def evict_pods(self, target: Target, count: int) -> None:
        """Let the node evict pods, those of the newest revision first."""
        for pod in self._pods(target)[:count]:
            self._kubelet.evict(pod.namespace, pod.name)

    def drain_pods(self, target: Target, count: int) -> None:
        """Evict pods as their budgets allow, those of the newest revision first."""
        for pod in self._pods(target)[:count]:
            self._api.evict(pod, _admin("kubectl"))

    def set_node(self, name: str, state: NodeState) -> None:
        """Let a node join, or be in another state from now on."""
        key, by = Key("nodes", "", name), _admin("kubectl-annotate")
        if self._api.store.get(key) is None:
            self._api.create("nodes", "", node(name, asked=state.value), by)
        else:
            annotations = {NODE_ANNOTATION: state.value}
            patch = Patch(PatchType.MERGE, {"metadata": {"annotations": annotations}})
            self._api.patch(key, patch, by)

    def delete_node(self, name: str) -> None:
        """Delete a node; its pods go some time after it."""
        self._api.delete(Key("nodes", "", name), _admin("kubectl"))

    def limit(self, hard: JSON | None) -> None:
        """Limit what the namespace may have (`spec.hard` of a ResourceQuota); None: no longer."""
        key = Key("resourcequotas", self._namespace, QUOTA_NAME)
        by = _admin("kubectl-create")
        if hard is None:
            self._api.delete(key, by)
        elif self._api.store.get(key) is None:
            body = {"metadata": {"name": QUOTA_NAME}, "spec": {"hard": hard}}
            self._api.create("resourcequotas", self._namespace, body, by)
        else:
            patch = Patch(PatchType.JSON, [{"op": "replace", "path": "/spec/hard", "value": hard}])
            self._api.patch(key, patch, by)

    def _pods(self, target: Target) -> list[Key]:
        """Return a workload's living pods: those of the newest revision first, by name."""
        workload = self._api.get(self._key(target))
        namespace = workload["metadata"]["namespace"]
        sets = self._list_owned("replicasets.apps", namespace, workload)
        owned = [
            pod
            for owner in (*sorted(sets, key=_revision, reverse=True), workload)
            for pod in self._list_owned("pods", namespace, owner)
        ]
        revisions = self._list_owned("controllerrevisions.apps", namespace, workload)
        newest: JSON = max(
            revisions, key=lambda each: int(each["revision"]), default={"metadata": {}}
        )
        name = newest["metadata"].get("name", "")
        owned.sort(key=lambda pod: not _is_of(pod, name))
        return [
            Key("pods", namespace, pod["metadata"]["name"])
            for pod in owned
            if "deletionTimestamp" not in pod["metadata"]
            and dig(pod, "status", "phase") not in _OVER
        ]

    def _list_owned(self, resource: str, namespace: str, owner: JSON) -> list[JSON]:
        uid = owner["metadata"]["uid"]
        items = self._api.store.items(resource, namespace)
        return [
            item
            for item in items
            if any(each["uid"] == uid for each in item["metadata"].get("ownerReferences", ()))
        ]

    def _merge(self, target: Target, manager: str, body: JSON) -> None:
        self._api.patch(self._key(target), Patch(PatchType.MERGE, body), _admin(manager))

    def _key(self, target: Target, kinds: tuple[str, ...] = _WORKLOADS) -> Key:
        """Return where a workload is: the first of that name; where none is, a Deployment's."""
        namespace = target.namespace or self._namespace
        keys = [Key(kind, namespace, target.name) for kind in kinds]
        return next((key for key in keys if self._api.store.get(key)), keys[0])


def _admin(manager: str) -> Writer:
    return Writer("system:admin", manager)


def _is_of(pod: JSON, revision: str) -> bool:
    """Say whether a pod is of a ControllerRevision; a DaemonSet's tells the end of its name."""
    found = (pod["metadata"].get("labels") or {}).get(_HASH)
    return bool(found) and (revision == found or revision.endswith(f"-{found}"))


def _revision(replica_set: JSON) -> int:
    return int(dig(replica_set, "metadata", "annotations", _REVISION) or 0)


Action = Callable[[Actor], None]
"""An event that is read: what it lets an actor do."""


class _WrongWords(ValueError):
    """The words after a verb are not what it takes."""


def parse(text: str) -> Action:
    """Return what an event asks for; ValueError says what there is to ask for."""
    verb, *words = text.split()
    if verb not in _VERBS:
        raise ValueError(f"no such event: {verb}; there are {', '.join(_VERBS)}")
    form, read = _VERBS[verb]
    try:
        return read(*words)
    except (TypeError, _WrongWords) as error:
        raise ValueError(f"{verb}: expected {f'{verb} {form}'.strip()}") from error


def subject_of(text: str) -> tuple[Target, tuple[str, ...], str] | None:
    """Return whom a well-said event is about, among which resources, and what to call these."""
    verb, *words = text.split()
    if not _VERBS[verb][0].startswith(("DEPLOYMENT", "WORKLOAD")):
        return None
    return _target(words[0]), *_SUBJECTS.get(verb, (_WORKLOADS, "workload"))


def image_of(text: str) -> str:
    """Return the image that a well-said event brings, "" for none."""
    verb, *words = text.split()
    return words[1] if verb == "supersede" else ""


def _target(word: str) -> Target:
    namespace, _, name = word.rpartition("/")
    if not name or "/" in namespace:
        raise _WrongWords(word)
    return Target(name, namespace)


def _count(word: str) -> int:
    if not word.isdecimal():
        raise _WrongWords(word)
    return int(word)


def _on(do: Callable[..., None], **fixed: Any) -> Callable[[str], Action]:
    return lambda target: partial(do, target=_target(target), **fixed)


def _on_pods(do: Callable[..., None]) -> Callable[..., Action]:
    return lambda target, count="1": partial(do, target=_target(target), count=_count(count))


def _node(name: str, state: str) -> Action:
    if state not in set(NodeState):
        raise _WrongWords(state)
    return partial(Actor.set_node, name=name, state=NodeState(state))


def _scale(target: str, replicas: str) -> Action:
    return partial(Actor.scale, target=_target(target), replicas=_count(replicas))


def _supersede(target: str, image: str) -> Action:
    return partial(Actor.supersede, target=_target(target), image=image)


def _edit(target: str, *change: str) -> Action:
    """Read `PATH=VALUE`: a number, a truth value or null as such, everything else as text."""
    field, given, text = " ".join(change).partition("=")
    path = tuple(field.strip().split("."))
    if not given or not all(path):
        raise _WrongWords(field)
    try:
        value = json.loads(text.strip())
    except ValueError:
        value = text.strip()
    return partial(Actor.edit, target=_target(target), path=path, value=value)


def _quota(*limits: str) -> Action:
    if limits == ("none",):
        return partial(Actor.limit, hard=None)
    pairs = [limit.partition("=") for limit in limits]
    if not pairs or not all(name and value for name, _, value in pairs):
        raise _WrongWords(limits)
    return partial(Actor.limit, hard={name: value for name, _, value in pairs})


_VERBS: Final[dict[str, tuple[str, Callable[..., Action]]]] = {
    "scale": ("WORKLOAD REPLICAS", _scale),
    "pause": ("DEPLOYMENT", _on(Actor.pause, paused=True)),
    "resume": ("DEPLOYMENT", _on(Actor.pause, paused=False)),
    "restart": ("WORKLOAD", _on(Actor.restart)),
    "supersede": ("WORKLOAD IMAGE", _supersede),
    "edit": ("WORKLOAD PATH=VALUE", _edit),
    "delete": ("WORKLOAD", _on(Actor.delete)),
    "delete-pod": ("WORKLOAD [COUNT]", _on_pods(Actor.delete_pods)),
    "evict-pod": ("WORKLOAD [COUNT]", _on_pods(Actor.evict_pods)),
    "drain-pod": ("WORKLOAD [COUNT]", _on_pods(Actor.drain_pods)),
    "node": (f"NODE {'|'.join(NodeState)}", _node),
    "delete-node": ("NODE", lambda name: partial(Actor.delete_node, name=name)),
    "quota": ("RESOURCE=LIMIT ..., or quota none", _quota),
}
