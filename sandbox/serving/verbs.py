"""A request for a resource: routed to the verb of the API, answered in the form asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from sandbox.access.authorizer import Target
from sandbox.api.api import Api, PatchType, WriteOptions, Writer
from sandbox.failure import ApiError, bad_request, not_served
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.kubelet.logs import LogOptions
from sandbox.objects import defaulted_type
from sandbox.serving.options import (
    check_write,
    decoded_object,
    decoded_patch,
    delete_options,
    is_dry_run,
    is_forced,
    list_options,
    manager_of,
    number,
    patch_type,
    read_options,
    strictness_of,
)
from sandbox.serving.rendering import View, WatchStream, answer, wants_table
from sandbox.serving.request import JSON_TYPE, Answer, Request
from sandbox.serving.routing import is_true
from sandbox.storage.selection import Selection, selection
from sandbox.storage.store import Change, Key, Store
from sandbox.storage.watching import no_reader

HEADERS = {"content-type": "text/plain"}


class ReadLog(Protocol):
    """A container's log as its kubelet has it; refusals are ApiError."""

    def __call__(
        self, namespace: str, pod: str, container: str = "", options: LogOptions | None = None
    ) -> bytes:
        """Return the whole log, or the part of it that the options ask for."""


def log_answer(request: Request, target: Target, store: Store, read: ReadLog) -> Answer:
    """Answer `GET pods/log`, as it is now or, followed, as it grows; 400 for what is no number."""
    if request.read_parameter("sinceSeconds") or request.read_parameter("sinceTime"):
        raise not_served("a log from a moment on: ask for its last lines")
    options = LogOptions(
        previous=is_true(request.read_parameter("previous")),
        tail_lines=_natural(request, "tailLines"),
        limit_bytes=_natural(request, "limitBytes"),
        timestamps=is_true(request.read_parameter("timestamps")),
    )
    container = request.read_parameter("container")
    text = read(target.namespace, target.name, container, options)
    if not is_true(request.read_parameter("follow")):
        return Answer(200, text, HEADERS)
    pod = Key("pods", target.namespace, target.name)
    whole = LogOptions(timestamps=options.timestamps)

    def now() -> bytes:
        return read(pod.namespace, pod.name, container, whole)

    return Answer(200, FollowedLog(store, pod, container, now, text), HEADERS)


def _natural(request: Request, name: str) -> int | None:
    """Return a number that is not negative, None where it is not given; 400 for anything else."""
    found = number(request.read_parameter(name))
    if found is not None and found < 0:
        raise bad_request(f"{name}: {found} is negative")
    return found


@dataclass(frozen=True, slots=True)
class Call:
    """One request on its way: what it asks, of which kind, by whom."""

    api: Api
    read_log: ReadLog
    request: Request
    target: Target
    resource: Resource
    user: str
    warn: Callable[[str], None]

    @property
    def key(self) -> Key:
        """Where the object is."""
        namespace = self.target.namespace if self.resource.namespaced else ""
        return Key(self.resource.key, namespace, self.target.name)

    @property
    def writer(self) -> Writer:
        """Who writes, and how managedFields names it."""
        return Writer(self.user, manager_of(self.request))

    def write_options(self) -> WriteOptions:
        """Return what becomes of fields that the schema does not know, and whether to keep it."""
        return WriteOptions(is_dry_run(self.request), strictness_of(self.request), self.warn)

    def selection(self) -> Selection:
        """Return which objects of the collection are meant; 400."""
        labels, fields = map(self.request.read_parameter, ("labelSelector", "fieldSelector"))
        return selection(self.resource.key, self.key.namespace, labels, fields)

    def view(self) -> View:
        """Return the form of the answer, as of now; 406."""
        is_table = wants_table(self.request.headers.get("accept", ""))
        now = datetime.fromisoformat(self.api.timers.wall(fraction=True))
        return View(self.resource, is_table, self.request.read_parameter("includeObject"), now)


def get(call: Call) -> Answer:
    """Read an object, one of its subresources, or a pod's log."""
    if call.target.subresource == "log":
        return log_answer(call.request, call.target, call.api.store, call.read_log)
    view = call.view()
    found = call.api.get(
        call.key,
        subresource=call.target.subresource,
        resource_version=call.request.read_parameter("resourceVersion"),
    )
    return answer(200, view.one(found))


def list_(call: Call) -> Answer:
    """List a collection."""
    view = call.view()
    found = call.api.list(call.selection(), list_options(call.request))
    return answer(200, view.many(found))


def watch(call: Call) -> Answer:
    """Watch a collection."""
    call.view()
    events = call.api.watch(call.selection(), list_options(call.request))
    return Answer(200, WatchStream(events, call.view), {"content-type": JSON_TYPE})


