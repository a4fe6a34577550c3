"""What was really asked of the API server: its audit log, read from a mark on.

Writes of the gate and of the role users carry their bodies and answers; what the controllers and
the kubelet read is left out, so that the log stays cheap.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import yaml

from tests.cluster import access
from tests.cluster.kubelet.api import JSON, Api

GATE_AGENT = "rollout-gate/"
WRITE_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})
SETTLE_SECONDS = 10.0

# Asking the server about oneself is a POST, and changes nothing.
_QUESTIONS = frozenset({"authorization.k8s.io", "authentication.k8s.io"})
# What the gate writes for itself, beside the objects of its manifest.
_OWN_PREFIX = "rollout-gate."


def write_policy(path: Path) -> None:
    """Write the API server's audit policy."""
    machinery = [access.CONTROLLER_MANAGER, access.KUBELET]
    rules: list[JSON] = [
        {"level": "None", "users": ["system:apiserver"]},
        {"level": "None", "users": machinery, "verbs": ["get", "list", "watch"]},
        {"level": "None", "users": machinery, "resources": [{"group": "coordination.k8s.io"}]},
        {"level": "None", "nonResourceURLs": ["/readyz*", "/livez*", "/healthz*"]},
        {
            "level": "RequestResponse",
            "users": [access.GATE, *access.ROLES],
            "verbs": sorted(WRITE_VERBS),
        },
        {"level": "Metadata"},
    ]
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": rules,
    }
    path.write_text(yaml.safe_dump(policy))


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the API server saw it; `at` is when it came in (UTC).

    `code` is the HTTP status (of a watch: of its start). `body` and `answer` are there for writes
    of the gate and the role users; the body of a JSON patch is a list.
    """

    at: datetime
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    user: str
    user_agent: str
    uri: str
    body: JSON | list[JSON] | None
    answer: JSON | None

    @property
    def is_dry_run(self) -> bool:
        """Whether the server was asked to change nothing."""
        return "dryRun=All" in self.uri

    @property
    def is_write(self) -> bool:
        """Whether it was meant to change an object, successful or not."""
        return self.verb in WRITE_VERBS and self.group not in _QUESTIONS and not self.is_dry_run

    @property
    def succeeded(self) -> bool:
        """Whether the server said yes."""
        return self.code < 400

    @property
    def is_own(self) -> bool:
        """Whether it writes what the gate keeps for itself: its Lease, its Secret, an Event."""
        if self.resource == "events":
            return True
        return self.resource in {"leases", "secrets"} and self.name.startswith(_OWN_PREFIX)

    @property
    def sends_template(self) -> bool:
        """Whether its body carries a pod template: an apply, or a rollback."""
        spec = self.body.get("spec") if isinstance(self.body, dict) else None
        return isinstance(spec, dict) and "template" in spec


@dataclass(frozen=True, slots=True)
class Requests:
    """Some requests in the order in which they came in, and what can be asked of them."""

    all: tuple[Request, ...]

    def __iter__(self) -> Iterator[Request]:
        """Go through them in their order."""
        return iter(self.all)

    def __len__(self) -> int:
        """Count them."""
        return len(self.all)

    def where(self, holds: Callable[[Request], bool]) -> Requests:
        """Return those for which `holds` is true."""
        return Requests(tuple(request for request in self.all if holds(request)))

    def of(
        self, *, verb: str | None = None, resource: str | None = None, namespace: str | None = None
    ) -> Requests:
        """Return those that match everything that is given."""
        wanted = {"verb": verb, "resource": resource, "namespace": namespace}
        given = {name: value for name, value in wanted.items() if value is not None}
        return self.where(lambda each: all(getattr(each, k) == v for k, v in given.items()))

    def writes(self) -> Requests:
        """Return the requests that were meant to change something; dry runs are none."""
        return self.where(lambda each: each.is_write)

    def of_objects(self) -> Requests:
        """Return those about anything but what the gate keeps for itself."""
        return self.where(lambda each: not each.is_own)

    def rollbacks(self, namespace: str, name: str, resource: str = "deployments") -> Requests:
        """Return the successful writes of a pod template after the attempt's first (S3).

        Ask it of one attempt's requests: the first template that an attempt sends is its apply.
        """
        sent = self.writes().of(namespace=namespace, resource=resource)
        with_template = sent.where(
            lambda each: each.name == name and each.succeeded and each.sends_template
        )
        return Requests(with_template.all[1:])


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the log, and the time when it was the log's end."""

    offset: int
    at: datetime


