"""What is known of an attempt when it is over: every version of every object, and who wrote it."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from tests.bed.invariants import Key
from tests.cluster.audit import Request
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.interference import shop
from tests.interference.leaves import Leaves, Path, changed, changes, leaves
from tests.interference.trial import Trial


class Writer(enum.StrEnum):
    """Who wrote a version of an object."""

    OURS = "ours"
    """The attempt that is judged: its gate, and the `recover` that finished it."""
    OTHERS = "others"
    """Anybody else who is a user: actions, and gates beside the attempt."""
    BEFORE = "before"
    """What set the scene."""
    MACHINERY = "machinery"
    """Controllers and the kubelet, which write no field that a manifest has."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of an object; `leaves` are None where it has gone, `at` is when that was heard."""

    number: int
    at: datetime
    writer: Writer
    body: JSON | None

    @property
    def leaves(self) -> dict[Path, object]:
        """Return what people write of it; nothing of what has gone."""
        return leaves(self.body)


@dataclass(frozen=True, slots=True)
class Performed:
    """An action that was performed, or failed with `error`; `seconds` after the gate's start."""

    name: str
    at: datetime
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended; `results` are those of its runs, a `recover` last.

    `started` and `ended` are the cluster's count of writes then; `last_read_at` is when the gate
    last asked for each object.
    """

    results: tuple[Result, ...]
    document: JSON | None
    started: int
    ended: int
    last_read_at: Mapping[Key, datetime]

    @property
    def exit_code(self) -> int:
        """Return the exit code of the last run."""
        return self.results[-1].exit_code


@dataclass(frozen=True, slots=True)
class Facts:
    """An attempt that is over.

    `manifest` is what was applied; `versions` are all of its namespace's objects, by key, in order;
    `requests` are the attempt's own writes; `verified` is the count of writes when version 1 had
    been verified, 0 where no gate verified one; `left` are the Leases and kept Secrets at the end,
    and `next_apply` how the apply after it ended.
    """

    trial: Trial
    ended: Ended
    manifest: Mapping[Key, JSON]
    versions: Mapping[Key, tuple[Version, ...]]
    requests: tuple[Request, ...]
    performed: tuple[Performed, ...]
    verified: int
    left: tuple[JSON, ...]
    next_apply: Result | None

    @property
    def exit_code(self) -> int:
        """Return the exit code that is judged."""
        return self.ended.exit_code

    def is_early(self, performed: Performed) -> bool:
        """Whether an action came before the attempt had written every object of its manifest.

        What takes over managed fields, a JSON patch, comes before the write itself, and a write
        that was refused is none.
        """
        written = {
            Key(each.resource, each.namespace, each.name): each.at
            for each in reversed(self.requests)
            if each.succeeded and not isinstance(each.body, list)
        }
        return any(key not in written or performed.at <= written[key] for key in self.manifest)

    def keys(self, resource: str) -> list[Key]:
        """Return the manifest's objects of a resource."""
        return [key for key in self.manifest if key.resource == resource]

    def workloads(self) -> list[Key]:
        """Return the manifest's objects whose rollouts are judged."""
        return [key for key in self.manifest if key.resource in shop.WORKLOADS]

    def until(self, key: Key, number: int) -> list[Version]:
        """Return the versions of an object up to a count of writes."""
        return [each for each in self.versions.get(key, ()) if each.number <= number]

    def after(self, key: Key, number: int) -> list[Version]:
        """Return the versions of an object after a count of writes, up to the attempt's end."""
        return [each for each in self.until(key, self.ended.ended) if each.number > number]

    def at(self, key: Key, number: int) -> dict[Path, object]:
        """Return an object's leaves at a count of writes; none where it was not there."""
        versions = self.until(key, number)
        return versions[-1].leaves if versions else {}

    def final(self, key: Key) -> dict[Path, object]:
        """Return an object's leaves at the attempt's end."""
        return self.at(key, self.ended.ended)

    def own(self, key: Key) -> list[Version]:
        """Return the versions of an object that the attempt wrote, and that differ in a leaf."""
        return [
            version
            for before, version in self.steps(key, self.ended.started)
            if version.writer is Writer.OURS and changes(before, version.leaves)
        ]

    def steps(self, key: Key, number: int) -> Iterator[tuple[dict[Path, object], Version]]:
        """Iterate the versions after a count of writes, each with the leaves before it."""
        before = self.at(key, number)
        for version in self.after(key, number):
            yield before, version
            before = version.leaves

    def before_attempt(self, key: Key) -> int:
        """Return the count of writes right before the attempt's first change of an object."""
        own = self.own(key)
        return own[0].number - 1 if own else self.ended.ended

    def first_write(self) -> int:
        """Return the count of writes of the attempt's first change; its end where it made none."""
        own = [each.number for key in self.manifest for each in self.own(key)[:1]]
        return min(own, default=self.ended.ended)

    def with_changes_of_others(self, base: Leaves, key: Key, number: int) -> dict[Path, object]:
        """Return `base` with all that others changed of an object after a count of writes."""
        return others_changes(base, self.steps(key, number))

    def changed_by_others(self, key: Key, number: int) -> dict[Path, object]:
        """Return the paths that others changed of an object after a count of writes."""
        found: dict[Path, object] = {}
        for before, version in self.steps(key, number):
            if version.writer is Writer.OTHERS:
                found |= changes(before, version.leaves)
        return found

    def count_when_read_last(self, key: Key) -> int:
        """Return the count of writes of the version that an object had when it was read last."""
        read_at = self.ended.last_read_at.get(key)
        versions = self.until(key, self.ended.ended)
        seen = [each.number for each in versions if read_at is None or each.at <= read_at]
        return seen[-1] if seen else self.ended.started

    def seen_at_the_end(self, key: Key) -> list[Version]:
        """Return the versions that a Deployment had when it was read last, or later."""
        versions = self.until(key, self.ended.ended)
        read_at = self.ended.last_read_at.get(key)
        if read_at is None:
            return versions[-1:]
        later = [each for each in versions if each.at > read_at]
        earlier = [each for each in versions if each.at <= read_at]
        return [*earlier[-1:], *later]


def others_changes(
    base: Leaves, steps: Iterator[tuple[dict[Path, object], Version]]
) -> dict[Path, object]:
    """Return `base` with what others changed, step by step; what they deleted has no leaves."""
    expected = dict(base)
    for before, version in steps:
        if version.writer is not Writer.OTHERS:
            continue
        gone = version.body is None
        expected = {} if gone else changed(expected, changes(before, version.leaves))
    return expected
