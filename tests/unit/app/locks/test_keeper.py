"""The lane of the locks where writes fail: what is waited for, and what is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from queue import SimpleQueue
from typing import Any, cast

import pytest

from gate.app.locks import closing_texts
from gate.app.locks.held_locks import LookAtLocks
from gate.app.locks.keeper import RETRY_SECONDS, Keeper
from gate.app.locks.secret_backup import SecretsBeside
from gate.app.locks.verified_bodies import VerifiedBodies
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import NOBODY, Holder
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.journal_record import Kept, Record
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Release, SaveRecord
from gate.core.protocol.events import LeaseLost, Recorded, Released
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import Policy
from gate.core.versions.history import Closed, Closing, History
from gate.core.versions.judged_version import JudgedVersion
from gate.engine import Broken, Inbox
from gate.errors import RefusedError
from gate.kube.failures import (
    ApiError,
    Forbidden,
    Invalid,
    NotFound,
    ResourceVersionConflict,
    ServerFailure,
    TooManyRequests,
    UidMismatch,
)
from gate.kube.kept_secrets import KeptSecrets, StoredSecret
from gate.kube.lease import HISTORY, RECORD, Held, Leases
from gate.kube.verified_secrets import VerifiedSecrets
from gate.virtual_time import VirtualClock
from gate.wire.history import history_text, read_history
from gate.wire.record import read_record
from gate.wire.secret_values import SecretValues

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
DOWN = ServerFailure("the server answered 503")


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

    @property
    def store(self) -> Store:
        """The first lock's."""
        return next(iter(self.stores.values()))

    def heard(self, seconds: float = 0.1) -> Any:
        """Return what it says within so many seconds."""
        return self.clock.receive(self.inbox, seconds)

    def _store(self, about: Any) -> Store:
        return self.stores[about if about in self.stores else about.lock]


@pytest.fixture
def scene() -> Scene:
    """Return a keeper of one lock."""
    return Scene()


@pytest.mark.contract("B523")
def test_it_renews_while_nothing_else_is_asked(scene: Scene) -> None:
    """Each 15 s, sooner after a failure; nobody is told of it."""
    scene.clock.wait(46.0)
    assert scene.store.writes == ["renew"] * 3
    scene.store.failures = [DOWN]
    scene.clock.wait(20.0)
    assert scene.store.writes == ["renew"] * 5
    assert scene.heard() is None


@pytest.mark.contract("B534")
def test_the_way_out_waits_for_its_record(scene: Scene) -> None:
    """As long as the server fails nothing may be written; then the record stands first."""
    scene.store.failures = [DOWN] * 3
    scene.lane(SaveRecord(1, OUT))
    assert scene.heard(2.5) is None
    assert isinstance(scene.heard(2.0), Recorded)
    assert scene.store.held.record


@pytest.mark.contract("B534")
@pytest.mark.parametrize("failures", [[], [DOWN]], ids=["at-once", "after-trouble"])
@pytest.mark.parametrize("refusal", [Invalid, Forbidden])
def test_a_record_that_is_refused_for_good_ends_the_way_out(
    scene: Scene, failures: list[ApiError], refusal: type[ApiError]
) -> None:
    """Nothing is written without it: nobody could finish what a dead gate leaves."""
    scene.store.failures = [*failures, refusal("no annotations here")]
    scene.lane(SaveRecord(1, OUT))
    said = scene.heard(3.0)
    assert isinstance(said, Broken)
    assert isinstance(said.error, RefusedError)
    assert "no annotations here" in said.error.message
    assert scene.heard(30.0) is None


@pytest.mark.contract("B534")
@pytest.mark.parametrize("failures", [[DOWN] * 9, [Invalid("no annotations here")]])
def test_the_way_back_goes_on_without_its_record(scene: Scene, failures: list[ApiError]) -> None:
    """What serves comes first: the record of the way out says all that is needed."""
    scene.store.failures = failures
    scene.lane(SaveRecord(1, BACK))
    assert isinstance(scene.heard(), Recorded)
    assert any("could not be saved" in line for line in scene.warnings)


