"""The pods of a kubelet, each worked through its script, and the scheduler that gives them nodes.

It speaks to no server: pods come in by `see` and `lose`, requests leave through `send`, time is a
`Timers`. So the same workers play the pods of the sandbox and those of a real control plane.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sandbox.json import JSON
from sandbox.kubelet.behaviour import (
    BehaviourError,
    Clause,
    Kind,
    Silence,
    Source,
    behaviour_of,
    clauses_of,
    log_of,
)
from sandbox.kubelet.container import Note, Pace
from sandbox.kubelet.logs import LogState
from sandbox.kubelet.nodes import Nodes, NodeState
from sandbox.kubelet.pod import Pod
from sandbox.kubelet.requests import (
    Author,
    Bind,
    EventWriter,
    PodRef,
    Remove,
    ReportStatus,
    Request,
)
from sandbox.times import Timers

Send = Callable[[Request, str], None]
"""Takes a request, and the node whose kubelet makes it."""


@dataclass(slots=True)
class _Worker:
    """A pod that the kubelet knows, what it is asked to do, and how far it has come."""

    item: JSON
    pod: Pod
    ref: PodRef
    ordinal: int
    node: str
    is_bound: bool
    asked: tuple[Clause, ...] | None = None
    complaint: str = ""
    reported: JSON | None = None
    is_ending: bool = False


class PodWorkers:
    """Plays every pod that it is shown, on the nodes of these names and those that it is shown.

    A pod for which there is no node of ours waits until one comes.
    """

    def __init__(
        self, timers: Timers, send: Send, nodes: Sequence[str], pace: Pace = Pace.NODE
    ) -> None:
        self._timers = timers
        self._send = send
        self._pace = pace
        self._source: Source = Silence()
        self._events = EventWriter()
        self._workers: dict[str, _Worker] = {}
        self._ordinals: Counter[tuple[str, str]] = Counter()
        self._nodes = Nodes(nodes)
        self._unplaced: dict[str, JSON] = {}
        self._addresses = itertools.count(1)

    # What is seen

    def see(self, item: JSON) -> None:
        """Take a pod on, or take notice of what has changed in it."""
        worker = self._workers.get(item["metadata"]["uid"])
        if worker is None:
            self._admit(item)
            return
        before, worker.item = worker.item, item
        if "deletionTimestamp" in item["metadata"]:
            self._end(worker)
        elif before["metadata"].get("annotations") != item["metadata"].get("annotations"):
            self._ask(worker)
        elif _is_called_unready(item) and self._nodes.state(worker.node) is NodeState.READY:
            worker.reported = None
            self._advance(worker)

    def lose(self, item: JSON) -> None:
        """Forget a pod that has gone."""
        uid = item["metadata"]["uid"]
        self._unplaced.pop(uid, None)
        if worker := self._workers.pop(uid, None):
            self._nodes.release(worker.node)
            self._events.forget(uid)

    def see_node(self, node: JSON) -> None:
        """Play the pods of a node as its object asks from now on, where that has changed."""
        if not self._nodes.see(node):
            return
        for item in list(self._unplaced.values()):
            self._admit(item)
        for worker in list(self._workers.values()):
            if worker.node != node["metadata"]["name"]:
                continue
            if self._is_silent(worker):
                worker.reported = None  # A node controller writes over it meanwhile.
            else:
                self._resume(worker)

    def lose_node(self, node: JSON) -> None:
        """Let the pods of a node be, whose object has gone."""
        self._nodes.lose(node)

    def follow(self, source: Source) -> None:
        """Ask `source` from now on what pods do that do not say it themselves."""
        self._source = source
        self.reconsider()

    def reconsider(self) -> None:
        """Ask the source again, for every pod: what it says has changed."""
        for worker in list(self._workers.values()):
            if not worker.is_ending:
                self._ask(worker)

    def evict(self, namespace: str, pod: str) -> None:
        """Evict a pod for its node's lack of memory, where it runs."""
        worker = self._find_worker(namespace, pod)
        if worker and worker.pod.started and not worker.is_ending:
            worker.pod.evict_at(self._timers.now())
            self._advance(worker)

    def log(self, namespace: str, pod: str, container: str) -> LogState | None:
        """Return what decides a container's log, or None where there is no such container."""
        worker = self._find_worker(namespace, pod)
        for each in worker.pod.containers if worker else ():
            if worker and each.part.name == container:
                text = log_of(worker.item, each.part.image, self._source)
                return LogState.of(each, pod, text)
        return None

    def _find_worker(self, namespace: str, pod: str) -> _Worker | None:
        name = (namespace, pod)
        workers = self._workers.values()
        return next((each for each in workers if (each.ref.namespace, each.ref.name) == name), None)

    def _admit(self, item: JSON) -> None:
        """Take a pod on: one that is nobody's yet, or one that is bound to a node of ours."""
        metadata, spec = item["metadata"], item["spec"]
        self._unplaced.pop(metadata["uid"], None)
        if item.get("status", {}).get("phase") in {"Succeeded", "Failed"}:
            return
        node = self._nodes.choose(item)
        if node is None:
            self._unplaced[metadata["uid"]] = item
            return
        owner = _owner(metadata)
        number = next(self._addresses) % 2**16
        worker = _Worker(
            item=item,
            pod=Pod(item, f"10.244.{number >> 8}.{number & 255}", self._pace),
            ref=PodRef(metadata["namespace"], metadata["name"], metadata["uid"]),
            ordinal=self._ordinals[owner] if owner[0] else 0,
            node=node,
            is_bound=bool(spec.get("nodeName")),
        )
        self._ordinals[owner] += 1
        self._nodes.take(node)
        self._workers[worker.ref.uid] = worker
        self._ask(worker)
        if "deletionTimestamp" in metadata:
            self._end(worker)

    def _ask(self, worker: _Worker) -> None:
        """Let the pod do what it is asked to do, where that has changed."""
        try:
            asked = clauses_of(worker.item, self._source)
        except BehaviourError as error:
            if str(error) != worker.complaint:
                worker.complaint = str(error)
                self._say(worker, Note("BadBehaviour", worker.complaint))
            return
        if asked != worker.asked:
            worker.asked, worker.complaint = asked, ""
            self._change(worker, asked)

    def _change(self, worker: _Worker, clauses: Sequence[Clause]) -> None:
        behaviour = behaviour_of(clauses, worker.ordinal, worker.node)
        worker.pod.behave(behaviour, self._timers.now())
        if not worker.is_bound and (unschedulable := behaviour.of_pod(Kind.UNSCHEDULABLE)):
            self._leave_unscheduled(worker, unschedulable)
        else:
            self._run_on(worker)

    # What the pods do

    def _leave_unscheduled(self, worker: _Worker, clause: Clause) -> None:
        status, note = worker.pod.unschedulable(self._timers.wall())
        self._report(worker, status, Author.SCHEDULER)
        self._say(worker, note)
        if clause.seconds is not None:
            asked = worker.asked
            self._timers.call_later(
                clause.seconds, lambda: self._run_on(worker) if worker.asked == asked else None
            )

    def _run_on(self, worker: _Worker) -> None:
        """Bind the pod, start it, let it take its due steps: whatever of these is next."""
        if self._has_gone(worker):
            return
        if not worker.is_bound:
            worker.is_bound = True
            self._send(Bind(worker.ref, worker.node), worker.node)
        if not worker.pod.started:
            if self._nodes.state(worker.node) is not NodeState.READY:
                return
            for note in worker.pod.start(self._timers.now(), self._timers.wall()):
                self._say(worker, note)
        self._advance(worker)

    def _resume(self, worker: _Worker) -> None:
        """Go on with a pod whose node is there again, or ready at last."""
        if "deletionTimestamp" in worker.item["metadata"]:
            self._end(worker)
        elif worker.is_bound and worker.asked is not None:
            self._run_on(worker)

    def _advance(self, worker: _Worker) -> None:
        if self._is_silent(worker):
            return
        wall = self._timers.wall()
        for note in worker.pod.advance(self._timers.now(), wall):
            self._say(worker, note)
        self._report(worker, worker.pod.status(wall), Author.KUBELET)
        if not math.isinf(worker.pod.due):
            self._timers.call_at(worker.pod.due, lambda: self._wake(worker))

    def _wake(self, worker: _Worker) -> None:
        """Go on, unless another behaviour has put the next step off since this was asked for."""
        if not self._has_gone(worker) and worker.pod.due <= self._timers.now():
            self._advance(worker)

    def _has_gone(self, worker: _Worker) -> bool:
        return worker.is_ending or worker.ref.uid not in self._workers

    def _is_silent(self, worker: _Worker) -> bool:
        return self._nodes.state(worker.node) is NodeState.DEAD

    def _end(self, worker: _Worker) -> None:
        """Let a deleted pod go, at once or as slowly as it was asked to."""
        if not worker.is_ending and not self._is_silent(worker):
            worker.is_ending = True
            grace_seconds = worker.item["metadata"].get("deletionGracePeriodSeconds", 0)
            seconds = min(
                max(worker.pod.termination_seconds, self._pace.end_seconds), grace_seconds
            )
            self._timers.call_later(seconds, lambda: self._finish(worker))

    def _finish(self, worker: _Worker) -> None:
        """Let the pod go; of one that a finalizer keeps, say first that its containers have ended.

        Its phase is then one of the end (Pod Lifecycle, since 1.27). A kubelet says it of every
        pod; of one that is gone the next moment nobody needs it.
        """
        if worker.pod.started and worker.item["metadata"].get("finalizers"):
            wall = self._timers.wall()
            worker.pod.kill(wall)
            self._report(worker, worker.pod.status(wall), Author.KUBELET)
        self._send(Remove(worker.ref), worker.node)

    # What is told

    def _report(self, worker: _Worker, status: JSON, author: Author) -> None:
        if status != worker.reported:
            worker.reported = status
            conditions = [{**_NOTHING_TOLD, **each} for each in status["conditions"]]
            reported = {**status, "conditions": conditions}
            body = {"metadata": {"uid": worker.ref.uid}, "status": reported}
            self._send(ReportStatus(worker.ref, body, author), worker.node)

    def _say(self, worker: _Worker, note: Note) -> None:
        wall = self._timers.wall()
        self._send(self._events.write(worker.ref, note, worker.node, wall), worker.node)


def _is_called_unready(item: JSON) -> bool:
    """Whether a node controller has called a pod unready: it gives no reason, as a kubelet does."""
    conditions = item.get("status", {}).get("conditions") or ()
    return any(
        (each["type"], each["status"], each.get("reason") or "") == ("Ready", "False", "")
        for each in conditions
    )


def _owner(metadata: JSON) -> tuple[str, str]:
    """Return whose pod it is: the owner's uid, and the revision where one owner has several."""
    uid = next((each["uid"] for each in metadata.get("ownerReferences", [])), "")
    return uid, metadata.get("labels", {}).get("controller-revision-hash", "")


_NOTHING_TOLD: Final[JSON] = {"reason": None, "message": None}
"""A condition that holds takes back what it told while it did not."""
