"""`recover` of an apply that came to a part of its objects: what went back, and what stands."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_apply, kill_at, recover, signal_at
from tests.scenarios.proxy import Proxy, kills, nth, says, status, writes
from tests.scenarios.versions import DOCUMENT, one_line

pytestmark = pytest.mark.sandbox_only("a gate is killed at an exact line")

SECOND = "applied +configmap/c1 "


def config_maps(count: int = 24) -> list[JSON]:
    """Return ConfigMaps c0, c1 and so on: more than are written at once."""
    return [{**settings(), "metadata": {"name": f"c{number}"}} for number in range(count)]


@pytest.mark.contract("B39", "B855")
@pytest.mark.parametrize("served", [True, False], ids=["changed", "new"])
@pytest.mark.parametrize("beside", [True, False], ids=["deployment", "bare"])
def test_what_was_only_created_stands(
    scene: Scene, program: PlayedGate, beside: bool, served: bool
) -> None:
    """Nothing was there that could go back: 6, as where the apply is rejected at that point."""
    if served:
        scene.serve(web())
    kill_apply(scene, program, *config_maps(), *([web(2)] if beside else []), line=SECOND)
    result = program("recover")
    assert result.exit_code == 6, str(result)
    assert "the apply broke off half-way; what was written stands" in result.stdout
    assert ("without deployment/web" in result.stdout) is beside
    assert "repeat the command that began it if you still want it" in one_line(result.stdout)
    assert scene.objects.find("configmaps", "c0")
    assert not scene.objects.find("configmaps", "c23")
    assert bool(scene.objects.find("deployments", "web")) is served


@pytest.mark.contract("B855")
def test_what_was_only_created_is_pruned_where_that_was_asked(
    scene: Scene, program: PlayedGate
) -> None:
    """Deleted, all is as it was before: 4, and the report says so without a Deployment to name."""
    kill_apply(scene, program, *config_maps(), line=SECOND, flags=["--prune-created"])
    result = program("recover")
    assert result.exit_code == 4, str(result)
    assert "what was written went back\n" in result.stdout
    assert not scene.objects.find("configmaps", "c0")


@pytest.mark.contract("B856")
def test_of_two_new_deployments_the_one_that_was_never_written_is_named(
    scene: Scene, program: PlayedGate
) -> None:
    """The other one stands as it was created."""
    kill_apply(scene, program, web(), web(name="zone"), line="applied +deployment/web ")
    result = program("recover", "web")
    assert result.exit_code == 6, str(result)
    assert "broke off half-way; what was written stands, without deployment/zone" in result.stdout


@pytest.mark.contract("B856")
def test_a_version_that_was_written_whole_is_not_called_half(
    scene: Scene, program: PlayedGate
) -> None:
    """A signal led it back before its ReplicaSet was made: whoever finishes that names it."""
    assert_verified(scene.apply(settings("one"), web()))
    path = scene.manifest(settings("two"), web(2, behaviour=SLOW))
    signal_at(program, UNDER_WAY, "apply", "-f", path, "--on-interrupt", "rollback")
    result = program("recover")
    assert result.exit_code == 4, str(result)
    assert "deployment/web did not complete; revision 1, shop/web:1 serves again" in result.stdout
    assert "undone    shop/web:2" in result.stdout
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B903")
def test_a_bad_version_that_stood_before_is_not_passed_over(
    scene: Scene, program: PlayedGate
) -> None:
    """What was written went back: to pods of a version that crashes, beside those that serve."""
    assert_verified(scene.apply(settings("one"), web()))
    bad = scene.apply(settings("two"), web(2, behaviour="crash=1"), flags=["--on-failure=keep"])
    assert bad.exit_code == 6, str(bad)
    kill_apply(
        scene,
        program,
        settings("three"),
        web(3, behaviour=SLOW),
        line="applied +configmap/settings changed",
    )
    result = program("recover", "web")
    assert result.exit_code == 4, str(result)
    said = one_line(result.stdout)
    assert "deployment/web is as it was, not all of it revision 1, shop/web:1" in said
    advice = said.partition(" next ")[2]
    assert "when this run began: judge it: rollout-gate verify web" in advice
    assert "repeat the command that began it if you still want it" in advice
    assert scene.gate("verify", "web").exit_code == 6


@pytest.mark.contract("B856")
def test_configuration_that_was_written_whole_is_not_called_half(
    scene: Scene, program: PlayedGate
) -> None:
    """A check was under way when the signal came: all of it had been applied."""
    assert scene.apply(settings("one")).exit_code == 0
    words = ("--on-interrupt", "rollback", "--smoke-test", "true", "--bake", "60")
    with program.start("apply", "-f", scene.manifest(settings("two")), *words) as running:
        running.wait_for_line("applied +configmap/settings changed")
        running.send(signal.SIGTERM)
        running.wait_for_line("restored +configmap/settings")
        running.kill()
    result = program("recover")
    assert result.exit_code == 4, str(result)
    assert "(exit 4): what was applied is as it was before" in result.stdout


@pytest.mark.contract("B856")
def test_the_record_of_a_way_back_says_what_was_never_written(
    scene: Scene, program: PlayedGate
) -> None:
    """A signal led it back after the configuration, and the gate died then."""
    assert_verified(scene.apply(settings("one"), *config_maps(), web()))
    changed = [{**one, "data": {"mode": "two"}} for one in config_maps()]
    path = scene.manifest(settings("two"), *changed, web(2, behaviour=SLOW))
    with program.start("apply", "-f", path, "--on-interrupt", "rollback") as running:
        running.wait_for_line(SECOND)
        running.send(signal.SIGTERM)
        running.wait_for_line("restored +configmap/c0")
        running.kill()
    result = program("recover")
    assert result.exit_code == 4, str(result)
    assert "the apply broke off half-way; what was written went back" in result.stdout
    assert "undone" not in result.stdout
    assert "deployment/web" not in row_of(result.stdout, "restored")
    assert "configmap/c23" not in row_of(result.stdout, "restored")
    assert "configmap/c0" in row_of(result.stdout, "restored")


@pytest.mark.contract("B1826", "B856")
def test_what_a_signal_cut_off_is_an_incomplete_apply_to_its_recovery(
    scene: Scene, program: PlayedGate
) -> None:
    """What it had created stays, and nobody knows whether it works: it did not fail."""
    names = [f"web-{number}" for number in range(12)]
    assert_verified(scene.apply(settings("one"), *(web(name=name) for name in names)))
    changed = [web(2, name=name, behaviour=SLOW) for name in names]
    path = scene.manifest(settings("two"), web(name="new"), *changed)
    with program.start("apply", "-f", path, "--on-interrupt", "rollback") as running:
        running.wait_for_line("applied +deployment/new ")
        running.send(signal.SIGTERM)
        running.wait_for_line("restored +configmap/settings")
        running.kill()
    result = program("recover", *DOCUMENT)
    ends = {one["name"]: one["outcome"] for one in result.document["workloads"]}
    assert ends["new"] == "inconclusive"
    assert ends["web-0"] == "rolled-back"
    assert ends["web-11"] == "refused"
    assert result.exit_code == 4


def killed_while_pruning(scene: Scene, program: PlayedGate) -> None:
    """Let a gate die that had created c0 and c1 for a new version of web, and was to prune them."""
    scene.serve(web(), web(name="api"))
    path = scene.manifest(*config_maps(), web(2))
    kill_at(program, SECOND, "apply", "-f", path, "--prune-created")


@pytest.mark.contract("B858")
@pytest.mark.parametrize("is_over", [True, False], ids=["verified", "under-way"])
def test_what_another_run_uses_since_is_not_pruned(
    scene: Scene, program: PlayedGate, *, is_over: bool
) -> None:
    """Its apply of the same object changed nothing in it: its lock alone says that it needs it."""
    killed_while_pruning(scene, program)
    path = scene.manifest(config_maps()[0], web(2, name="api", behaviour=SLOW))
    with program.start("apply", "-f", path) as running:
        running.wait_for_line("applied +deployment/api changed")
        if is_over:
            assert running.wait().exit_code == 0
        result = program("recover", "web")
        assert result.exit_code == 4, str(result)
        why = "deployment/api was verified with it"
        if not is_over:
            why = "the attempt of deployment/api that is not finished needs it"
        assert f"configmap/c0 was not deleted: {why}" in one_line(result.stdout)
        assert running.wait().exit_code == 0
    assert scene.objects.find("configmaps", "c0")
    assert not scene.objects.find("configmaps", "c1")


@pytest.mark.contract("B858")
@pytest.mark.parametrize("flags", [(), ("--no-lock",)], ids=["locked", "without-a-lock"])
@pytest.mark.parametrize(
    ("behaviour", "beside", "why"),
    [
        ("never-ready", "ready=20", "deployment/api was verified with it"),
        ("crash", SLOW, "the attempt of deployment/api that is not finished needs it"),
    ],
    ids=["verified", "under-way"],
)
def test_a_run_does_not_prune_what_another_run_uses_since(
    scene: Scene,
    program: PlayedGate,
    behaviour: str,
    beside: str,
    why: str,
    flags: tuple[str, ...],
) -> None:
    """A run that lives asks the Leases just as `recover` does, with a lock of its own or none."""
    scene.serve(web(), web(name="api"))
    path = scene.manifest(*config_maps(2), web(2, behaviour=behaviour))
    other = scene.manifest(config_maps()[0], web(2, name="api", behaviour=beside))
    with program.start("apply", "-f", path, "--prune-created", *flags) as running:
        running.wait_for_line(UNDER_WAY)
        with program.start("apply", "-f", other) as other_run:
            result = running.wait()
            assert other_run.wait().exit_code == 0
    assert result.exit_code == 4, str(result)
    assert f"configmap/c0 is not deleted: {why}" in one_line(result.stderr)
    assert f"configmap/c0 was not deleted: {why}" in one_line(result.stdout)
    assert scene.objects.find("configmaps", "c0")
    assert not scene.objects.find("configmaps", "c1")


@pytest.mark.contract("B895")
@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "beside-another"])
def test_a_first_version_that_the_dead_gate_had_deleted_is_said_to_be(
    scene: Scene, program: PlayedGate, is_alone: bool
) -> None:
    """It died before the rest of its way back: 4, as without its death, and it is remembered."""
    if not is_alone:
        assert_verified(scene.apply(settings("one"), web(name="api")))
    beside = [] if is_alone else [settings("two"), web(2, name="api", behaviour="never-ready")]
    path = scene.manifest(*config_maps(), *beside, web(behaviour="crash"))
    words = ("--on-first-failure", "delete", "--prune-created", "--fail-fast", "crash=1")
    kill_at(program, "deleted +deployment/web deleted", "apply", "-f", path, *words)
    result = program("recover", "web")
    assert result.exit_code == 4, str(result)
    said = one_line(result.stdout)
    assert "created" in said.partition(" where ")[0]
    assert "not written" not in said
    assert "not taken back" not in said
    assert "deployment/web" in row_of(result.stdout, "deleted")
    assert not scene.objects.find("configmaps", "c0")
    again = program("preflight", "-f", path)
    assert "deployment/web: this very template failed" in one_line(again.stderr)


@pytest.mark.contract("B1826")
def test_what_was_refused_is_not_said_to_be_deleted(proxy: Proxy) -> None:
    """It is not there, as what the way back has deleted is not; but it never was."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    proxy.on(writes("/configmaps/c1"), says(status(422, "invalid")))
    flags = ("--prune-created",)
    with scene.applying(settings("two"), *config_maps(2), web(2), flags=flags) as running:
        proxy.on(nth(1, writes("/configmaps/c0", method="DELETE")), kills(running, after=True))
        running.wait()
    proxy.rest()
    result = recover(scene)
    assert_rolled_back(result, "ApplyRejected", cause="Rejected")
    did = {one["name"]: one["action"] for one in result.document["objects"]}
    assert did == {"settings": "restored", "c0": "deleted", "c1": "unchanged", "web": "unchanged"}


def row_of(screen: str, label: str) -> str:
    """Return what stands beside a label of the verdict, its continued lines included."""
    _, _, rest = screen.partition(f"\n  {label} ")
    return re.split(r"\n {2}\S", rest, maxsplit=1)[0]