@pytest.mark.contract("B518")
def test_a_record_is_not_written_again_before_the_server_wants_it(scene: Scene) -> None:
    """The lane waits as long as it was asked to, but not where something else is to be done."""
    later = TooManyRequests("later", retry_after_seconds=9.0)
    scene.store.failures = [later]
    scene.lane(SaveRecord(1, OUT))
    assert scene.heard(8.9) is None
    assert isinstance(scene.heard(0.2), Recorded)
    scene.store.failures = [later]
    scene.lane(SaveRecord(2, OUT))
    scene.lane(Release(3, Closed(left_open=True)))
    assert isinstance(scene.heard(1.5), Released)
    assert scene.heard(20.0) is None


@pytest.mark.contract("B534", "B524")
def test_a_look_at_the_locks_is_no_record(scene: Scene) -> None:
    """A gate that was stopped meanwhile looks at its locks at once; its record is awaited on."""
    scene.store.failures = [TooManyRequests("later", retry_after_seconds=9.0)]
    scene.lane(SaveRecord(1, OUT))
    assert scene.heard(2.0) is None
    looked = threading.Event()
    scene.lane(LookAtLocks(looked))
    assert scene.heard(2.0) is None
    assert looked.is_set()
    assert scene.store.held.record == ""
    assert isinstance(scene.heard(9.0), Recorded)
    assert scene.store.held.record


@pytest.fixture
def row() -> Scene:
    """Return a keeper of two locks, of which the first keeps the record."""
    return Scene(LOCK, BESIDE)


@pytest.mark.contract("B519")
def test_the_other_locks_are_renewed_while_a_record_waits(row: Scene) -> None:
    """They would be somebody else's by the time that it is written."""
    row.stores[LOCK].failures = [DOWN] * 300
    row.lane(SaveRecord(1, OUT))
    row.clock.wait(100.0)
    assert row.stores[BESIDE].writes.count("renew") >= 6
    row.stores[LOCK].failures = []
    assert isinstance(row.heard(6.0), Recorded)


@pytest.mark.contract("B519", "B524")
def test_a_lock_that_was_lost_meanwhile_is_found_before_the_record_is_answered(row: Scene) -> None:
    """After minutes without a server the record is written first, and the other lock is gone."""
    for store in row.stores.values():
        store.failures = [DOWN] * 300
    row.lane(SaveRecord(1, OUT))
    row.clock.wait(90.0)
    theirs = row.stores[BESIDE]
    theirs.held = replace(theirs.held, holder=OTHER, resource_version="9")
    for store in row.stores.values():
        store.failures = []
    first = row.heard(6.0)
    assert isinstance(first, LeaseLost)
    assert first.holder == "somebody else"


@pytest.mark.contract("B519")
def test_no_record_is_answered_under_a_lock_in_doubt(row: Scene) -> None:
    """Its own Lease takes the record while the other one's renewal still fails."""
    row.stores[BESIDE].failures = [DOWN] * 300
    row.clock.wait(40.0)
    row.lane(SaveRecord(1, OUT))
    assert row.heard(20.0) is None
    row.lane(LookAtLocks(threading.Event()))
    assert row.heard(20.0) is None, "a look clears no doubt"
    row.stores[BESIDE].failures = []
    assert isinstance(row.heard(6.0), Recorded)
    row.stores[BESIDE].failures = [Forbidden("leases is forbidden")] * 300
    row.clock.wait(40.0)
    row.lane(SaveRecord(2, OUT))
    assert isinstance(row.heard(6.0), Recorded)


def taken_by_other(row: Scene, lock: Lock) -> None:
    """Let somebody else take one of the locks."""
    held = row.stores[lock].held
    row.stores[lock].held = replace(held, holder=OTHER, resource_version="9")


