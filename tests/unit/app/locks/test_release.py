"""What the end of an attempt leaves in its locks: history, no record, no Secret."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import pytest

from gate.app.locks import closing_texts
from gate.app.locks.closing_texts import ClosingTexts
from gate.clock import Clock
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.lock import lock_of
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Release, SaveRecord
from gate.core.protocol.events import Recorded, Released
from gate.core.rollout.causes import Cause
from gate.core.versions.history import Closed, Closing, History
from gate.core.versions.judged_version import JudgedVersion
from gate.kube.answers.failures import ApiError, Forbidden, Invalid
from gate.kube.locks.kept_secrets import StoredSecret
from gate.kube.locks.lease import HISTORY
from gate.virtual_time import VirtualClock
from gate.wire.history import history_text, read_history
from gate.wire.record import read_record
from gate.wire.secret_values import SecretValues
from tests.unit.app.locks.conftest import BACK, BESIDE, DOWN, LOCK, OUT, WEB, WITH_SECRET, Scene


@pytest.mark.contract("B523")
def test_it_is_given_back_once(scene: Scene) -> None:
    """With the attempt's end, or where none has begun; then the lane ends."""
    scene.give_back()
    scene.keeper.leave()
    scene.clock.wait(60.0)
    assert scene.store.writes == ["release"]


@pytest.mark.contract("B547")
def test_what_may_pass_keeps_no_lock(scene: Scene) -> None:
    """The next run would have to wait for its expiry: it is given back after some failures too."""
    scene.store.failures = [DOWN] * 3
    scene.give_back(seconds=1.0)
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
    scene.give_back(seconds=2.0)
    assert scene.store.writes == ["release"] * tries
    assert [line for line in scene.warnings if "it expires" in line]


SAID = Cause(Reason.CRASH_LOOP, CleanText("web: cannot log in with s3cret-of-shop"))


@pytest.mark.contract("B258")
def test_what_a_lock_remembers_for_people_holds_no_secret(scene: Scene) -> None:
    """Neither why an attempt goes back, in its record, nor why one did, in the history."""
    secrets = SecretValues()
    secrets.add("s3cret-of-shop")
    scene.keeper.mask = secrets.mask
    scene.save_record(replace(BACK, why=(SAID,)))
    (why,) = read_record(scene.store.held.record).why
    assert why.message == "web: cannot log in with ***"
    failed = JudgedVersion("0", (), FrozenMap(), why=SAID)
    closing = Closing(WEB, (failed,))
    scene.give_back(closing)
    (remembered,) = read_history(scene.store.annotations[HISTORY] or "").versions
    assert remembered.why is not None
    assert remembered.why.message == "web: cannot log in with ***"


TOO_LONG = "metadata.annotations: Too long"
JUDGED = JudgedVersion("0", (), FrozenMap({WEB: "w"}))
REMEMBERED = Closing(WEB, (JUDGED,), FrozenMap({"w": Body.of({"spec": {}})}))


@pytest.mark.contract("B707")
@pytest.mark.parametrize("is_made", [True, False])
def test_a_history_that_nobody_takes_keeps_neither_record_nor_lock(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, *, is_made: bool
) -> None:
    """Annotations of others may leave no room: whoever recovers would roll a good version back."""

    def broken(_history: object) -> str:
        raise MemoryError

    scene.save_record()
    if is_made:
        scene.store.failures = [Invalid(TOO_LONG)]
    else:
        monkeypatch.setattr(closing_texts, "history_text", broken)
    scene.give_back(REMEMBERED)
    assert scene.store.writes == ["save", "release", *(["release"] if is_made else [])]
    assert (scene.store.held.record, scene.store.held.is_free) == ("", True)
    [warning] = scene.warnings
    why = TOO_LONG if is_made else ""
    assert warning.startswith(f"the outcome for {LOCK} is not in the history: {why}")


