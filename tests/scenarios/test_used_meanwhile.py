"""Configuration that another run brings its workload with, while this one has yet to return it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from email.utils import format_datetime

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.scene import Scene, settings, web
from tests.played.gate import PlayedGate
from tests.scenarios.killing import RECORD, die_at, recover
from tests.scenarios.proxy import Meets, Proxy, any_request, kills, nth, waits, writes
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.versions import CRASH, DOCUMENT, history_rows, mode, one_line, report

NEVER_READY = web(2, behaviour="never-ready", progress_deadline_seconds=50)
SLOW = web(2, name="api", behaviour="ready=60")
VERIFIED = "deployment/api was verified with it"
UNDER_WAY = "the attempt of deployment/api that is not finished needs it"

pytestmark = pytest.mark.sandbox_only("two runs at chosen moments of virtual time")


def serve_both(scene: Scene) -> None:
    """Verify web and api with the settings that both have."""
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))


@pytest.mark.contract("B1871", "B1481")
@pytest.mark.parametrize(
    ("other", "why"), [(web(2, name="api"), VERIFIED), (SLOW, UNDER_WAY)], ids=["over", "under-way"]
)
def test_a_way_back_leaves_another_what_it_uses_since(
    scene: Scene, program: PlayedGate, other: dict[str, object], why: str
) -> None:
    """What serves again was verified with it in another state, and the report says so."""
    serve_both(scene)
    path = scene.manifest(settings("two"), NEVER_READY)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("following")
        with program.start("apply", "-f", scene.manifest(settings("two"), other)) as beside:
            result = running.wait()
            assert beside.wait().exit_code == 0
    assert mode(scene) == "two"
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded", running="baseline")
    assert f"configmap/settings does not go back: {why}" in one_line(result.stderr)
    assert warned(result, f"configmap/settings was left as this run wrote it: {why}")
    text = one_line(report(scene, result))
    assert "shop/web:1 serves again, not verified (SetIncomplete)" in text
    assert "by a rollback" not in scene.gate("history", "web").stdout


@pytest.mark.contract("B1871")
@pytest.mark.parametrize("other", ["two", "one"])
def test_a_recovery_leaves_another_what_it_uses_since(scene: Scene, other: str) -> None:
    """Or returns it, where the other run left it in another state again."""
    serve_both(scene)
    die_at(scene, "following", settings("two"), NEVER_READY)
    assert_verified(scene.apply(settings("two"), web(2, name="api")))
    if other == "one":
        assert_verified(scene.apply(settings("one"), web(3, name="api")))
    result = recover(scene, "web")
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert mode(scene) == other
    left = f"configmap/settings was left as this run wrote it: {VERIFIED}"
    assert warned(result, left) is (other == "two")


@pytest.mark.contract("B1871")
def test_what_another_was_verified_with_long_ago_goes_back(scene: Scene) -> None:
    """What went after it was verified with something else, and no other run brought this back."""
    assert_verified(scene.apply(settings("two"), web(name="api")))
    assert_verified(scene.apply(settings("one"), web(behaviour="ready=5")))
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "one"
    assert not warned(result, "was left as")


@pytest.mark.contract("B1871")
def test_what_another_that_goes_back_had_brought_goes_back(
    scene: Scene, program: PlayedGate
) -> None:
    """Its own failure returned to a version that had run with it for a moment alone."""
    serve_both(scene)
    path = scene.manifest(settings("two"), NEVER_READY)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("following")
        bad = scene.manifest(settings("two"), web(2, name="api", behaviour=CRASH))
        assert program("apply", "-f", bad).exit_code == 4
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded", running="baseline")
    assert mode(scene) == "one"
    assert not warned(result, "was left as")


@pytest.mark.contract("B1871")
def test_without_the_right_to_ask_it_goes_back(scene: Scene, gate_with_rules: MakeGate) -> None:
    """And a warning names the right: all configuration would stay without it."""
    serve_both(scene)
    writing = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]}
    gate = gate_with_rules([*rules(*READING, "patch"), writing, LEASE_RULES])
    path = scene.manifest(settings("two"), web(2, behaviour=CRASH))
    result = gate("apply", "-f", path, *DOCUMENT)
    assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "one"
    unknown = "whether another run uses configmap/settings as this run had written it is not known"
    assert warned(result, unknown, "the right to list Leases in shop")


@pytest.mark.contract("B1944")
def test_without_the_right_to_ask_what_was_created_stays(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """Another run may use it since: `--prune-created` deletes what is this run's own alone."""
    assert_verified(scene.apply(web()))
    verbs = ["get", "patch", "create", "delete"]
    writing = {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}
    gate = gate_with_rules([*rules(*READING, "patch"), writing, LEASE_RULES])
    path = scene.manifest(settings("two"), web(2, behaviour=CRASH))
    result = gate("apply", "-f", path, "--prune-created", *DOCUMENT)
    assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "two"
    assert warned(result, "configmap/settings", "the right to list Leases in shop")