@pytest.mark.contract("B789", "B1276")
@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("ends", ["attempt", "command"])
def test_a_loss_that_the_end_finds_keeps_no_other_lock(row: Scene, lost: int, ends: str) -> None:
    """Whichever it is, with an attempt or without: the others are given back, and it is said."""
    row.lane(SaveRecord(1, OUT))
    assert isinstance(row.heard(1.0), Recorded)
    theirs, ours = (LOCK, BESIDE) if lost == 0 else (BESIDE, LOCK)
    taken_by_other(row, theirs)
    if ends == "attempt":
        row.lane(Release(2, Closed(left_open=False)))
        assert isinstance(row.heard(1.0), LeaseLost), "it changes the verdict"
        assert isinstance(row.heard(1.0), Released)
        assert row.warnings == [
            f"the lock of {theirs} was taken by somebody else while this run held it"
        ]
        assert not row.stores[ours].held.record
    else:
        row.keeper.leave()
    assert row.stores[ours].held.is_free
    assert row.stores[theirs].held.holder == OTHER
    assert bool(row.stores[theirs].held.record) is (theirs == LOCK)


class Freed(Store):
    """A Lease that was given back; `by_us` is that the answer to our own release was lost."""

    def __init__(self, held: Held, *, by_us: bool) -> None:
        super().__init__()
        self.held, self.is_next = replace(held, resource_version="9"), by_us
        if not by_us:
            self.held = replace(self.held, holder=NOBODY)

    def claim(self, held: Held, holder: Holder, _now: datetime) -> Held:
        """Take it again."""
        return self._written("claim", replace(held, holder=holder))

    def release(self, held: Held, annotations: Mapping[str, str | None], now: datetime) -> Held:
        """Give it back, and lose the first answer."""
        after = super().release(held, annotations, now)
        if self.is_next:
            self.is_next = False
            raise DOWN
        return after


@pytest.mark.contract("B791")
@pytest.mark.parametrize("by_us", [True, False])
def test_only_a_release_by_somebody_else_is_warned_of(row: Scene, by_us: bool) -> None:
    """A lock that is found free may have been given back by ourselves, its answer lost."""
    row.stores[LOCK] = store = Freed(row.stores[LOCK].held, by_us=by_us)
    row.lane(Release(1, Closed(left_open=False)))
    assert isinstance(row.heard(2.0), Released)
    assert store.held.is_free
    assert "claim" in store.writes
    said = "somebody released the lock of deployment/web while this run held it; it took it again"
    assert row.warnings == ([] if by_us else [said])


class Asked(Store):
    """A Lease that is not renewed, while the attempt asks for its record."""

    def __init__(self, ask: Callable[[], None], held: Held, writes: list[str]) -> None:
        super().__init__()
        self.ask, self.held, self.writes = ask, held, writes

    def renew(self, held: Held, now: datetime) -> Held:
        """Fail, the first time."""
        if not self.writes:
            self.failures = [DOWN]
            self.ask()
        return super().renew(held, now)


@pytest.mark.contract("B519")
def test_what_is_asked_for_does_not_wait_for_each_lock_of_a_server_in_trouble(row: Scene) -> None:
    """Each renewal that fails takes seconds: the record goes first, the other lock right after."""
    writes = list[str]()
    held = row.stores[LOCK].held
    row.stores[LOCK] = Asked(lambda: row.lane(SaveRecord(1, OUT)), held, writes)
    row.stores[BESIDE].writes = writes
    assert isinstance(row.heard(16.0), Recorded)
    assert writes == ["renew", "save"]
    row.clock.wait(RETRY_SECONDS + 0.1)
    assert row.stores[BESIDE].held.resource_version == "2"


@pytest.mark.contract("B524")
def test_a_lock_of_somebody_else_is_not_written(scene: Scene) -> None:
    """Nothing is recorded, so that nothing is written; at the end it is left alone."""
    scene.store.held = replace(scene.store.held, holder=OTHER, resource_version="9")
    scene.lane(SaveRecord(1, OUT))
    lost = scene.heard()
    assert isinstance(lost, LeaseLost)
    assert lost.holder == "somebody else"
    scene.lane(Release(2, Closed(left_open=False)))
    assert isinstance(scene.heard(), Released)
    assert scene.store.held.holder == OTHER


def test_a_write_of_ours_whose_answer_was_lost_is_found(scene: Scene) -> None:
    """A conflict with ourselves is read, and the write is done."""
    scene.store.held = replace(scene.store.held, resource_version="9")
    scene.lane(SaveRecord(1, OUT))
    assert isinstance(scene.heard(), Recorded)
    assert scene.store.held.record


