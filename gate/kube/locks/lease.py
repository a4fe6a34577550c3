"""Leases as locks: who holds one, since when, and what it remembers (coordination.k8s.io/v1).

Every write carries uid and resourceVersion, so that one of two who take a lock at once is refused.
Times of the server and of other machines are shown and never compared: whoever waits for an expiry
measures on its own clock how long `renewed` stays the same.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from gate.cluster_name import ClusterName
from gate.core.frozen import dataclass
from gate.core.model.lock import PREFIX, Lock
from gate.core.model.lock_holder import NOBODY, Holder, Process
from gate.kube.answers.failures import AlreadyExists, BadAnswer, NotFound
from gate.kube.client.client import MERGE_PATCH, Client, Query
from gate.kube.paths.resources import LEASES
from gate.wire.untrusted import clean_line

DURATION_SECONDS: Final = 60
"""How long a lock holds after its last renewal."""
HOLDER: Final = "rollout-gate/holder"
RECORD: Final = "rollout-gate/attempt"
HISTORY: Final = "rollout-gate/history"
NO_MEMORY: Final[Mapping[str, str]] = MappingProxyType({})
_QUERY: Final[Query] = (("fieldManager", "rollout-gate"),)
_LONGEST_SECONDS: Final = 600
_MOST_TRANSITIONS: Final = 2**31 - 1
"""`leaseTransitions` is an int32: a larger one is invalid, and the server's answer is the whole
Lease."""
_PAGE: Final = "500"
_UNREADABLE: Final = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
"""What an annotation raises that somebody else has written, infinite or nested too deep."""


@dataclass(frozen=True, slots=True)
class Held:
    """A Lease as it was read; `holder` is nobody once it was given back.

    `record` is a text of `gate.wire.record`, `history` one of `gate.wire.history`, "" for none.
    """

    lock: Lock
    uid: str
    resource_version: str
    holder: Holder = NOBODY
    renewed: str = ""
    acquired: str = ""
    seconds: int = DURATION_SECONDS
    transitions: int = 0
    record: str = field(default="", repr=False)
    history: str = field(default="", repr=False)

    @property
    def is_free(self) -> bool:
        """Whether nobody holds it."""
        return not self.holder.identity

    @property
    def is_blank(self) -> bool:
        """Whether its first holder still has it, and it remembers nothing."""
        return not self.transitions and self.remembers_nothing

    @property
    def remembers_nothing(self) -> bool:
        """Whether it has neither the record of an attempt nor a history."""
        return not self.memory

    @property
    def memory(self) -> Mapping[str, str]:
        """What it remembers, as annotations."""
        texts = {RECORD: self.record, HISTORY: self.history}
        return {name: text for name, text in texts.items() if text}


class Leases:
    """Reads and writes the locks; every method raises leaves of `ApiError`."""

    def __init__(self, client: Client) -> None:
        """Share the client's connections."""
        self._client = client

    @property
    def cluster(self) -> ClusterName:
        """How an advised command names the cluster of the locks."""
        return self._client.connection.cluster

    def server_wall(self) -> datetime:
        """Return the time of the server that keeps the locks."""
        return self._client.server_time.wall()

    def read(self, lock: Lock) -> Held | None:
        """Return a lock as it is, None if it was never taken."""
        try:
            return _decode_held(self._client.get(_path(lock)))
        except NotFound:
            return None

    def all(self, namespace: str) -> tuple[Held, ...]:
        """Return every lock of a namespace."""
        found: list[Held] = []
        token = ""
        while True:
            query = (("limit", _PAGE), *((("continue", token),) if token else ()))
            items, token = _page(self._client.get(LEASES.path(namespace), query))
            found += [one for one in items if one.lock.name.startswith(PREFIX)]
            if not token:
                return tuple(found)

    def create(
        self, lock: Lock, holder: Holder, now: datetime, memory: Mapping[str, str] = NO_MEMORY
    ) -> Held | None:
        """Take a lock that does not exist, or no longer; None if somebody else just did."""
        body = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": lock.name, "annotations": {**_annotations(holder), **memory}},
            "spec": {**_make_spec(holder, now), "leaseTransitions": 0},
        }
        try:
            return _decode_held(
                self._client.write("POST", LEASES.path(lock.namespace), body, _QUERY).body
            )
        except AlreadyExists:
            return None

    def claim(self, held: Held, holder: Holder, now: datetime) -> Held:
        """Take a lock as it was read; ResourceVersionConflict if somebody else was faster.

        What it remembers stays.
        """
        transitions = min(held.transitions + 1, _MOST_TRANSITIONS)
        spec = {**_make_spec(holder, now), "leaseTransitions": transitions}
        return self._patch(held, _annotations(holder), spec)

    def renew(self, held: Held, now: datetime) -> Held:
        """Say that the holder lives; ResourceVersionConflict if somebody else wrote."""
        return self._patch(held, {}, {"renewTime": _time(now)})

    def save(self, held: Held, record: str, now: datetime) -> Held:
        """Write an attempt's record, and renew the lock."""
        return self.remember(held, {RECORD: record}, now)

    def remember(self, held: Held, annotations: Mapping[str, str | None], now: datetime) -> Held:
        """Write what is to be remembered, and renew the lock; None removes an annotation."""
        return self._patch(held, annotations, {"renewTime": _time(now)})

    def release(self, held: Held, annotations: Mapping[str, str | None], now: datetime) -> Held:
        """Give a lock back, and write what is to be remembered."""
        spec = {"holderIdentity": "", "renewTime": _time(now)}
        return self._patch(held, annotations, spec)

    def release_for(self, held: Held, now: datetime) -> Held:
        """Give a lock back for its holder, and record that it was not the holder who did."""
        annotations = _annotations(dataclasses.replace(held.holder, was_released=True))
        return self.release(held, annotations, now)

    def delete(self, held: Held) -> None:
        """Delete a lock as it was read: it has nothing to remember."""
        given = {"uid": held.uid, "resourceVersion": held.resource_version}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": given}
        self._client.write("DELETE", _path(held.lock), options)

    def _patch(
        self, held: Held, annotations: Mapping[str, str | None], spec: Mapping[str, Any]
    ) -> Held:
        metadata: dict[str, Any] = {"uid": held.uid, "resourceVersion": held.resource_version}
        if annotations:
            metadata["annotations"] = dict(annotations)
        body = {"metadata": metadata, "spec": dict(spec)}
        path = _path(held.lock)
        return _decode_held(self._client.write("PATCH", path, body, _QUERY, MERGE_PATCH).body)


