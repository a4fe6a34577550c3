"""How long the histories of a run may take together, and what is said of those that came late."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from gate.app.locks import closing_texts
from gate.app.locks.closing_texts import ClosingTexts
from gate.clock import Clock
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.lock import lock_of
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import Ref
from gate.core.versions.history import Closed, Closing, History
from gate.core.versions.judged_version import JudgedVersion
from gate.virtual_time import VirtualClock
from gate.wire.history import history_text, read_history


class Stopwatch:
    """A clock that goes on where a test says so."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.seconds = 0.0
        self.wall = VirtualClock().wall

    def now(self) -> float:
        """Return what was put on it."""
        return self.seconds


class Scene:
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
        self.texts = ClosingTexts(clock, Holder("me"), Closed(False, ends), str)

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
    scene = Scene(3, {0: 0.4, 1: 0.1})
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
    scene = Scene(6, {0: 0.7, 1: 0.1})
    monkeypatch.setattr(closing_texts, "history_text", scene.write)
    for number in range(6):
        scene.make(number)
    assert [scene.has_bodies(number) for number in range(6)] == [True, True, *[False] * 4]
    said = scene.texts.describe_missing()
    assert "not in the history of deployment/w2, deployment/w3, deployment/w4 and 1 more" in said
    assert not scene.warnings