@pytest.mark.contract("B523")
def test_it_is_given_back_once(scene: Scene) -> None:
    """With the attempt's end, or where none has begun; then the lane ends."""
    scene.lane(Release(1, Closed(left_open=False)))
    assert isinstance(scene.heard(), Released)
    scene.keeper.leave()
    scene.clock.wait(60.0)
    assert scene.store.writes == ["release"]


@pytest.mark.contract("B547")
def test_what_may_pass_keeps_no_lock(scene: Scene) -> None:
    """The next run would have to wait for its expiry: it is given back after some failures too."""
    scene.store.failures = [DOWN] * 3
    scene.lane(Release(1, Closed(left_open=False)))
    assert isinstance(scene.heard(1.0), Released)
    assert scene.store.held.is_free
    assert not scene.warnings


@pytest.mark.contract("B547")
@pytest.mark.parametrize(
    ("failures", "tries"), [([DOWN] * 9, 5), ([Forbidden("leases is forbidden")], 1)]
)
def test_what_does_not_pass_is_said_in_time(
    scene: Scene, failures: list[ApiError], tries: int
) -> None:
    """A run ends within two seconds all the same."""
    scene.store.failures = failures
    scene.lane(Release(1, Closed(left_open=False)))
    assert isinstance(scene.heard(2.0), Released)
    assert scene.store.writes == ["release"] * tries
    assert [line for line in scene.warnings if "it expires" in line]


