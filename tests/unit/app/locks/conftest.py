"""A keeper of locks that runs on Leases, whose writes fail as a test says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from queue import SimpleQueue
from typing import Any, cast

import pytest

from gate.app.locks.keeper import Keeper
from gate.app.locks.secret_backup import SecretsBeside
from gate.app.locks.verified_bodies import VerifiedBodies
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import NOBODY, Holder
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept, Record
from gate.core.protocol.effects import Release, SaveRecord
from gate.core.protocol.events import Recorded, Released
from gate.core.rollout.policy import Policy
from gate.core.versions.history import Closed, Closing
from gate.engine import Inbox
from gate.kube.answers.failures import (
    ApiError,
    Forbidden,
    ResourceVersionConflict,
    ServerFailure,
    UidMismatch,
)
from gate.kube.locks.kept_secrets import KeptSecrets, StoredSecret
from gate.kube.locks.lease import HISTORY, RECORD, Held, Leases
from gate.kube.locks.verified_secrets import VerifiedSecrets
from gate.virtual_time import VirtualClock

WEB, LOCK = deployment_ref("shop", "web"), lock_of(deployment_ref("shop", "web"))
BESIDE = lock_of(deployment_ref("shop", "worker"))
KEPT = Kept(WEB, Absent(), Body.of({}), "rollout-gate")
OUT = Record("apply", Leg.FORWARD, (KEPT,), (), Policy())
BACK = replace(OUT, leg=Leg.BACK)
KEYS = Ref("v1", "Secret", "shop", "keys")
SECRET = LiveObject(KEYS, "u2", "1", Body.of({"data": {"key": "b25l"}}), Body.of({}))
WITH_SECRET = replace(
    OUT, objects=(KEPT, Kept(KEYS, Known(SECRET), SECRET, "rollout-gate", uid="u2"))
)
ME, OTHER = Holder("me"), Holder("somebody else")
DOWN = ServerFailure("the server answered 503", 503)


class Store:
    """One Lease; the next writes fail as a test says."""

    def __init__(self) -> None:
        self.held = Held(LOCK, "u1", "1", ME)
        self.failures: list[ApiError] = []
        self.writes: list[str] = []
        self.annotations: Mapping[str, str | None] = {}

    def read(self, _lock: object) -> Held:
        """Return it."""
        return self.held

    def renew(self, held: Held, _now: datetime) -> Held:
        """Renew it."""
        return self._written("renew", held)

    def save(self, held: Held, record: str, _now: datetime) -> Held:
        """Write a record into it."""
        return self._written("save", replace(held, record=record))

    def remember(self, held: Held, annotations: Mapping[str, str | None], _now: datetime) -> Held:
        """Write down what is to be remembered."""
        return self._written("remember", _annotated(held, annotations))

    def release(self, held: Held, annotations: Mapping[str, str | None], _now: datetime) -> Held:
        """Give it back."""
        self.annotations = annotations
        return self._written("release", replace(_annotated(held, annotations), holder=NOBODY))

    def delete(self, _held: Held) -> None:
        """Refuse it: the right to delete is not asked for."""
        raise Forbidden("leases is forbidden")

    def _written(self, what: str, held: Held) -> Held:
        self.writes.append(what)
        if self.failures:
            raise self.failures.pop(0)
        if held.resource_version != self.held.resource_version:
            raise ResourceVersionConflict("it was changed")
        self.held = replace(held, resource_version=str(int(held.resource_version) + 1))
        return self.held


def _annotated(held: Held, annotations: Mapping[str, str | None]) -> Held:
    record, history = annotations.get(RECORD, held.record), annotations.get(HISTORY, held.history)
    return replace(held, record=record or "", history=history or "")


class Beside:
    """The Secret beside the lock, written into the same list as the Lease's writes."""

    def __init__(self, writes: list[str], left: StoredSecret | None = None) -> None:
        self.writes = writes
        self.stored = left

    def write(self, _held: Held, attempt_id: str, text: str) -> str:
        """Keep it."""
        self.stored = StoredSecret("s1", attempt_id, text)
        return "s1"

    def read(self, _lock: object) -> StoredSecret | None:
        """Return it."""
        return self.stored

    def delete(self, _lock: object, uid: str) -> None:
        """Delete it where it is the one that is meant."""
        if self.stored is None or self.stored.uid != uid:
            raise UidMismatch("it is another one")
        self.stored = None
        self.writes.append(f"delete {uid}")


class Whole:
    """The Secret of verified versions, written into the same list."""

    def __init__(self, writes: list[str]) -> None:
        self.writes = writes

    def create(self, _held: Held, texts: Mapping[str, str | None]) -> Mapping[str, str]:
        """Keep them."""
        self.writes.append("keep")
        return {key: text for key, text in texts.items() if text is not None}


class Scene:
    """A keeper of some locks that runs, and what it answers; `left` is what a dead gate kept."""

    def __init__(self, *locks: Lock, left: StoredSecret | None = None) -> None:
        self.clock = VirtualClock()
        self.stores = {lock: Store() for lock in locks or (LOCK,)}
        for lock, store in self.stores.items():
            taken_over = 0 if left is None else 1
            store.held = replace(store.held, lock=lock, transitions=taken_over)
        self.warnings: list[str] = []
        self.inbox: Inbox = SimpleQueue()
        writes = self.store.writes
        self.beside = Beside(writes, left)
        secrets = cast("KeptSecrets", self.beside)
        verified = cast("VerifiedSecrets", Whole(writes))
        warn = self.warnings.append
        self.keeper = Keeper(
            self.clock,
            cast("Leases", self),
            SecretsBeside(secrets, warn, (LOCK,) if left else ()),
            VerifiedBodies(verified, lambda _: None, warn, keeps=True),
            tuple(store.held for store in self.stores.values()),
            warn,
        )
        self.lane = self.keeper.lane(self.inbox)
        self.keeper.start()

    def __getattr__(self, name: str) -> Any:
        """Return what hands a call on to the Lease that it is about."""
        return lambda about, *rest: getattr(self._store(about), name)(about, *rest)

    def server_wall(self) -> datetime:
        """Return this machine's time: the two agree."""
        return self.clock.wall()

    @property
    def store(self) -> Store:
        """The first lock's."""
        return next(iter(self.stores.values()))

    def heard(self, seconds: float = 0.1) -> Any:
        """Return what it says within so many seconds."""
        return self.clock.receive(self.inbox, seconds)

    def save_record(self, record: Record = OUT, *, seconds: float = 0.1) -> None:
        """Save a record, which stands within so many seconds."""
        self.lane(SaveRecord(1, record))
        assert isinstance(self.heard(seconds), Recorded)

    def give_back(self, *workloads: Closing, seconds: float = 0.1) -> None:
        """Give the locks back, which have been asked to within so many seconds."""
        self.lane(Release(2, Closed(left_open=False, workloads=workloads)))
        assert isinstance(self.heard(seconds), Released)

    def _store(self, about: Any) -> Store:
        return self.stores[about if about in self.stores else about.lock]


@pytest.fixture
def scene() -> Scene:
    """Return a keeper of one lock."""
    return Scene()


@pytest.fixture
def row() -> Scene:
    """Return a keeper of two locks, of which the first keeps the record."""
    return Scene(LOCK, BESIDE)