@pytest.mark.contract("B707")
@pytest.mark.parametrize("is_removed", [True, False])
def test_a_record_is_said_to_stay_only_if_it_does(scene: Scene, *, is_removed: bool) -> None:
    """A refused history is left out at the second try, which removes the record or does not."""
    said: list[str] = []
    scene.keeper.endings.record_stays = lambda: said.append("it stays")
    scene.save_record()
    more = [] if is_removed else [Forbidden("leases is forbidden")]
    scene.store.failures = [Invalid(TOO_LONG), *more]
    scene.give_back(REMEMBERED)
    assert bool(scene.store.held.record) is not is_removed
    assert said == ([] if is_removed else ["it stays"])


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
    lane(Release(2, Closed(left_open=False, workloads=(REMEMBERED, beside))))
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
    scene.save_record(WITH_SECRET)
    scene.give_back()
    assert scene.store.writes == ["save", "remember", "delete s1", "release"]
    assert (scene.store.held.record, scene.store.held.is_free) == ("", True)


@pytest.mark.contract("B534", "B540")
def test_what_a_recovery_ends_is_written_down_though_its_lock_is_held_on(scene: Scene) -> None:
    """The command that it was a part of goes on under the same lock, with that history."""
    assert not scene.keeper.history(WEB).versions
    lane = scene.keeper.lane(scene.inbox, stays=True)
    lane(SaveRecord(1, OUT))
    assert isinstance(scene.heard(), Recorded)
    lane(Release(2, Closed(left_open=False, workloads=(REMEMBERED,))))
    assert isinstance(scene.heard(), Released)
    assert len(scene.keeper.history(WEB).versions) == 1
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


# -- the texts of many locks -----------------------------------------------------------------------


class Stopwatch:
    """A clock that goes on where a test says so."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.seconds = 0.0
        self.wall = VirtualClock().wall

    def now(self) -> float:
        """Return what was put on it."""
        return self.seconds


class Texts:
    """The texts of some workloads, made in any order; `slow` is what each takes, by its number."""

    def __init__(self, count: int, slow: dict[int, float]) -> None:
        """Let them be w0, w1 and so on."""
        self.clock = Stopwatch()
        self.warnings: list[str] = []
        self.made: dict[int, str | None] = {}
        self.slow = slow
        self.during: dict[int, threading.Thread] = {}
        ends = tuple(map(closing_of, range(count)))
        clock = cast("Clock", self.clock)
        self.texts = ClosingTexts(clock, Holder("me"), Closed(False, ends), str, datetime.now(UTC))

    def make(self, number: int) -> None:
        """Make one text."""
        lock = lock_of(ref_of(number))
        warn = self.warnings.append
        self.made[number] = self.texts.text(lock, History, lambda _, after, __: after, warn)

    def write(self, history: History) -> str:
        """Stand in for `history_text`: another text is begun meanwhile, and time passes."""
        number = int(history.versions[0].template)
        if beside := self.during.get(number):
            beside.start()
            beside.join(0.05)
        self.clock.seconds += self.slow.get(number, 0.0)
        return history_text(history)

    def has_bodies(self, number: int) -> bool:
        """Tell whether a text has what was applied."""
        return bool(read_history(self.made[number] or "").bodies)


def ref_of(number: int) -> Ref:
    """Return a Deployment."""
    return deployment_ref("shop", f"w{number}")


def closing_of(number: int) -> Closing:
    """Return the end of a Deployment that was verified."""
    version = JudgedVersion(str(number), (), FrozenMap({ref_of(number): "b"}))
    return Closing(ref_of(number), (version,), FrozenMap({"b": Body.of({"spec": {}})}))


@pytest.mark.contract("B1393")
def test_a_text_that_waits_for_another_does_not_count_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are made by several threads, of which one works at a time."""
    scene = Texts(3, {0: 0.4, 1: 0.1})
    monkeypatch.setattr(closing_texts, "history_text", scene.write)
    scene.during[0] = beside = threading.Thread(target=scene.make, args=(1,), daemon=True)
    scene.make(0)
    beside.join()
    scene.make(2)
    assert [scene.has_bodies(number) for number in range(3)] == [True, True, True]
    assert scene.texts.describe_missing() == ""


@pytest.mark.contract("B1393")
def test_those_that_came_late_are_named_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty locks are no reason for sixty warnings."""
    scene = Texts(6, {0: 0.7, 1: 0.1})
    monkeypatch.setattr(closing_texts, "history_text", scene.write)
    for number in range(6):
        scene.make(number)
    assert [scene.has_bodies(number) for number in range(6)] == [True, True, *[False] * 4]
    said = scene.texts.describe_missing()
    assert "not in the history of deployment/w2, deployment/w3, deployment/w4 and 1 more" in said
    assert not scene.warnings
