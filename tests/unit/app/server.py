"""An API server in memory: objects, applies, watches, reviews, and what reacts to them.

A scripted answer (`on`) comes before what the objects would say. Objects are kept by their path.
`tests.unit.app.wire` brings requests to it, by a call or by HTTP.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from gate.kube.resource import Resource
from gate.kube.resources import KNOWN
from sandbox.face import copy_json
from tests.unit.app import server_side
from tests.unit.app.controllers import CREATED, Fate, by_image, reconciled
from tests.unit.kube.scripted import (
    Answer,
    Reply,
    Seen,
    Stream,
    a_line,
    as_json,
    as_status,
)

JSON = dict[str, Any]
ALL_RULES = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


class ApiServer:
    """Holds objects of the namespaces that there are; Deployments are acted on at once.

    `rules` are what the caller may do, `incomplete` whether that is all that can be said of it.
    `acts` is false where nobody looks after Deployments; `fate_of` says how pods fare.
    `on_request` is called with every request. `gone` is set when nobody serves any more.
    """

    def __init__(self) -> None:
        """Begin with the namespaces kube-system and shop."""
        self.seen: list[Seen] = []
        self.on_request: Callable[[Seen], None] = lambda _: None
        self.gone = threading.Event()
        self.rules: list[JSON] = list(ALL_RULES)
        self.incomplete = False
        self.acts = True
        self.fate_of: Fate = by_image
        self.log_of_pods = b"panic: DATABASE_URL is not set\n"
        self._script: dict[tuple[str, str], list[Answer]] = {}
        self._resources = {
            (resource.api_version, resource.plural): resource
            for resource in KNOWN.values()
            if resource.group != "keda.sh"
        }
        self._objects: dict[str, JSON] = {}
        self._version = 100
        self._happened: list[tuple[int, str, str, JSON]] = []
        self._changed = threading.Condition(threading.RLock())
        for name in ("kube-system", "shop"):
            self.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def serve(self, resource: Resource) -> None:
        """Serve a custom kind."""
        self._resources[resource.api_version, resource.plural] = resource
        listed = {
            "name": resource.plural,
            "kind": resource.kind,
            "namespaced": resource.namespaced,
        }
        self.on("GET", f"/apis/{resource.api_version}", as_json({"resources": [listed]}))

    # -- for tests -----------------------------------------------------------------------------

    def put(self, body: JSON, *, manager: str = "rollout-gate") -> JSON:
        """Keep an object as if that manager had applied it; a Deployment is acted on."""
        with self._changed:
            if "managedFields" not in body["metadata"]:
                body = server_side.managed_by(manager, body)
            path = self._path(body)
            self._keep(path, {**body, "spec": _defaulted(body)} if _is_judged(body) else body)
            return self._objects[path]

    def get(self, kind: str, name: str, namespace: str = "shop") -> JSON:
        """Return a copy of an object by kind and name; KeyError where there is none."""
        with self._changed:
            return next(
                copy_json(found)
                for found in self._objects.values()
                if (found["kind"], found["metadata"]["name"]) == (kind, name)
                and found["metadata"].get("namespace") in (namespace, None)
            )

    def has(self, kind: str, name: str) -> bool:
        """Tell whether there is such an object."""
        with self._changed:
            return any(
                (found["kind"], found["metadata"]["name"]) == (kind, name)
                for found in self._objects.values()
            )

    def change(
        self,
        kind: str,
        name: str,
        patch: JSON,
        *,
        manager: str = "somebody",
        subresource: str = "",
    ) -> JSON:
        """Merge a patch into an object, as somebody else, perhaps through a subresource."""
        with self._changed:
            path = self._path(self.get(kind, name))
            live = self._objects[path]
            after = server_side.merge_patched(live, patch, manager, subresource)
            return self._keep(path, after)

    def remove(self, kind: str, name: str) -> None:
        """Delete an object, as somebody else."""
        with self._changed:
            self._drop(self._path(self.get(kind, name)))

    def on(self, method: str, path: str, *answers: Answer) -> None:
        """Script the answers to a method and path, in order; the last is given again and again."""
        self._script[method, path] = list(answers)

    def forget(self, method: str, path: str) -> None:
        """Take a script back."""
        self._script.pop((method, path), None)

    def writes(self) -> list[Seen]:
        """Return the requests that would change something, in their order; locks are none."""
        return [
            seen
            for seen in self.seen
            if seen.method in ("PATCH", "DELETE", "PUT")
            and seen.query.get("dryRun") != "All"
            and not _is_of_a_lock(seen.path)
        ]

    def trials(self) -> list[Seen]:
        """Return the dry runs."""
        return [seen for seen in self.seen if seen.query.get("dryRun") == "All"]

    def close(self) -> None:
        """Serve nobody any more, and end everybody who watches."""
        with self._changed:
            self.gone.set()
            self._changed.notify_all()

    # -- answers -------------------------------------------------------------------------------

    def answer_to(self, seen: Seen) -> Answer:
        """Answer from the script, else from the objects."""
        self.seen.append(seen)
        self.on_request(seen)
        answers = self._script.get((seen.method, seen.path))
        if answers:
            return answers.pop(0) if len(answers) > 1 else answers[0]
        with self._changed:
            return self._answer(seen)

    def _answer(self, seen: Seen) -> Answer:
        collection, name, rest = self._place(seen.path)
        if seen.method == "POST":
            return self._created(seen, collection) if collection else self._review(seen)
        if not collection:
            return as_status(404, "the server could not find the requested resource")
        if rest == "log":
            return Reply(200, self.log_of_pods)
        if seen.method == "GET" and not name:
            return self._watched(seen) if "watch" in seen.query else self._list(seen)
        if seen.method == "GET":
            found = self._objects.get(seen.path)
            return as_json(found) if found else _missing(seen.path)
        if seen.method == "DELETE":
            return self._deleted(seen)
        return self._patched(seen)

    def _created(self, seen: Seen, collection: Resource) -> Answer:
        body = seen.json()
        namespace = seen.path.partition("/namespaces/")[2].partition("/")[0]
        if f"/api/v1/namespaces/{namespace}" not in self._objects:
            return as_status(404, f'namespaces "{namespace}" not found', "NotFound")
        path = collection.path(namespace, body["metadata"]["name"])
        if path in self._objects:
            return as_status(409, "it exists already", "AlreadyExists")
        named = {**body["metadata"], "namespace": namespace}
        return as_json(self._keep(path, {**body, "metadata": named}), 201)

    def _review(self, seen: Seen) -> Answer:
        match seen.path.rpartition("/")[2]:
            case "selfsubjectrulesreviews":
                status = {"resourceRules": self.rules, "incomplete": self.incomplete}
            case "selfsubjectaccessreviews":
                status = {"allowed": self.rules == ALL_RULES}
            case _:
                status = {"userInfo": {"username": "ci"}}
        return as_json({"status": status}, 201)

    def _list(self, seen: Seen) -> Answer:
        collection, _, _ = self._place(seen.path)
        found = [
            body
            for path, body in self._objects.items()
            if path.rpartition("/")[0] == seen.path and _selected(body, seen.query)
        ]
        meta = {"resourceVersion": str(self._version)}
        frame = {"kind": f"{collection.kind}List", "apiVersion": collection.api_version}  # type: ignore[union-attr]
        return as_json({**frame, "metadata": meta, "items": found})

    def _watched(self, seen: Seen) -> Answer:
        return Stream(cast("Sequence[bytes]", Lines(self, seen)))

    def news(self, told: int, ended: threading.Event) -> list[tuple[int, str, str, JSON]]:
        """Return what happened after the first `told` changes; wait for it, or for the end."""
        with self._changed:
            while len(self._happened) == told and not (self.gone.is_set() or ended.is_set()):
                self._changed.wait()
            return self._happened[told:]

    def wake(self) -> None:
        """Let everybody who watches look up."""
        with self._changed:
            self._changed.notify_all()

    def _patched(self, seen: Seen) -> Answer:
        live, body = self._objects.get(seen.path), seen.json()
        namespace, _, inside = seen.path.partition("/namespaces/")[2].partition("/")
        if inside and f"/api/v1/namespaces/{namespace}" not in self._objects:
            return as_status(404, f'namespaces "{namespace}" not found', "NotFound")
        if isinstance(body, list):
            body = {"metadata": {one["path"].rpartition("/")[2]: one["value"] for one in body}}
        refused = _precondition(live, body.get("metadata", {}))
        if refused is not None:
            return refused
        manager, kind = seen.query["fieldManager"], seen.header("Content-Type")
        try:
            if kind == APPLY:
                force = seen.query["force"] == "true"
                after = server_side.applied(live, body, manager, force=force)
            elif live is None:
                return _missing(seen.path)
            elif kind == MERGE:
                after = server_side.merge_patched(live, body, manager)
            else:
                managed = {"managedFields": body["metadata"]["managedFields"]}
                after = {**live, "metadata": {**live["metadata"], **managed}}
        except server_side.REFUSALS as error:
            refusal = error.refusal()
            return as_json(refusal.body(), refusal.status)
        if _is_judged(after):
            after = {**after, "spec": _defaulted(after)}
        if seen.query.get("dryRun") == "All":
            return as_json(self._dressed(seen.path, after))
        return as_json(self._keep(seen.path, after), 200 if live else 201)

    def _deleted(self, seen: Seen) -> Answer:
        live = self._objects.get(seen.path)
        if live is None:
            return _missing(seen.path)
        refused = _precondition(live, seen.json().get("preconditions", {}))
        if refused is None:
            self._drop(seen.path)
        return refused or as_json({"kind": "Status", "status": "Success"})

    # -- objects -------------------------------------------------------------------------------

    def _place(self, path: str) -> tuple[Resource | None, str, str]:
        """Return the kind of a path, the object's name and the subresource."""
        parts = path.strip("/").split("/")
        version, rest = (
            (parts[1], parts[2:])
            if parts[0] == "api"
            else (
                "/".join(parts[1:3]),
                parts[3:],
            )
        )
        if rest[:1] == ["namespaces"] and len(rest) > 2:
            rest = rest[2:]
        plural, name, sub = (*rest, "", "", "")[:3]
        return self._resources.get((version, plural)), name, sub

    def _path(self, body: JSON) -> str:
        kinds = {(r.api_version, r.kind): r for r in self._resources.values()}
        resource = kinds[body["apiVersion"], body["kind"]]
        return resource.path(body["metadata"].get("namespace", ""), body["metadata"]["name"])

    def _dressed(self, path: str, body: JSON) -> JSON:
        """Return an object with what the server itself sets."""
        live = self._objects.get(path)
        metadata = {"creationTimestamp": CREATED, "uid": f"uid-{len(self._objects)}"}
        generation = 1
        if live is not None:
            metadata = {key: live["metadata"][key] for key in ("creationTimestamp", "uid")}
            generation = live["metadata"]["generation"] + (_asked(body) != _asked(live))
        version = str(self._version)
        own = {**body["metadata"], "generation": generation, "resourceVersion": version}
        return {**body, "metadata": {**metadata, **own}}

    def _keep(self, path: str, body: JSON) -> JSON:
        """Keep an object, tell the watchers, and let the controllers act; return what was kept."""
        live = self._objects.get(path)
        if live is not None and _unversioned(live) == _unversioned(self._dressed(path, body)):
            return live
        self._version += 1
        kept = self._dressed(path, body)
        self._objects[path] = kept
        self._tell("MODIFIED" if live else "ADDED", path, kept)
        if _is_judged(kept) and self.acts:
            self._act_on(path, kept)
        return kept

    def _drop(self, path: str) -> None:
        body = self._objects.pop(path)
        self._version += 1
        self._tell("DELETED", path, body)
        for child in self._owned(body["metadata"]["uid"]):
            self._drop(self._path(child))

    def _owned(self, uid: str) -> list[JSON]:
        return [
            body
            for body in self._objects.values()
            for owner in body["metadata"].get("ownerReferences", [])
            if owner["uid"] == uid
        ]

    def _act_on(self, path: str, live: JSON) -> None:
        """Do what the controllers do, down to the pods."""
        sets = self._owned(live["metadata"]["uid"])
        before = [pod for each in sets for pod in self._owned(each["metadata"]["uid"])]
        seen, after, pods = reconciled(live, sets, self.fate_of)
        for each in after:
            self._keep(self._path(each), each)
        names = {pod["metadata"]["name"] for pod in pods}
        for pod in before:
            if pod["metadata"]["name"] not in names:
                self._drop(self._path(pod))
        for pod in pods:
            self._keep(self._path(pod), pod)
        if seen != live:
            self._version += 1
            seen["metadata"]["resourceVersion"] = str(self._version)
            self._objects[path] = seen
            self._tell("MODIFIED", path, seen)

    def _tell(self, kind: str, path: str, body: JSON) -> None:
        told = copy_json(body)
        told["metadata"]["resourceVersion"] = str(self._version)
        self._happened.append((self._version, path.rpartition("/")[0], kind, told))
        self._changed.notify_all()


