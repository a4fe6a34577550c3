"""What the sandbox was asked, and what became of its workloads: its audit and its history."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

import yaml

from sandbox.face import AuditEntry, Change, Cluster, Timers
from tests.bed.history import KEPT, version_of
from tests.cluster.audit import GATE_AGENT, WRITE_VERBS, Mark, Request, Requests
from tests.cluster.kubelet.api import JSON


class PlayedAudit:
    """The audit of one sandbox, from its beginning on."""

    def __init__(self, timers: Timers) -> None:
        """Begin empty."""
        self._timers = timers
        self._entries: list[AuditEntry] = []

    def hear(self, entry: AuditEntry) -> None:
        """Take an entry; the sandbox's door calls this."""
        self._entries.append(entry)

    def mark(self) -> Mark:
        """Return the place that follows everything so far."""
        return Mark(len(self._entries), self._at(self._timers.now()))

    def since(self, mark: Mark, user_agent: str = GATE_AGENT) -> Requests:
        """Return what came in after `mark` from user agents that start with `user_agent`."""
        later = self._entries[mark.offset :]
        wanted = (each for each in later if each.user_agent.startswith(user_agent))
        return Requests(tuple(map(self._request, wanted)))

    def _at(self, seconds: float) -> datetime:
        return self._timers.started + timedelta(seconds=seconds)

    def _request(self, entry: AuditEntry) -> Request:
        target = entry.target
        is_write = target.verb in WRITE_VERBS
        body = _decoded(entry.request_body) if is_write else None
        name = target.name
        if not name and isinstance(body, dict):
            name = body.get("metadata", {}).get("name", "")
        return Request(
            at=self._at(entry.at),
            verb=target.verb,
            group=target.group,
            resource=target.resource,
            subresource=target.subresource,
            namespace=target.namespace,
            name=name,
            code=entry.status,
            user=entry.user,
            user_agent=entry.user_agent,
            uri=entry.uri,
            body=body,
            answer=json.loads(entry.answer_body) if is_write and entry.answer_body else None,
        )


def _decoded(body: bytes) -> Any:
    """Return a body of JSON, or of YAML as applies may have it."""
    return yaml.load(body, Loader=yaml.CSafeLoader) if body else None


class PlayedHistory:
    """Every version that the sandbox's workloads went through."""

    def __init__(self, cluster: Cluster) -> None:
        """Listen from now on."""
        self._versions: dict[tuple[str, str, str], list[JSON]] = defaultdict(list)
        for resource in KEPT:
            cluster.api.store.listen(f"{resource}.apps", self._hear)

    def versions(
        self, namespace: str, name: str, until: int, resource: str = "deployments"
    ) -> list[JSON]:
        """Return the versions so far, resource version `until` and all before it among them."""
        found = self._versions[resource, namespace, name]
        assert found, f"there was no {resource} {namespace}/{name}"
        assert version_of(found[-1]) >= until
        return list(found)

    def _hear(self, change: Change) -> None:
        item = change.after or change.before
        assert item is not None
        resource = change.key.resource.partition(".")[0]
        self._versions[resource, change.key.namespace, change.key.name].append(item)