@pytest.mark.contract("B771")
def test_a_lock_that_went_with_its_namespace_is_not_spoken_of(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is none to expire."""
    gone = NotFound('namespaces "shop" not found')

    def refuse(*_: object) -> None:
        raise gone

    monkeypatch.setattr(Store, "read", lambda *_: None)
    monkeypatch.setattr(Store, "create", refuse, raising=False)
    scene.store.failures = [gone]
    scene.lane(Release(1, Closed(left_open=False)))
    assert isinstance(scene.heard(2.0), Released)
    assert not scene.warnings


SAID = Cause(Reason.CRASH_LOOP, CleanText("web: cannot log in with s3cret-of-shop"))


@pytest.mark.contract("B258")
def test_what_a_lock_remembers_for_people_holds_no_secret(scene: Scene) -> None:
    """Neither why an attempt goes back, in its record, nor why one did, in the history."""
    secrets = SecretValues()
    secrets.add("s3cret-of-shop")
    scene.keeper.mask = secrets.mask
    scene.lane(SaveRecord(1, replace(BACK, why=(SAID,))))
    assert isinstance(scene.heard(), Recorded)
    (why,) = read_record(scene.store.held.record).why
    assert why.message == "web: cannot log in with ***"
    failed = JudgedVersion("0", (), FrozenMap(), why=SAID)
    closing = Closing(WEB, (failed,))
    scene.lane(Release(2, Closed(left_open=False, deployments=(closing,))))
    assert isinstance(scene.heard(), Released)
    (remembered,) = read_history(scene.store.annotations[HISTORY] or "").versions
    assert remembered.why is not None
    assert remembered.why.message == "web: cannot log in with ***"


TOO_LONG = "metadata.annotations: Too long"
JUDGED = JudgedVersion("0", (), FrozenMap({WEB: "w"}))
REMEMBERED = Closing(WEB, (JUDGED,), FrozenMap({"w": Body.of({"spec": {}})}))


@pytest.mark.contract("B707")
def test_a_history_that_cannot_be_made_keeps_neither_record_nor_lock(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verified version would be rolled back by whoever recovers."""

    def broken(_history: object) -> str:
        raise MemoryError

    monkeypatch.setattr(closing_texts, "history_text", broken)
    scene.lane(SaveRecord(1, OUT))
    assert isinstance(scene.heard(), Recorded)
    scene.lane(Release(2, Closed(left_open=False, deployments=(REMEMBERED,))))
    assert isinstance(scene.heard(), Released)
    assert scene.store.writes == ["save", "release"]
    assert (scene.store.held.record, scene.store.held.is_free) == ("", True)
    assert any("is not in the history" in line for line in scene.warnings)


@pytest.mark.contract("B707")
def test_a_history_that_the_server_refuses_keeps_neither_record_nor_lock(scene: Scene) -> None:
    """Annotations of others may leave no room: metadata.annotations: Too long."""
    scene.lane(SaveRecord(1, OUT))
    assert isinstance(scene.heard(), Recorded)
    scene.store.failures = [Invalid(TOO_LONG)]
    scene.lane(Release(2, Closed(left_open=False, deployments=(REMEMBERED,))))
    assert isinstance(scene.heard(), Released)
    assert scene.store.writes == ["save", "release", "release"]
    assert (scene.store.held.record, scene.store.held.is_free) == ("", True)
    assert scene.warnings == [f"the outcome for {LOCK} is not in the history: {TOO_LONG}"]


@pytest.mark.contract("B707")
def test_slow_histories_leave_out_bodies_and_the_record_goes_last(
    row: Scene,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was judged is remembered all the same, of all before the record is struck out."""

    def slow(history: History) -> str:
        row.clock.wait(0.6)
        return history_text(history)

    monkeypatch.setattr(closing_texts, "history_text", slow)
    lane = row.keeper.lane(row.inbox, record_in=BESIDE)
    lane(SaveRecord(1, OUT))
    assert isinstance(row.heard(0.1), Recorded)
    beside = replace(REMEMBERED, ref=deployment_ref("shop", "worker"))
    lane(Release(2, Closed(left_open=False, deployments=(REMEMBERED, beside))))
    row.clock.wait(1.0)
    assert row.stores[LOCK].held.is_free
    assert row.stores[BESIDE].held.record, "whoever finds it after a kill finishes it"
    row.clock.wait(1.0)
    assert (row.stores[BESIDE].held.record, row.stores[BESIDE].held.is_free) == ("", True)
    assert isinstance(row.heard(1.0), Released)
    found = {lock: read_history(store.held.history) for lock, store in row.stores.items()}
    assert [len(found[lock].versions) for lock in (BESIDE, LOCK)] == [1, 1]
    assert [len(found[lock].bodies) for lock in (LOCK, BESIDE)] == [1, 0]


@pytest.mark.contract("B542")
def test_what_secrets_were_goes_after_the_record_and_before_the_lock() -> None:
    """A kill at any of these moments leaves a record that is whole, or a lock that is held."""
    scene = Scene()
    scene.lane(SaveRecord(1, WITH_SECRET))
    assert isinstance(scene.heard(), Recorded)
    scene.lane(Release(2, Closed(left_open=False)))
    assert isinstance(scene.heard(), Released)
    assert scene.store.writes == ["save", "remember", "delete s1", "release"]
    assert (scene.store.held.record, scene.store.held.is_free) == ("", True)


@pytest.mark.contract("B534", "B540")
def test_what_a_recovery_ends_is_written_down_though_its_lock_is_held_on(scene: Scene) -> None:
    """The command that it was a part of goes on under the same lock, with that history."""
    lane = scene.keeper.lane(scene.inbox, stays=True)
    lane(SaveRecord(1, OUT))
    assert isinstance(scene.heard(), Recorded)
    lane(Release(2, Closed(left_open=False, deployments=(REMEMBERED,))))
    assert isinstance(scene.heard(), Released)
    held = scene.store.held
    assert (held.record, held.is_free) == ("", False)
    assert len(read_history(held.history).versions) == len(REMEMBERED.versions) == 1
    assert scene.store.writes == ["save", "remember"]


@pytest.mark.contract("B542")
def test_what_a_dead_gate_left_is_deleted_by_the_uid_that_it_had() -> None:
    """What another attempt has put in its place meanwhile is not touched."""
    left = StoredSecret("s0", "dead", "text")
    scene = Scene(left=left)
    scene.clock.wait(0.1)
    scene.keeper.leave()
    assert (scene.store.writes, scene.beside.stored) == (["delete s0", "release"], None)
    scene = Scene(left=left)
    scene.clock.wait(0.1)
    scene.beside.stored = theirs = StoredSecret("s9", "another", "text")
    scene.keeper.leave()
    assert (scene.store.writes, scene.beside.stored) == (["release"], theirs)