@pytest.mark.contract("B1900")
def test_an_undo_is_refused_for_what_an_unfinished_attempt_of_another_needs(
    scene: Scene, program: PlayedGate
) -> None:
    """With `--dry-run` as well; once that attempt is over, B1480 is about it."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("two"), web(2)))
    path = scene.manifest(settings("two"), SLOW)
    with program.start("apply", "-f", path, *DOCUMENT) as beside:
        beside.wait_for_line("following")
        refused = [program("undo", "web", *words, *DOCUMENT) for words in ((), ("--dry-run",))]
        assert_verified(beside.wait())
    needed = "configmap/settings is as deployment/api needs it, which another run is rolling out"
    for result in refused:
        assert_refused(result, "SetIncomplete", needed)
        assert "once the attempt on deployment/api has ended" in one_line(result.stderr)
    assert_runs(scene.objects, "shop/web:2", replicas=2)
    assert mode(scene) == "two"
    assert_refused(scene.gate("undo", "web", *DOCUMENT), "SetIncomplete", "is as a run on")


def serve_apart(scene: Scene) -> None:
    """Verify web and api one after the other, with the settings that both have."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("one"), web(name="api")))


GOOD = web(2, behaviour="ready=20")
SOON = web(2, name="api", behaviour="never-ready", progress_deadline_seconds=20)
SOON_TOO = web(2, behaviour="never-ready", progress_deadline_seconds=20)
LATER = web(2, name="api", behaviour="never-ready", progress_deadline_seconds=90)
AS_BEFORE = (
    "configmap/settings went back to what it was before the attempt of deployment/web, which was"
    " not verified"
)
AS_WRITTEN = (
    "configmap/settings went back to what the attempt of deployment/web that is not finished"
    " needs: nothing was verified with it"
)


def writes_record(path: str) -> Meets:
    """Return what meets the writes of the record in a Lease."""
    meets = writes(path)
    return lambda request: meets(request) and RECORD.encode() in request.body


@pytest.mark.contract("B1935")
@pytest.mark.parametrize(
    ("first", "second", "ends", "said"),
    [
        (NEVER_READY, LATER, "one", AS_BEFORE),
        (NEVER_READY, SOON, "one", AS_WRITTEN),
        (GOOD, LATER, "two", ""),
        (GOOD, SOON, "two", AS_WRITTEN),
        (NEVER_READY, SLOW, "three", ""),
    ],
    ids=["both-fail", "both-fail-newest-first", "good-then-bad", "bad-then-good", "newest-is-good"],
)
def test_an_attempt_over_an_unfinished_one_returns_to_nothing_that_failed(
    scene: Scene,
    program: PlayedGate,
    first: dict[str, object],
    second: dict[str, object],
    ends: str,
    said: str,
) -> None:
    """Whichever ends first: what one brought stays if it is verified, and is none to return to."""
    serve_apart(scene)
    path = scene.manifest(settings("two"), first)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("following")
        path = scene.manifest(settings("three"), second)
        with program.start("apply", "-f", path, *DOCUMENT) as beside:
            result, newest = running.wait(), beside.wait()
    assert mode(scene) == ends
    assert result.exit_code == (0 if first is GOOD else 4)
    assert newest.exit_code == (0 if second is SLOW else 4)
    assert [one for one in (AS_BEFORE, AS_WRITTEN) if warned(newest, one)] == [said] * bool(said)
    is_doubted = said == AS_WRITTEN
    assert ("not verified (SetIncomplete)" in one_line(report(scene, newest))) is is_doubted
    by_rollback = "by a rollback" in scene.gate("history", "api").stdout
    assert by_rollback is (second is LATER)


