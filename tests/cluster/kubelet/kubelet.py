"""The kubelet itself: sees pods, binds them, lets their scripts run, reports what they do.

One thread owns every pod and the clock, and never waits for the network: changes come in through
the agenda, requests leave through the outbox.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.cluster.kubelet import behaviour, logs
from tests.cluster.kubelet.agenda import Agenda
from tests.cluster.kubelet.api import JSON, MERGE_PATCH, Api
from tests.cluster.kubelet.behaviour import BehaviourError, Kind
from tests.cluster.kubelet.events import EventWriter
from tests.cluster.kubelet.logs import LogState
from tests.cluster.kubelet.outbox import Outbox, Request
from tests.cluster.kubelet.pod import Pod
from tests.cluster.kubelet.scripts import Note
from tests.cluster.kubelet.watch import Change, ChangeKind, Watch


@dataclass(slots=True)
class _Entry:
    """A pod that the kubelet knows, what it is asked to do, and how far it has come."""

    pod: Pod
    ordinal: int
    is_bound: bool
    log_annotation: str
    asked: str = ""
    slow_seconds: float = 0.0
    reported: JSON | None = None
    is_ending: bool = False

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.pod.namespace}/pods/{self.pod.name}"


class Kubelet:
    """Plays every pod of the cluster, or only those that ask for `scheduler_name`."""

    def __init__(self, api: Api, node_name: str, scheduler_name: str = "") -> None:
        self._node_name = node_name
        self._agenda: Agenda[Change] = Agenda()
        selector = f"spec.schedulerName={scheduler_name}" if scheduler_name else ""
        self._watch = Watch(api, "/api/v1/pods", self._agenda.put, selector)
        self._outbox = Outbox(api)
        self._events = EventWriter(node_name)
        self._entries: dict[str, _Entry] = {}
        self._ordinals: Counter[str] = Counter()
        self._addresses = itertools.count(1)
        self._logs: dict[tuple[str, str, str], LogState] = {}

    def run(self) -> None:
        """Play pods until `stop` is called."""
        self._outbox.start()
        threading.Thread(target=self._watch.run, name="watch", daemon=True).start()
        self._agenda.run(self._take)

    def stop(self) -> None:
        """Let `run` return; for other threads and signal handlers."""
        self._agenda.stop()

    def find_log(self, namespace: str, pod: str, container: str) -> LogState | None:
        """Return what decides a container's log, or None where there is no such container."""
        return self._logs.get((namespace, pod, container))

    # What the watch says

    def _take(self, change: Change) -> None:
        item = change.object
        entry = self._entries.get(item["metadata"]["uid"])
        if change.kind is ChangeKind.GONE:
            self._forget(item)
        elif entry is None:
            self._admit(item)
        elif "deletionTimestamp" in item["metadata"]:
            self._end(entry, item)
        elif entry.asked != _annotation(item, behaviour.ANNOTATION):
            self._change(entry, item)

    def _admit(self, item: JSON) -> None:
        """Take a pod on: one that is nobody's yet, or one that is bound to this node."""
        metadata, spec = item["metadata"], item["spec"]
        is_over = item.get("status", {}).get("phase") in {"Succeeded", "Failed"}
        if is_over or spec.get("nodeName", self._node_name) != self._node_name:
            return
        owner = next((each["uid"] for each in metadata.get("ownerReferences", [])), "")
        entry = _Entry(
            pod=Pod(item, self._next_address()),
            ordinal=self._ordinals[owner] if owner else 0,
            is_bound="nodeName" in spec,
            log_annotation=_annotation(item, logs.ANNOTATION),
        )
        self._ordinals[owner] += 1
        self._entries[metadata["uid"]] = entry
        self._change(entry, item)
        if "deletionTimestamp" in metadata:
            self._end(entry, item)

    def _change(self, entry: _Entry, item: JSON) -> None:
        """Do what the annotation asks, from now on."""
        entry.asked = _annotation(item, behaviour.ANNOTATION)
        try:
            asked = behaviour.parse(entry.asked, entry.ordinal)
        except BehaviourError as error:
            self._say(entry, Note("BadBehaviour", str(error)))
            return
        slow = asked.of_pod(Kind.SLOW_TERMINATION)
        entry.slow_seconds = (slow.seconds if slow else None) or 0.0
        entry.pod.behave(asked, time.monotonic())
        if not entry.is_bound and (unschedulable := asked.of_pod(Kind.UNSCHEDULABLE)):
            self._leave_unscheduled(entry, unschedulable.seconds)
        else:
            self._run_on(entry)

    def _forget(self, item: JSON) -> None:
        metadata = item["metadata"]
        if entry := self._entries.pop(metadata["uid"], None):
            self._events.forget(metadata["uid"])
            for each in entry.pod.containers:
                self._logs.pop((entry.pod.namespace, entry.pod.name, each.part.name), None)

    # What the pods do

    def _leave_unscheduled(self, entry: _Entry, seconds: float | None) -> None:
        status, note = entry.pod.unschedulable(_wall())
        self._patch_status(entry, status)
        self._say(entry, note)
        if seconds is not None:
            self._agenda.at(time.monotonic() + seconds, lambda: self._run_on(entry))

    def _run_on(self, entry: _Entry) -> None:
        """Bind the pod, start it, let it take its due steps: whatever of these is next."""
        if self._has_gone(entry):
            return
        if not entry.is_bound:
            entry.is_bound = True
            self._bind(entry)
        if not entry.pod.started:
            for note in entry.pod.start(time.monotonic(), _wall()):
                self._say(entry, note)
        self._advance(entry)

    def _advance(self, entry: _Entry) -> None:
        wall = _wall()
        for note in entry.pod.advance(time.monotonic(), wall):
            self._say(entry, note)
        self._patch_status(entry, entry.pod.status(wall))
        for each in entry.pod.containers:
            key = (entry.pod.namespace, entry.pod.name, each.part.name)
            self._logs[key] = LogState.of(each, entry.pod.name, entry.log_annotation)
        if not math.isinf(entry.pod.due):
            self._agenda.at(entry.pod.due, lambda: self._wake(entry))

    def _wake(self, entry: _Entry) -> None:
        """Go on, unless another behaviour has put the next step off since this was asked for."""
        if not self._has_gone(entry) and entry.pod.due <= time.monotonic():
            self._advance(entry)

    def _has_gone(self, entry: _Entry) -> bool:
        return entry.is_ending or entry.pod.uid not in self._entries

    def _end(self, entry: _Entry, item: JSON) -> None:
        """Let a deleted pod go, at once or as slowly as it was asked to."""
        if not entry.is_ending:
            entry.is_ending = True
            grace_seconds = item["metadata"].get("deletionGracePeriodSeconds", 0)
            due = time.monotonic() + min(entry.slow_seconds, grace_seconds)
            self._agenda.at(due, lambda: self._remove(entry))

    # What goes to the API server

    def _bind(self, entry: _Entry) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": entry.pod.name, "uid": entry.pod.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": self._node_name},
        }
        self._put(entry, Request("POST", f"{entry.path}/binding", body))

    def _patch_status(self, entry: _Entry, status: JSON) -> None:
        if status == entry.reported:
            return
        entry.reported = status
        body = {"metadata": {"uid": entry.pod.uid}, "status": status}
        self._put(entry, Request("PATCH", f"{entry.path}/status", body, MERGE_PATCH))

    def _say(self, entry: _Entry, note: Note) -> None:
        self._put(entry, self._events.request(entry.pod, note, _wall()))

    def _remove(self, entry: _Entry) -> None:
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": entry.pod.uid}}
        self._put(entry, Request("DELETE", entry.path, body))

    def _put(self, entry: _Entry, request: Request) -> None:
        self._outbox.put(entry.pod.uid, request)

    def _next_address(self) -> str:
        number = next(self._addresses) % 2**16
        return f"10.244.{number >> 8}.{number & 255}"


def _annotation(item: JSON, name: str) -> str:
    return str(item["metadata"].get("annotations", {}).get(name, ""))


def _wall() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
