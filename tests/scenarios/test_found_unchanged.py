"""Configuration that a run finds as it applies it, since another run has just brought it."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified, warned
from tests.bed.jobs import job
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import die_at, recover
from tests.scenarios.proxy import Proxy, kills, nth, reads, then, writes
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.test_used_meanwhile import (
    AS_BEFORE,
    GOOD,
    LATER,
    NEVER_READY,
    SLOW,
    SOON,
    SOON_TOO,
    VERIFIED,
    serve_apart,
)
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, mode, one_line, report

NEEDED = "the attempt of deployment/web that is not finished needs it"
NOT_VERIFIED = "the attempt of deployment/web that brought it was not verified"
DOUBTED = "not verified (SetIncomplete)"
BY_ROLLBACK = "by a rollback"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/shop/leases"

pytestmark = pytest.mark.sandbox_only("two runs at chosen moments of virtual time")


def flags_map(value: str) -> JSON:
    """Return configuration that one workload alone has."""
    return {**settings(value), "metadata": {"name": "flags"}}


def found(why: str) -> str:
    """Return the warning of what stays as a run found it."""
    return f"configmap/settings was left as this run found it: {why}"


@pytest.mark.contract("B2000", "B2001")
@pytest.mark.parametrize(
    ("first", "second", "ends", "said"),
    [
        (NEVER_READY, LATER, "one", AS_BEFORE),
        (NEVER_READY, SOON, "one", found(NEEDED)),
        (GOOD, LATER, "two", ""),
        (GOOD, SOON, "two", found(NEEDED)),
    ],
    ids=["both-fail", "both-fail-newest-first", "good-then-bad", "bad-then-good"],
)
def test_what_a_run_found_as_another_that_failed_had_brought_it_goes_back(
    scene: Scene, program: PlayedGate, first: JSON, second: JSON, ends: str, said: str
) -> None:
    """Whichever ends last returns it; before that, nothing is verified beside it."""
    serve_apart(scene)
    with program.start("apply", "-f", scene.manifest(settings("two"), first), *DOCUMENT) as running:
        running.wait_for_line("following")
        path = scene.manifest(settings("two"), second)
        with program.start("apply", "-f", path, *DOCUMENT) as beside:
            result, newest = running.wait(), beside.wait()
    assert "applied     configmap/settings unchanged" in newest.stderr
    assert (result.exit_code, newest.exit_code) == (0 if first is GOOD else 4, 4)
    assert mode(scene) == ends
    every = (AS_BEFORE, found(NEEDED), found(NOT_VERIFIED))
    assert [one for one in every if warned(newest, one)] == [said] * bool(said)
    is_doubted = said == found(NEEDED)
    assert (DOUBTED in one_line(report(scene, newest))) is is_doubted
    assert (BY_ROLLBACK in scene.gate("history", "api").stdout) is not is_doubted


@pytest.mark.contract("B2000")
def test_a_recovery_returns_what_a_dead_gate_had_found_so(
    scene: Scene, program: PlayedGate
) -> None:
    """The other run, which failed first, has left it to the one that was not finished."""
    serve_apart(scene)
    path = scene.manifest(settings("two"), NEVER_READY)
    with program.start("apply", "-f", path) as running:
        running.wait_for_line("following")
        die_at(scene, "following", settings("two"), LATER)
        assert running.wait().exit_code == 4
    assert mode(scene) == "two"
    result = recover(scene, "api")
    assert result.exit_code == 4, str(result)
    assert mode(scene) == "one"
    assert warned(result, AS_BEFORE)
    assert DOUBTED not in one_line(report(scene, result))


@pytest.mark.contract("B2000")
@pytest.mark.parametrize("path", ["/configmaps/settings", "/deployments/api"])
def test_a_recovery_knows_what_goes_back_that_was_found_so(proxy: Proxy, path: str) -> None:
    """The gate dies once it wrote the configuration, or all of it, back."""
    scene, program = proxy.scene, proxy.program
    serve_apart(scene)
    running = program.start("apply", "-f", scene.manifest(settings("two"), NEVER_READY))
    with running:
        running.wait_for_line("following")
        with program.start("apply", "-f", scene.manifest(settings("two"), LATER)) as beside:
            assert running.wait().exit_code == 4
            proxy.on(nth(1, writes(path)), kills(beside, after=True))
            beside.wait()
    proxy.rest()
    result = program("recover", "api", *DOCUMENT)
    assert result.exit_code == 4, str(result)
    assert DOUBTED not in one_line(report(scene, result))
    assert not warned(result, "was left alone")
    assert mode(scene) == "one"


@pytest.mark.contract("B2000")
def test_what_a_third_run_still_needs_stays_for_it_to_return(
    scene: Scene, program: PlayedGate
) -> None:
    """Of three that brought the same, the last one to fail returns it."""
    serve_apart(scene)
    assert_verified(scene.apply(settings("one"), web(name="db")))
    last = web(2, name="db", behaviour="never-ready", progress_deadline_seconds=200)
    with program.start("apply", "-f", scene.manifest(settings("two"), NEVER_READY)) as running:
        running.wait_for_line("following")
        with program.start("apply", "-f", scene.manifest(settings("two"), last)) as newest:
            newest.wait_for_line("following")
            result = program("apply", "-f", scene.manifest(settings("two"), LATER), *DOCUMENT)
            assert running.wait().exit_code == 4
            assert warned(result, found(NEEDED.replace("web", "db")))
            assert mode(scene) == "two"
            assert newest.wait(600.0).exit_code == 4
    assert mode(scene) == "one"
    assert BY_ROLLBACK not in scene.gate("history", "api").stdout
    assert BY_ROLLBACK in scene.gate("history", "db").stdout


@pytest.mark.contract("B2025")
@pytest.mark.parametrize(
    ("how", "ends", "said"),
    [("delete", "one", AS_BEFORE), ("scale-to-zero", "two", found(NOT_VERIFIED))],
)
def test_beside_a_first_version_that_fails_what_was_found_goes_back_once_it_is_deleted(
    scene: Scene, program: PlayedGate, how: str, ends: str, said: str
) -> None:
    """Scaled to zero, it may still need it, as it may what this run changed itself."""
    assert_verified(scene.apply(settings("one"), web()))
    flags = ("--on-first-failure", how, *DOCUMENT)
    with program.start("apply", "-f", scene.manifest(settings("two"), NEVER_READY)) as running:
        running.wait_for_line("following")
        result = program("apply", "-f", scene.manifest(settings("two"), LATER), *flags)
        assert running.wait().exit_code == 4
    assert result.exit_code == 6, str(result)
    assert mode(scene) == ends
    every = (AS_BEFORE, found(NEEDED), found(NOT_VERIFIED))
    assert [one for one in every if warned(result, one)] == [said]


@pytest.mark.contract("B2025")
@pytest.mark.parametrize("own", [False, True], ids=["changes-nothing", "changes-another"])
def test_a_run_that_breaks_off_before_its_workload_says_what_it_leaves(
    scene: Scene, program: PlayedGate, *, own: bool
) -> None:
    """What it changed itself goes back to what it was, and what it found stays so."""
    serve_apart(scene)
    assert scene.apply(settings("one"), flags_map("one"), web(name="api")).exit_code == 0
    late = job(behaviour="ready", activeDeadlineSeconds=70)
    another = flags_map("two" if own else "one")
    path = scene.manifest(settings("two"), another, late, web(2, name="api"))
    with program.start("apply", "-f", scene.manifest(settings("two"), NEVER_READY)) as running:
        running.wait_for_line("following")
        result = program("apply", "-f", path, *DOCUMENT)
        assert running.wait().exit_code == 4
    assert result.exit_code == 4, str(result)
    assert f"kept        configmap/settings does not go back: {NOT_VERIFIED}" in result.stderr
    assert warned(result, found(NOT_VERIFIED))
    assert mode(scene) == "two"
    assert scene.objects.get("configmaps", "flags")["data"]["mode"] == "one"
    assert BY_ROLLBACK not in scene.gate("history", "api").stdout


@pytest.mark.contract("B2001")
@pytest.mark.parametrize("is_recovered", [False, True])
def test_beside_what_another_run_kept_unverified_nothing_is_verified(
    scene: Scene, *, is_recovered: bool
) -> None:
    """What `--on-failure keep` left needs it; what served before ran with something else."""
    serve_apart(scene)
    assert scene.apply(settings("two"), SOON_TOO, flags=KEEP).exit_code == 6
    if is_recovered:
        die_at(scene, "following", settings("two"), LATER)
        result = recover(scene, "api")
        assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    else:
        result = scene.apply(settings("two"), web(2, name="api", behaviour=CRASH))
        assert_ended(result, 4, "rolled-back", "CrashLoop", running="baseline")
    assert f"kept        configmap/settings does not go back: {NOT_VERIFIED}" in result.stderr
    assert warned(result, found(NOT_VERIFIED))
    assert DOUBTED in one_line(report(scene, result))
    assert mode(scene) == "two"
    assert BY_ROLLBACK not in scene.gate("history", "api").stdout


@pytest.mark.contract("B2001")
def test_beside_a_secret_that_a_failed_run_brought_nothing_is_verified(
    scene: Scene, program: PlayedGate
) -> None:
    """What it was before is not remembered where it could be read."""
    for name in ("web", "api"):
        assert_verified(scene.apply(secret("one"), web(name=name)))
    with program.start("apply", "-f", scene.manifest(secret("two"), NEVER_READY)) as running:
        running.wait_for_line("following")
        result = program("apply", "-f", scene.manifest(secret("two"), LATER), *DOCUMENT)
        assert running.wait().exit_code == 4
    assert warned(result, f"secret/keys was left as this run found it: {NOT_VERIFIED}")
    assert DOUBTED in one_line(report(scene, result))


@pytest.mark.contract("B2001")
def test_without_the_right_to_ask_a_warning_says_what_is_not_known(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """It names the right."""
    serve_apart(scene)
    assert scene.apply(settings("two"), SOON_TOO, flags=KEEP).exit_code == 6
    writing = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]}
    gate = gate_with_rules([*rules(*READING, "patch"), writing, LEASE_RULES])
    path = scene.manifest(settings("two"), web(2, name="api", behaviour=CRASH))
    result = gate("apply", "-f", path, *DOCUMENT)
    assert_rolled_back(result, "CrashLoop")
    unknown = "whether another run brought it and was not verified is not known"
    assert warned(result, found(unknown), "the right to list Leases in shop")


@pytest.mark.contract("B2003")
def test_nothing_is_asked_of_what_a_workload_was_verified_with(proxy: Proxy) -> None:
    """The Leases are not listed on the way back of a version that fails beside the same."""
    scene, program = proxy.scene, proxy.program
    serve_apart(scene)
    listed: list[str] = []
    bad = scene.manifest(settings("one"), SOON)
    with program.start("apply", "-f", bad, *DOCUMENT) as running:
        running.wait_for_line("following")
        proxy.on(reads(LEASES), then(lambda: listed.append("leases")))
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded", running="baseline")
    assert listed == []


@pytest.mark.contract("B2002")
@pytest.mark.parametrize("dies_at", ["", "following", "/configmaps/settings", "/deployments/web"])
def test_a_recovery_names_whom_another_state_belongs_to(proxy: Proxy, dies_at: str) -> None:
    """It says what the run itself would have said, wherever that died."""
    scene, program = proxy.scene, proxy.program
    serve_apart(scene)
    path = scene.manifest(settings("two"), SOON_TOO)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("following")
        if dies_at == "following":
            running.kill()
        over = scene.manifest(settings("three"), web(2, name="api"))
        assert program("apply", "-f", over).exit_code == 0
        if dies_at.startswith("/"):
            proxy.on(nth(1, writes(dies_at)), kills(running, after=True))
        result = running.wait()
    proxy.rest()
    if dies_at:
        result = program("recover", "web", *DOCUMENT)
    assert result.exit_code == 4, str(result)
    assert mode(scene) == "three"
    assert f"kept        configmap/settings does not go back: {VERIFIED}" in result.stderr
    assert ("applied     configmap/settings" in result.stderr) is (dies_at == "")
    assert warned(result, f"configmap/settings was not returned: {VERIFIED}")
    assert not warned(result, "was left alone")
    assert DOUBTED in one_line(report(scene, result))
    assert BY_ROLLBACK not in scene.gate("history", "web").stdout


@pytest.mark.contract("B2002")
def test_a_recovery_leaves_what_another_run_is_rolling_out(
    scene: Scene, program: PlayedGate
) -> None:
    """Nothing is verified beside it: that run has yet to be judged."""
    serve_apart(scene)
    die_at(scene, "following", settings("two"), NEVER_READY)
    with program.start("apply", "-f", scene.manifest(settings("three"), SLOW)) as beside:
        beside.wait_for_line("following")
        result = recover(scene, "web")
        assert beside.wait(600.0).exit_code == 0
    needed = NEEDED.replace("web", "api")
    assert warned(result, f"configmap/settings was not returned: {needed}")
    assert DOUBTED in one_line(report(scene, result))
    assert mode(scene) == "three"
