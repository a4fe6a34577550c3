"""Watches that go silent, end, lie about where they are, or garble what they say."""

from __future__ import annotations

import json
import re

import pytest

from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import BUDGETS, Version, applied_at, assert_bounded, judged
from tests.faults import answers, streams
from tests.faults.exchange import Reply
from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES, READING, WATCHES, Match
from tests.faults.script import Fault, Rule

FUTURE = 1_000_000_000
LONG_BYTES = 1 << 20
RESOURCE_VERSION = re.compile(rb'"resourceVersion":"(\d+)"')


@pytest.mark.fault(4)
@pytest.mark.contract("B502")
@judged
def test_a_watch_that_went_silent_is_read_beside(
    scene: Scene, play: Play, proxy: Proxy, version: Version
) -> None:
    """After the apply no watch says anything, and none ends: the reads alone find the verdict."""
    scene.serve(web())
    play(Rule(WATCHES, streams.HalfOpen(once=APPLIES)))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    assert len(proxy.log.like(WATCHES)) == 4


@pytest.mark.fault(5)
@pytest.mark.contract("B503")
@judged
def test_a_watch_that_is_cut_each_second(
    scene: Scene, play: Play, proxy: Proxy, version: Version
) -> None:
    """It is opened again from where it was; the requests stay bounded."""
    scene.serve(web())
    play(Rule(WATCHES, streams.CutAfter(seconds=1.0, reset=True)))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    assert len(proxy.log.like(WATCHES)) > 4
    assert_bounded(proxy, scene.objects.namespace, since=applied_at(proxy))


GONE_EVENT = b'{"type":"ERROR","object":%s}\n' % answers.GONE.reply.body


@pytest.mark.fault(6)
@pytest.mark.contract("B504")
@pytest.mark.parametrize(
    "fault",
    [answers.GONE, answers.Says(Reply(200, {"Content-Type": "application/json"}, GONE_EVENT))],
    ids=["status", "event"],
)
@judged
def test_a_position_that_is_too_old_is_listed_again(
    scene: Scene, play: Play, proxy: Proxy, version: Version, fault: Fault
) -> None:
    """Resumed after a cut, each watch is told that its position is gone."""
    scene.serve(web())
    play(Rule(WATCHES, streams.CutAfter(seconds=1.0), count=4), Rule(WATCHES, fault, count=4))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    listed = proxy.log.like(Match(path="/pods$", watch=False))
    assert any(seen.at > applied_at(proxy) for seen in listed)


def into_the_future(target: str) -> str:
    """Return the target of a watch with a position that no server has reached."""
    return re.sub(
        r"resourceVersion=(\d+)",
        lambda found: f"resourceVersion={int(found[1]) + FUTURE}",
        target,
    )


@pytest.mark.fault(7)
@pytest.mark.contract("B502")
@judged
def test_a_position_from_the_future_is_silent(
    scene: Scene, play: Play, proxy: Proxy, version: Version
) -> None:
    """The server waits for a version that never comes: the reads find the verdict."""
    scene.serve(web())
    play(Rule(WATCHES, answers.Asking(into_the_future)))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    assert proxy.log.like(WATCHES, "Asking")


def bookmarked(line: bytes) -> list[bytes]:
    """Follow each line by a bookmark of its position, as a server does once a minute."""
    found = RESOURCE_VERSION.search(line)
    position = found[1].decode() if found else "1"
    kind = json.loads(line)["object"]
    item = {key: kind[key] for key in ("apiVersion", "kind")}
    bookmark = {"type": "BOOKMARK", "object": item | {"metadata": {"resourceVersion": position}}}
    return [line, json.dumps(bookmark).encode()]


def padded(line: bytes) -> list[bytes]:
    """Make a line a MiB long: white space between two tokens means nothing."""
    return [line[:-1] + b" " * LONG_BYTES + line[-1:]]


GARBLED = {
    "doubled": streams.Lines(lambda line: [line, line]),
    "reordered": streams.Reordered(),
    "bookmarks": streams.Lines(bookmarked),
    "split": streams.Split(7),
    "long": streams.Lines(padded),
    "malformed": streams.Lines(lambda line: [line, line[: len(line) // 2]]),
    "empty": streams.Lines(lambda line: [b"", line, b""]),
    "slow": streams.Slow(4096, 0.02),
}


@pytest.mark.fault(8)
@pytest.mark.contract("B504")
@pytest.mark.parametrize("fault", GARBLED.values(), ids=GARBLED.keys())
@judged
def test_lines_that_come_otherwise_change_no_verdict(
    scene: Scene, play: Play, version: Version, fault: Fault
) -> None:
    """Twice, in another order, in pieces, very long, or broken."""
    scene.serve(web())
    play(Rule(WATCHES, fault))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))


@pytest.mark.contract("B504")
@pytest.mark.parametrize(
    "fault",
    [streams.Truncated(40), streams.CutAfter(200), answers.GzipBomb(256)],
    ids=["truncated", "cut", "bomb"],
)
@judged
def test_a_list_that_breaks_is_asked_for_again(
    scene: Scene, play: Play, version: Version, fault: Fault
) -> None:
    """Lists and reads that end early or grow without bound are no answers, and no verdicts."""
    scene.serve(web())
    play(Rule(READING, fault, chance=0.3, after=APPLIES), seed=3)
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