def _path(lock: Lock) -> str:
    return LEASES.path(lock.namespace, lock.name)


def _annotations(holder: Holder) -> dict[str, str]:
    said = {
        "identity": holder.identity,
        "url": holder.url,
        "locks": [[lock.namespace, lock.name] for lock in holder.locks],
        "records_in": [[lock.namespace, lock.name] for lock in holder.records_in],
        "process": dataclasses.asdict(holder.process) if holder.process is not None else None,
        "released": holder.was_released,
    }
    return {HOLDER: json.dumps(said, sort_keys=True)}


def _make_spec(holder: Holder, now: datetime) -> dict[str, Any]:
    return {
        "holderIdentity": holder.identity,
        "leaseDurationSeconds": DURATION_SECONDS,
        "acquireTime": _time(now),
        "renewTime": _time(now),
    }


def _time(now: datetime) -> str:
    """Return a MicroTime (meta/v1)."""
    return now.isoformat(timespec="microseconds").replace("+00:00", "Z")


# -- what was read ---------------------------------------------------------------------------------


def _decode_held(body: bytes) -> Held:
    try:
        return _held_of(json.loads(body))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadAnswer("a Lease cannot be read") from error


def _page(body: bytes) -> tuple[list[Held], str]:
    try:
        page = json.loads(body)
        found = [_held_of(item) for item in page["items"]]
        return found, str((page.get("metadata") or {}).get("continue") or "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadAnswer("the list of Leases cannot be read") from error


def _held_of(value: Mapping[str, Any]) -> Held:
    metadata, spec = value["metadata"], value.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    seconds = int(spec.get("leaseDurationSeconds") or DURATION_SECONDS)
    return Held(
        lock=Lock(metadata["namespace"], metadata["name"]),
        uid=str(metadata["uid"]),
        resource_version=str(metadata["resourceVersion"]),
        holder=_holder(spec.get("holderIdentity") or "", annotations.get(HOLDER) or "{}"),
        renewed=clean_line(str(spec.get("renewTime") or "")),
        acquired=clean_line(str(spec.get("acquireTime") or "")),
        seconds=min(seconds, _LONGEST_SECONDS),
        transitions=int(spec.get("leaseTransitions") or 0),
        record=str(annotations.get(RECORD) or ""),
        history=str(annotations.get(HISTORY) or ""),
    )


@functools.lru_cache(maxsize=16)  # the Leases of one run all say the same
def _holder(identity: str, said: str) -> Holder:
    """Return who holds it; what cannot be read of its annotation counts as not said.

    If somebody has put another identity into the spec alone, page and process are not theirs.
    """
    try:
        note = json.loads(said)
        locks = _locks(note["locks"])
        records_in = _locks(note.get("records_in") or ())
        said_url = clean_line(str(note["url"]))
    except _UNREADABLE:
        return Holder(clean_line(identity))
    url = said_url if said_url.startswith(("https://", "http://")) else ""
    wrote = str(note.get("identity") or "")
    is_another = bool(identity and wrote and identity != wrote)
    return Holder(
        identity=clean_line(identity),
        url="" if is_another else url,
        locks=locks,
        process=None if is_another else _process(note.get("process")),
        records_in=records_in,
        held_last_by=clean_line(wrote),
        was_released=note.get("released") is True,
    )


def _locks(said: Iterable[Any]) -> tuple[Lock, ...]:
    return tuple(Lock(str(namespace), str(name)) for namespace, name in said)


def _process(said: Any) -> Process | None:
    """Return a process as a holder describes it, None for what describes none."""
    try:
        host, boot_id, namespaces = (said[key] for key in ("host", "boot_id", "namespaces"))
        pid, start_ticks = int(said["pid"]), int(said["start_ticks"])
    except _UNREADABLE:
        return None
    texts = (host, boot_id, namespaces)
    if not all(isinstance(text, str) and text for text in texts):
        return None
    return Process(host, boot_id, namespaces, pid, start_ticks)