def create(call: Call) -> Answer:
    """Create an object in a collection, or evict a pod."""
    view = call.view()
    check_write(call.request)
    if call.target.subresource:
        return _evict(call)
    body = decoded_object(call.request, call.resource.api_version, call.resource.kind)
    place = (call.resource.key, call.key.namespace)
    made = call.api.create(*place, body, call.writer, call.write_options())
    return answer(201, view.one(made))


def _evict(call: Call) -> Answer:
    """Evict the pod that the path names, as the Eviction says; 400."""
    sent = decoded_object(call.request, "policy/v1", "Eviction")
    body = defaulted_type("policy/v1.Eviction", "Eviction", "v1", sent)
    if body["metadata"].get("name", "") != call.key.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = read_options(body.get("deleteOptions") or {})
    options = replace(options, dry_run=options.dry_run or is_dry_run(call.request))
    return answer(201, call.api.evict(call.key, call.writer, options))


def update(call: Call) -> Answer:
    """Replace an object; 201 where the kind creates on an update."""
    view = call.view()
    check_write(call.request)
    body = decoded_object(call.request, call.resource.api_version, call.resource.kind)
    status = _status_of_write(call)
    part, options = call.target.subresource, call.write_options()
    made = call.api.update(call.key, body, call.writer, options, subresource=part)
    return answer(status, view.one(made))


def patch(call: Call) -> Answer:
    """Change an object by a patch; 201 where an apply creates it."""
    view = call.view()
    kind = patch_type(call.request)
    check_write(call.request, apply=kind is PatchType.APPLY)
    status = _status_of_write(call)
    body = decoded_patch(call.request, force=is_forced(call.request))
    part, options = call.target.subresource, call.write_options()
    made = call.api.patch(call.key, body, call.writer, options, subresource=part)
    return answer(status, view.one(made))


def delete(call: Call) -> Answer:
    """Delete an object, or begin to."""
    view = call.view()
    found = call.api.delete(call.key, call.writer, delete_options(call.request))
    return answer(200, view.one(found))


VERBS: dict[str, Callable[[Call], Answer]] = {
    "get": get,
    "list": list_,
    "watch": watch,
    "create": create,
    "update": update,
    "patch": patch,
    "delete": delete,
}
"""By the verb that the path and the method ask for."""


def _status_of_write(call: Call) -> int:
    """Return the status of a write that creates what is not there."""
    return 200 if call.api.store.get(call.key) is not None else 201


class FollowedLog:
    """A log that grows with its pod; it ends when the attempt that writes it has ended."""

    def __init__(
        self, store: Store, pod: Key, container: str, read: Callable[[], bytes], text: bytes
    ) -> None:
        """Begin with `text`; `read` gives the whole log of the attempt at any later moment."""
        self._pod = pod
        self._container = container
        self._read = read
        self._pending = [text] if text else []
        self._sent_bytes = len(read())
        self._attempt = _attempt(store.get(pod), container)
        self._hear: Callable[[], None] = no_reader
        self._over = not _runs(store.get(pod), container)
        self._stop = store.listen("pods", self._on_change)
        if self._over:
            self._stop()

    @property
    def ended(self) -> bool:
        """Whether the container has ended."""
        return self._over

    def take(self) -> list[bytes]:
        """Return what was written since the last call."""
        taken, self._pending = self._pending, []
        return taken

    def on_data(self, hear: Callable[[], None]) -> None:
        """Have `hear` called when there is more, and at the end."""
        self._hear = hear

    def close(self) -> None:
        """End it from the reader's side."""
        self._over = True
        self._stop()
        self._hear()

    def _on_change(self, change: Change) -> None:
        if change.key != self._pod:
            return
        is_same = _attempt(change.after, self._container) == self._attempt
        if is_same:
            self._grow()
        if not is_same or not _runs(change.after, self._container):
            self.close()
        else:
            self._hear()

    def _grow(self) -> None:
        try:
            text = self._read()
        except ApiError:
            return
        if len(text) > self._sent_bytes:
            self._pending.append(text[self._sent_bytes :])
            self._sent_bytes = len(text)


def _status(pod: JSON | None, container: str) -> JSON:
    statuses = [
        *(dig(pod, "status", "containerStatuses") or []),
        *(dig(pod, "status", "initContainerStatuses") or []),
    ]
    named = [status for status in statuses if container in ("", status.get("name"))]
    return named[0] if named else {}


def _attempt(pod: JSON | None, container: str) -> tuple[str, int]:
    uid = dig(pod, "metadata", "uid") or ""
    return str(uid), int(_status(pod, container).get("restartCount", 0))


def _runs(pod: JSON | None, container: str) -> bool:
    return dig(_status(pod, container), "state", "running") is not None
