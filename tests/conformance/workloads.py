"""Rollouts of StatefulSets, DaemonSets and Jobs as a real control plane played them.

    python -m tests.conformance.workloads FOLDER

reads recordings of v1.36.3 and writes `real/workloads.json`: what was applied, and the story that
followed, without times and without names that differ from run to run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.face import JSON, dig

REAL = Path(__file__).with_name("real") / "workloads.json"
KINDS = ("StatefulSet", "DaemonSet", "Job")
_OF_SERVER = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
_OF_JOB = ("controller-uid", "job-name")
_MOMENTS = ("startTime", "completionTime")
_IN_CONDITION = ("type", "status", "reason", "message")


@dataclass(slots=True)
class Story:
    """What a watcher saw, told apart by what it is about; feed it with `see`."""

    statuses: list[JSON] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)
    pods: dict[str, list[str]] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def know(self, bodies: Iterable[JSON]) -> None:
        """Name the revisions that are there already, the oldest first, and count the events."""
        revisions = [body for body in bodies if body["kind"] == "ControllerRevision"]
        for body in sorted(revisions, key=lambda each: int(each["revision"])):
            self._revision(body)
        for body in bodies:
            if body["kind"] == "Event":
                self._counts[body["metadata"]["name"]] = body["count"]

    def see(self, kind: str, body: JSON) -> None:
        """Take in one event of a watch: `ADDED`, `MODIFIED` or `DELETED`."""
        if body["kind"] in KINDS:
            self._see_workload(body)
        elif body["kind"] == "Pod":
            self._see_pod(kind, body)
        elif body["kind"] == "ControllerRevision":
            name = self._revision(body)
            self.moves.append(f"{kind.lower()} revision {name} as {body['revision']}")
        elif body["kind"] == "Event" and dig(body, "involvedObject", "kind") in KINDS:
            self._see_event(body)

    def as_json(self) -> JSON:
        """Return it for a file, or to be compared."""
        parts = (self.statuses, self.moves, self.pods, self.events)
        return dict(zip(("statuses", "moves", "pods", "events"), parts, strict=True))

    def _see_workload(self, body: JSON) -> None:
        status: JSON = {"generation": body["metadata"]["generation"], **body.get("status", {})}
        status.update(dict.fromkeys(status.keys() & set(_MOMENTS), True))
        if "conditions" in status:
            found = ({name: each[name] for name in _IN_CONDITION} for each in status["conditions"])
            status["conditions"] = list(found)
        for name in ("currentRevision", "updateRevision"):
            if name in status:
                status[name] = self._names[status[name]]
        uncounted = status.get("uncountedTerminatedPods")
        if uncounted is not None:
            status["uncountedTerminatedPods"] = {
                how: [self._names[uid] for uid in uids] for how, uids in uncounted.items()
            }
        if not self.statuses or self.statuses[-1] != status:
            self.statuses.append(status)

    def _see_pod(self, kind: str, body: JSON) -> None:
        name = self._pod(body)
        states = self.pods.setdefault(name, [])
        state = "gone" if kind == "DELETED" else self._state(body)
        if states[-1:] == [state]:
            return
        begins = state.endswith("deleting") and not (states and states[-1].endswith("deleting"))
        states.append(state)
        if kind != "MODIFIED" or begins:
            verb = {"ADDED": "create", "DELETED": "end"}.get(kind, "delete")
            self.moves.append(f"{verb} pod {name}")

    def _state(self, body: JSON) -> str:
        status, metadata = body.get("status", {}), body["metadata"]
        conditions = {each["type"]: each["status"] for each in status.get("conditions", ())}
        node = body["spec"].get("nodeName", "")
        labels = metadata.get("labels", {})
        words = [status.get("phase", ""), "ready" * (conditions.get("Ready") == "True")]
        words.append(self._name(node, "n") if node else "")
        words.append(self._names.get(labels.get("controller-revision-hash", ""), ""))
        words.append("tracked" if metadata.get("finalizers") else "")
        for each in status.get("containerStatuses", ()):
            [(what, why)] = each["state"].items()
            words += [what, why.get("reason", ""), str(why.get("exitCode", ""))]
            words.append(f"x{each['restartCount']}")
        words.append("deleting" * ("deletionTimestamp" in metadata))
        return " ".join(filter(None, words))

    def _see_event(self, body: JSON) -> None:
        before = self._counts.get(body["metadata"]["name"], 0)
        self._counts[body["metadata"]["name"]] = body["count"]
        message = body["message"]
        for name in sorted(self._names, key=len, reverse=True):
            message = message.replace(name, self._names[name])
        said = f"{body['type']} {body['reason']}: {message}"
        self.events[said] = self.events.get(said, 0) + body["count"] - before

    def _pod(self, body: JSON) -> str:
        name, owner = body["metadata"]["name"], dig(body, "metadata", "ownerReferences")[0]
        shown = self._names.get(name) or (name if owner["kind"] == "StatefulSet" else "")
        shown = shown or self._name(name, "p")
        self._names[name] = self._names[body["metadata"]["uid"]] = shown
        return shown

    def _revision(self, body: JSON) -> str:
        name = self._name(body["metadata"]["name"], "r")
        for label in ("controller-revision-hash", "controller.kubernetes.io/hash"):
            if label in body["metadata"]["labels"]:
                self._names[body["metadata"]["labels"][label]] = name
        return name

    def _name(self, name: str, letter: str) -> str:
        numbers = {
            each for each in self._names.values() if each[0] == letter and each[1:].isdigit()
        }
        return self._names.setdefault(name, f"{letter}{len(numbers) + 1}")


def as_sent(body: JSON) -> JSON:
    """Return an object as it was applied: without what the server has added."""
    metadata = {name: value for name, value in body["metadata"].items() if name not in _OF_SERVER}
    made = {**body, "metadata": metadata}
    made.pop("status", None)
    template = made["spec"]["template"]
    if body["kind"] == "Job":
        made["spec"] = {name: value for name, value in body["spec"].items() if name != "selector"}
        for labels in (metadata.get("labels", {}), template["metadata"]["labels"]):
            for name in [name for name in labels if name.rpartition("/")[2] in _OF_JOB]:
                del labels[name]
    return made


def read(path: Path) -> JSON:
    """Return a recording as `real/workloads.json` has it."""
    header, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    story = Story()
    story.know(header["before"])
    seen = [line for line in lines if "object" in line]
    for line in seen:
        story.see(line["type"], line["object"])
    before = [body for body in header["before"] if body["kind"] == header["workload"]["kind"]]
    pods = [body for body in header["before"] if body["kind"] == "Pod"]
    nodes = sorted({dig(body, "spec", "nodeName") for body in pods})
    joined: Mapping[str, float] = {
        str(dig(line["object"], "spec", "nodeName")): line["t"]
        for line in reversed(seen)
        if line["object"]["kind"] == "Pod" and dig(line["object"], "spec", "nodeName")
    }
    late = {name: round(at) for name, at in joined.items() if nodes and name not in nodes}
    return {
        "before": [as_sent(body) for body in before],
        "applied": as_sent(header["applied"]),
        "is_second": bool(before) and before[0]["metadata"]["generation"] > 1,
        "nodes": nodes,
        "joined": late,
        "seconds": max((line["t"] for line in seen), default=0.0),
        "story": story.as_json(),
    }


def main(folder: str) -> None:
    """Write what a folder's recordings of these kinds show."""
    found: dict[str, Any] = {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        if path.name.startswith(("sts-", "ds-", "job-")):
            found[path.stem] = read(path)
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
    REAL.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
