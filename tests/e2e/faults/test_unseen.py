"""What happens while nobody looks: stale answers, changes and their undoing, clocks that differ."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_runs, images
from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import APPLIED, BUDGETS, GOOD, Version, judged
from tests.faults import answers, streams
from tests.faults.proxy import Proxy
from tests.faults.request import ANYTHING, APPLIES, READING, WATCHES
from tests.faults.script import Rule

STALE_SECONDS = 10.0
SKEW_SECONDS = 600


@pytest.mark.fault(18)
@pytest.mark.contract("B508")
@judged
def test_reads_of_an_older_snapshot_are_no_verdict(
    scene: Scene, play: Play, proxy: Proxy, version: Version
) -> None:
    """For a while after the apply all reads and lists show the old version, complete."""
    before = scene.serve(web())["metadata"]["resourceVersion"]
    stale = answers.Stale(before)
    play(
        Rule(WATCHES, streams.CutAfter(seconds=2.0), count=4),
        Rule(READING, stale, after=APPLIES, seconds=STALE_SECONDS),
    )
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))
    assert proxy.log.like(READING, "Stale")


@pytest.mark.fault(18)
@pytest.mark.contract("B508")
def test_a_server_that_stays_behind_is_not_believed(scene: Scene, play: Play) -> None:
    """Reads that never show our generation are neither a verdict nor somebody else's change."""
    before = scene.serve(web())["metadata"]["resourceVersion"]
    play(Rule(READING, answers.Stale(before), after=APPLIES))
    flags = ("--timeout", "8s", "--rollback-timeout", "3s")
    result = scene.apply(GOOD.manifest, flags=flags)
    assert result.exit_code not in (0, 8), str(result)


@pytest.mark.fault(19)
@pytest.mark.contract("B509")
def test_a_change_that_was_taken_back_unseen(scene: Scene, play: Play, proxy: Proxy) -> None:
    """Somebody goes to a third version and back while no watch speaks: 8, or true of what runs."""
    scene.serve(web())
    play(Rule(WATCHES, streams.HalfOpen(once=APPLIES)))
    with scene.applying(GOOD.manifest, flags=BUDGETS) as running:
        running.wait_for_line(APPLIED)
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        scene.objects.wait("replicasets", lambda found: len(found) == 3)
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:2", check=True)
        result = running.wait()
    assert result.exit_code in (0, 8), str(result)
    assert len(proxy.log.like(APPLIES)) == 1
    scene.objects.wait_complete("web")
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.fault(20)
@pytest.mark.contract("B509")
def test_made_again_unseen_is_deleted(scene: Scene, play: Play, proxy: Proxy) -> None:
    """Another object stands under the name by the time of the read: 8, and nothing is written."""
    scene.serve(web())
    play(Rule(WATCHES, streams.HalfOpen(once=APPLIES)))
    with scene.applying(GOOD.manifest, flags=BUDGETS) as running:
        running.wait_for_line(APPLIED)
        scene.kubectl("delete", "deployment/web", check=True)
        scene.objects.wait("deployments", lambda found: not found)
        scene.objects.create("deployments", GOOD.manifest)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Deleted")
    assert len(proxy.log.like(APPLIES)) == 1
    live = scene.objects.get("deployments", "web")
    assert (images(live), live["metadata"]["generation"]) == (["shop/web:2"], 1)


@pytest.mark.fault(23)
@pytest.mark.contract("B510")
@pytest.mark.parametrize("seconds", [SKEW_SECONDS, -SKEW_SECONDS], ids=["ahead", "behind"])
@judged
def test_clocks_that_differ_change_no_verdict(
    scene: Scene, play: Play, version: Version, seconds: int
) -> None:
    """Every time that the server says is 10 minutes off."""
    scene.serve(web())
    play(Rule(ANYTHING, answers.Skewed(seconds)))
    version.assert_judged(scene, scene.apply(version.manifest, flags=BUDGETS))


@pytest.mark.fault(23)
@pytest.mark.contract("B510")
@pytest.mark.parametrize("seconds", [SKEW_SECONDS, -SKEW_SECONDS], ids=["ahead", "behind"])
def test_a_deadline_does_not_depend_on_the_clocks(scene: Scene, play: Play, seconds: int) -> None:
    """The deadline condition counts by the gate's own time since its write."""
    scene.serve(web())
    play(Rule(ANYTHING, answers.Skewed(seconds)))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=4)
    result = scene.apply(bad, flags=BUDGETS)
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded", running="baseline")
    assert_runs(scene.objects, "shop/web:1", revision=3)