@pytest.mark.contract("B1980", "B2000")
@pytest.mark.parametrize("second", ["two", "three"], ids=["the same", "another"])
@pytest.mark.parametrize("late", ["web", "api"])
def test_two_that_go_back_at_once_return_to_nothing_that_failed(
    proxy: Proxy, late: str, second: str
) -> None:
    """Each asks about the other once its own record says that it goes back."""
    scene, program = proxy.scene, proxy.program
    serve_apart(scene)
    path = scene.manifest(settings("two"), SOON_TOO)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("following")
        path = scene.manifest(settings(second), SOON)
        with program.start("apply", "-f", path, *DOCUMENT) as beside:
            beside.wait_for_line("following")
            for name in ("web", "api"):
                saved = nth(1, writes_record(f"/leases/rollout-gate.deployment.{name}"))
                proxy.on(saved, waits(proxy.clock, 1.3 if name == late else 1.0))
            ended = running.wait(), beside.wait()
    assert [one.exit_code for one in ended] == [4, 4]
    assert mode(scene) == "one"


@pytest.mark.contract("B1936")
def test_what_another_run_changed_since_was_not_left_as_written(
    scene: Scene, program: PlayedGate
) -> None:
    """A warning names what that run changed, and another one why it stays."""
    serve_apart(scene)
    path = scene.manifest(settings("two"), NEVER_READY)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("following")
        with program.start("apply", "-f", scene.manifest(settings("three"), LATER)) as beside:
            result = running.wait()
            assert beside.wait().exit_code == 4
    assert warned(result, f"configmap/settings was not returned: {UNDER_WAY}")
    assert not warned(result, "was left as this run wrote it")


@pytest.mark.contract("B1935")
@pytest.mark.parametrize("is_recovered_first", [True, False])
def test_an_attempt_over_that_of_a_dead_gate_returns_to_nothing_that_failed(
    scene: Scene, program: PlayedGate, *, is_recovered_first: bool
) -> None:
    """The object ends as it was verified with both, whichever goes back first."""
    serve_apart(scene)
    die_at(scene, "following", settings("two"), NEVER_READY)
    path = scene.manifest(settings("three"), LATER)
    with program.start("apply", "-f", path, *DOCUMENT) as beside:
        beside.wait_for_line("following")
        if is_recovered_first:
            assert recover(scene, "web").exit_code == 4
        newest = beside.wait()
    assert newest.exit_code == 4
    assert warned(newest, AS_BEFORE if is_recovered_first else AS_WRITTEN)
    if not is_recovered_first:
        assert "by a rollback" not in scene.gate("history", "api").stdout
        assert recover(scene, "web").exit_code == 4
    assert mode(scene) == "one"


@pytest.mark.contract("B1935")
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_recovery_knows_what_the_way_back_had_learned(proxy: Proxy, *, is_finished: bool) -> None:
    """The gate dies once it returned the configuration, by what the other attempt had found."""
    scene = proxy.scene
    serve_apart(scene)
    die_at(scene, "following", settings("two"), NEVER_READY)
    path = scene.manifest(settings("three"), LATER)
    with proxy.program.start("apply", "-f", path, *DOCUMENT) as beside:
        beside.wait_for_line("following")
        if is_finished:
            assert recover(scene, "web").exit_code == 4
        proxy.on(nth(1, writes("/configmaps/settings")), kills(beside, after=True))
        beside.wait()
    proxy.rest()
    assert mode(scene) == ("one" if is_finished else "two")
    result = proxy.program("recover", "api", *DOCUMENT)
    assert result.exit_code == 4, str(result)
    is_doubted = "not verified (SetIncomplete)" in one_line(report(scene, result))
    assert is_doubted is not is_finished, str(result)
    assert not warned(result, "was left alone")
    assert mode(scene) == ("one" if is_finished else "two")


@pytest.mark.contract("B1981", "B1871")
def test_when_a_version_was_judged_is_told_by_the_clock_of_the_server(proxy: Proxy) -> None:
    """Else what a machine with a clock far behind verified counts as older than it is."""

    def is_an_hour_ahead(request: Request, handle: Handle) -> Answer:
        answer = handle(request)
        date = format_datetime(proxy.clock.wall() + timedelta(hours=1), usegmt=True)
        return replace(answer, headers={**answer.headers, "Date": date})

    proxy.on(any_request, is_an_hour_ahead)
    assert_verified(proxy.scene.apply(web()))
    [version] = history_rows(proxy.scene)
    judged_at = datetime.fromisoformat(version["judged_at"])
    assert abs(judged_at - proxy.clock.wall() - timedelta(hours=1)) < timedelta(minutes=1)