class Lines(Iterator[bytes]):
    """The lines of one watch, until it is ended or the server is gone."""

    def __init__(self, server: ApiServer, seen: Seen) -> None:
        self._server = server
        self._seen = seen
        self._told = 0
        self._ready: list[bytes] = []
        self._ended = threading.Event()

    def __next__(self) -> bytes:
        """Return the next line; wait for it."""
        while not self._ready:
            news = self._server.news(self._told, self._ended)
            if not news or self._ended.is_set():
                raise StopIteration
            self._told += len(news)
            self._ready = [a_line(kind, body) for *_, kind, body in filter(self._is_meant, news)]
        return self._ready.pop(0)

    def end(self) -> None:
        """End it."""
        self._ended.set()
        self._server.wake()

    def _is_meant(self, one: tuple[int, str, str, JSON]) -> bool:
        version, path, _, body = one
        since = int(self._seen.query["resourceVersion"])
        return version > since and path == self._seen.path and _selected(body, self._seen.query)


def _is_of_a_lock(path: str) -> bool:
    return path.rpartition("/")[2].startswith("rollout-gate.")


def _is_judged(body: JSON) -> bool:
    return bool(body["kind"] == "Deployment")


def _defaulted(body: JSON) -> JSON:
    rolling = {"maxSurge": "25%", "maxUnavailable": "25%"}
    defaults = {
        "replicas": 1,
        "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    }
    return {**defaults, **body["spec"]}


def _asked(body: JSON) -> tuple[Any, ...]:
    """Return what counts for the generation: of Deployments annotations do, of nothing else."""
    if body["kind"] != "Deployment":
        return (body.get("spec"),)
    annotations = dict(body["metadata"].get("annotations", {}))
    annotations.pop("deployment.kubernetes.io/revision", None)
    return body.get("spec"), annotations


def _unversioned(body: JSON) -> JSON:
    metadata = {k: v for k, v in body["metadata"].items() if k != "resourceVersion"}
    return {**body, "metadata": metadata}


def _selected(body: JSON, query: Mapping[str, str]) -> bool:
    labels = body["metadata"].get("labels", {})
    wanted = re.findall(r"[^,(]+(?:\([^)]*\))?", query.get("labelSelector", ""))
    if not all(_holds(labels, term) for term in wanted):
        return False
    name = query.get("fieldSelector", "").partition("metadata.name=")[2]
    return not name or bool(body["metadata"]["name"] == name)


def _holds(labels: Mapping[str, str], term: str) -> bool:
    key, _, values = term.partition(" in ")
    if values:
        return labels.get(key) in values.strip("()").split(",")
    key, _, value = term.partition("=")
    return labels.get(key) == value


def _missing(path: str) -> Answer:
    kind, name = path.split("/")[-2:]
    return as_status(404, f'{kind} "{name}" not found', "NotFound")


def _precondition(live: JSON | None, wanted: JSON) -> Answer | None:
    if live is None:
        if "uid" in wanted:
            return as_status(409, "uid mismatch: there is no existing object", "Conflict")
        return None
    metadata = live["metadata"]
    if wanted.get("uid", metadata["uid"]) != metadata["uid"]:
        return as_status(409, "uid mismatch: it is another object", "Conflict")
    version = wanted.get("resourceVersion", metadata["resourceVersion"])
    if version != metadata["resourceVersion"]:
        return as_status(409, "the object has been modified", "Conflict")
    return None