class AuditLog:
    """The audit log of one API server, which `api` reaches."""

    def __init__(self, path: Path, api: Api) -> None:
        self._path = path
        self._api = api

    def mark(self) -> Mark:
        """Return the place that follows everything that was answered so far."""
        offset, event = self._settle(self._path.stat().st_size)
        return Mark(offset, _time(event))

    def since(self, mark: Mark, user_agent: str = GATE_AGENT, *, namespace: str = "") -> Requests:
        """Return what came in after `mark` from user agents that start with `user_agent`.

        With `namespace`, only what is about one object of it, or about several. A watch counts
        once, whether it has ended or not. One that came in before the mark and ended later is left
        out.
        """
        end, _ = self._settle(mark.offset)
        with self._path.open("rb") as log:
            log.seek(mark.offset)
            lines = log.read(end - mark.offset).splitlines()
        wanted = f'"userAgent":"{user_agent}'.encode()
        place = f'"namespace":"{namespace}"'.encode() if namespace else b""
        events = [json.loads(line) for line in lines if wanted in line and place in line]
        latest = {event["auditID"]: event for event in events if _time(event) > mark.at}
        requests = sorted(map(_request, latest.values()), key=lambda request: request.at)
        return Requests(tuple(requests))

    def _settle(self, offset: int) -> tuple[int, JSON]:
        """Wait until the log holds a request sent now, and so every one answered before.

        Returns the offset after that request's line, and its event. The API server writes its log
        after it has answered, and offers nothing to wait on.
        """
        probe = f"audit-probe={uuid.uuid4().hex}"
        self._api.text("GET", f"/version?{probe}")
        deadline = time.monotonic() + SETTLE_SECONDS
        with self._path.open("rb") as log:
            log.seek(offset)
            while time.monotonic() < deadline:
                line = log.readline()
                if line.endswith(b"\n"):
                    offset += len(line)
                    if probe.encode() in line:
                        return offset, json.loads(line)
                else:
                    log.seek(offset)
                    time.sleep(0.005)
        raise TimeoutError(f"{self._path} does not show a request of {SETTLE_SECONDS} s ago")


def _time(event: JSON) -> datetime:
    return datetime.fromisoformat(event["requestReceivedTimestamp"])


def _request(event: JSON) -> Request:
    reference = event.get("objectRef", {})
    body = event.get("requestObject")
    name = reference.get("name", "")
    if not name and isinstance(body, dict):
        name = body.get("metadata", {}).get("name", "")
    return Request(
        at=_time(event),
        verb=event["verb"],
        group=reference.get("apiGroup", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=name,
        code=event.get("responseStatus", {}).get("code", 0),
        user=event["user"].get("username", ""),
        user_agent=event.get("userAgent", ""),
        uri=event["requestURI"],
        body=body,
        answer=event.get("responseObject"),
    )


class Log(Protocol):
    """What a server is asked, as `AuditLog` has it of a real one."""

    def mark(self) -> Mark:
        """Return the place that follows everything that was answered so far."""

    def since(self, mark: Mark, user_agent: str = GATE_AGENT) -> Requests:
        """Return what came in after `mark` from user agents that start with `user_agent`."""


@dataclass(frozen=True, slots=True)
class Trail:
    """What one test has asked of the API server."""

    log: Log
    mark: Mark

    def requests(self, user_agent: str = GATE_AGENT) -> Requests:
        """Return the requests so far of user agents that start with `user_agent`."""
        return self.log.since(self.mark, user_agent)
