"""What a second signal would say at a moment of a way back, and what a recovery then does."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager

import pytest

from gate.app.execution import run
from gate.app.rehearsal.virtual_world import Handle
from gate.last_word import Word, last_word
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_verified
from tests.bed.scene import Scene, settings, web
from tests.played.gate import PlayedGate
from tests.scenarios.killing import die_at
from tests.scenarios.proxy import Proxy, nth, status, writes
from tests.scenarios.test_used_meanwhile import writes_record
from tests.scenarios.versions import CRASH, KEEP, mode

START = "SIGTERM ended it at once: unfinished"
RECOVER = "rollout-gate recover web -n shop --context sandbox"

pytestmark = pytest.mark.sandbox_only("chosen moments of virtual time, where no process ends")


class Said:
    """The last words of the runs that were begun."""

    def __init__(self) -> None:
        """Have none yet."""
        self._words: list[Word] = []

    def keep(self, word: Word) -> AbstractContextManager[None]:
        """Keep a last word beside giving it."""
        self._words.append(word)
        return last_word(word)

    def now(self) -> str:
        """Return what the latest run would say now."""
        return self._words[-1](signal.SIGTERM)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    """Keep each last word as a run gives it."""
    said = Said()
    monkeypatch.setattr(run, "last_word", said.keep)
    return said


@pytest.mark.contract("B2020")
def test_what_the_way_out_found_unchanged_is_named_once_the_way_back_writes_it(
    scene: Scene, program: PlayedGate, said: Said
) -> None:
    """The version that failed is applied again, and returns to the one before it."""
    assert_verified(scene.apply(settings("one"), web()))
    bad = web(2, behaviour=CRASH)
    assert scene.apply(settings("two"), bad, flags=KEEP).exit_code == 6
    with program.start("apply", "-f", scene.manifest(settings("two"), bad)) as running:
        running.wait_for_line("following")
        assert f"{START}, before anything was changed; next" in said.now()
        running.wait_for_line("restored +deployment/web", 900.0)
        assert mode(scene) == "one"
        written = "after writes to configmap/settings, deployment/web"
        assert said.now() == f"{START} on its way back, {written}; next (back): {RECOVER}"


@pytest.mark.contract("B2020")
@pytest.mark.parametrize("is_again", [False, True], ids=["changed", "unchanged"])
def test_a_recovery_names_what_the_dead_gate_had_restored(
    scene: Scene, program: PlayedGate, said: Said, *, is_again: bool
) -> None:
    """All is back by then, so that it has nothing to write itself."""
    assert_verified(scene.apply(settings("one"), web()))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=5)
    if is_again:
        assert scene.apply(settings("two"), bad, flags=KEEP).exit_code == 6
    die_at(scene, "restored +deployment/web", settings("two"), bad)
    assert program("recover", "web").exit_code == 4
    written = "after writes to configmap/settings, deployment/web"
    assert said.now() == f"{START} on its way back, {written}; next (back): {RECOVER}"


@pytest.mark.contract("B2020", "B1484")
@pytest.mark.parametrize("is_refused", [False, True])
def test_it_says_back_only_once_the_record_does(
    proxy: Proxy, said: Said, *, is_refused: bool
) -> None:
    """Before that `recover` goes on with the way out, and verifies what is complete by then."""
    scene, found = proxy.scene, []
    assert_verified(scene.apply(web()))
    slow = web(2, behaviour="ready=22", progress_deadline_seconds=20)
    with proxy.program.start("apply", "-f", scene.manifest(slow)) as running:
        running.wait_for_line("following")

        def end(request: Request, handle: Handle) -> Answer:
            found.append(said.now())
            running.kill()
            return handle(request)

        lease = writes_record("/leases/")
        if is_refused:
            proxy.on(lease, lambda *_: status(422, "no annotations here"))
        proxy.on(nth(1, writes("/deployments/web") if is_refused else lease), end)
        running.wait()
    proxy.rest()
    written = "after writes to deployment/web"
    assert found == [f"{START}, {written}; next (back if incomplete): {RECOVER}"]
    proxy.clock.wait(60.0)
    if not is_refused:
        assert_verified(proxy.program("recover", "web", "--output", "json"))
