"""What a scenario's events do to the cluster: the requests that kubectl would send."""

from __future__ import annotations

from typing import Any, Final

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Propagation, Writer
from sandbox.json import JSON, dig
from sandbox.kubelet.kubelet import Kubelet
from sandbox.scenario.actions import (
    Action,
    Delete,
    DeletePods,
    Edit,
    EvictPods,
    Pause,
    Quota,
    Restart,
    Scale,
    Supersede,
    Target,
)
from sandbox.storage.store import Key

USER: Final = "system:admin"
QUOTA_NAME: Final = "scenario"
_OVER: Final = ("Succeeded", "Failed")
_REVISION: Final = "deployment.kubernetes.io/revision"
_RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"


class Actor:
    """Does what events ask for, in a namespace unless they name another."""

    def __init__(self, api: Api, kubelet: Kubelet, namespace: str) -> None:
        self._api = api
        self._kubelet = kubelet
        self._namespace = namespace

    def perform(self, action: Action) -> None:
        """Do it; ApiError as the API server refuses it."""
        match action:
            case Quota(hard):
                self._limit(None if hard is None else dict(hard))
            case DeletePods(target, count):
                for pod in self._pods(target)[:count]:
                    self._api.delete(_pod_key(pod), Writer(USER, "kubectl"))
            case EvictPods(target, count):
                for pod in self._pods(target)[:count]:
                    self._kubelet.evict(pod["metadata"]["namespace"], pod["metadata"]["name"])
            case Delete(target):
                options = DeleteOptions(propagation=Propagation.BACKGROUND)
                self._api.delete(self._key(target), Writer(USER, "kubectl"), options)
            case _:
                self._change(action)

    def _change(self, action: Scale | Pause | Restart | Supersede | Edit) -> None:
        match action:
            case Scale(target, replicas):
                self._merge(target, "kubectl", {"spec": {"replicas": replicas}}, "scale")
            case Pause(target, paused):
                self._merge(target, "kubectl-rollout", {"spec": {"paused": paused or None}})
            case Restart(target):
                self._restart(target)
            case Supersede(target, image):
                self._set_image(target, image)
            case Edit(target, path, value):
                self._merge(target, "kubectl-edit", _nest_value(path, value))

    def _restart(self, target: Target) -> None:
        annotations = {_RESTARTED_AT: self._api.timers.wall()}
        template = {"metadata": {"annotations": annotations}}
        self._merge(target, "kubectl-rollout", {"spec": {"template": template}})

    def _set_image(self, target: Target, image: str) -> None:
        live = self._api.get(self._key(target))
        first = live["spec"]["template"]["spec"]["containers"][0]["name"]
        template = {"spec": {"containers": [{"name": first, "image": image}]}}
        patch = Patch(PatchType.STRATEGIC, {"spec": {"template": template}})
        self._api.patch(self._key(target), patch, Writer(USER, "kubectl-set"))

    def _limit(self, hard: JSON | None) -> None:
        key = Key("resourcequotas", self._namespace, QUOTA_NAME)
        by = Writer(USER, "kubectl-create")
        if hard is None:
            self._api.delete(key, by)
        elif self._api.store.get(key) is None:
            body = {"metadata": {"name": QUOTA_NAME}, "spec": {"hard": hard}}
            self._api.create("resourcequotas", self._namespace, body, by)
        else:
            patch = Patch(PatchType.JSON, [{"op": "replace", "path": "/spec/hard", "value": hard}])
            self._api.patch(key, patch, by)

    def _pods(self, target: Target) -> list[JSON]:
        """Return a Deployment's living pods: the newest ReplicaSet's first, by name."""
        deployment = self._api.get(self._key(target))
        namespace = deployment["metadata"]["namespace"]
        sets = self._list_owned("replicasets.apps", namespace, deployment)
        return [
            pod
            for owner in sorted(sets, key=_revision, reverse=True)
            for pod in self._list_owned("pods", namespace, owner)
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

    def _merge(self, target: Target, manager: str, body: JSON, subresource: str = "") -> None:
        patch = Patch(PatchType.MERGE, body)
        self._api.patch(self._key(target), patch, Writer(USER, manager), subresource=subresource)

    def _key(self, target: Target) -> Key:
        return Key("deployments.apps", target.namespace or self._namespace, target.name)


def _pod_key(pod: JSON) -> Key:
    return Key("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])


def _revision(replica_set: JSON) -> int:
    return int(dig(replica_set, "metadata", "annotations", _REVISION) or 0)


def _nest_value(path: tuple[str, ...], value: Any) -> JSON:
    for name in reversed(path):
        value = {name: value}
    nested: JSON = value
    return nested
