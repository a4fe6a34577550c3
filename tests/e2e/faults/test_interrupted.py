"""A signal in each phase, each time while the server keeps an answer back."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.bed.interrupting import END_SECONDS
from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import BAD
from tests.faults.connections import Held
from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES, WRITES, Match
from tests.faults.script import Rule

REACH_SECONDS = 30.0
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@dataclass(frozen=True, slots=True)
class Phase:
    """A request of that phase, and whether the server has done it by the time of the signal."""

    match: Match
    first: int = 1
    of_answer: bool = False
    after: Match | None = None


PHASES = {
    "rights": Phase(Match(method="POST")),
    "baseline": Phase(Match(method="GET", path="/replicasets$")),
    "dry run": Phase(Match(method="PATCH", write=False)),
    "apply": Phase(APPLIES),
    "apply done": Phase(APPLIES, of_answer=True),
    "evidence": Phase(Match(path="/log$")),
    "confirmation": Phase(Match(method="GET", path="/deployments/web$"), after=APPLIES),
    "way back": Phase(APPLIES, first=2),
    "way back done": Phase(APPLIES, first=2, of_answer=True),
}


def written(proxy: Proxy) -> Counter[str]:
    """Count the writes of each object so far; one that conflicts with another version is none."""
    writes = [seen for seen in proxy.log.like(WRITES) if seen.status != 409]
    return Counter(seen.asked.path for seen in writes)


@pytest.mark.fault(17)
@pytest.mark.contract("B153")
@pytest.mark.parametrize(("number", "code"), SIGNALS, ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES.keys())
def test_a_signal_ends_it_in_time_in_each_phase(
    scene: Scene, play: Play, proxy: Proxy, phase: Phase, number: signal.Signals, code: int
) -> None:
    """At most one write of each object after the signal, and the end within 5 s."""
    scene.serve(web())
    reached, released = threading.Event(), threading.Event()
    held = Held(reached, released, of_answer=phase.of_answer)
    play(Rule(phase.match, held, first=phase.first, count=1, after=phase.after))
    try:
        with scene.applying(BAD.manifest) as running:
            assert reached.wait(REACH_SECONDS), "the phase never came"
            before = written(proxy)
            running.send(number)
            ended_with = running.wait_for_end(END_SECONDS)
            released.set()
            result = running.wait()
    finally:
        released.set()
    assert ended_with == code, str(result)
    after = written(proxy) - before
    assert all(count <= 1 for count in after.values()), after
    ended = (result.document["outcome"], result.document["reason"])
    assert ended == ("interrupted", "Interrupted"), str(result)
