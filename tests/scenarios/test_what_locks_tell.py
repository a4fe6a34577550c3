"""What commands that only look say of locks: who works, what is open, what could not be read."""

from __future__ import annotations

import pytest
import yaml

from tests.bed.expectations import assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import OURS, Scene, web
from tests.cluster.workloads import stateful_set
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, is_observed, kill_apply
from tests.scenarios.rights import READING, MakeGate, rules
from tests.scenarios.versions import DOCUMENT, one_line, report

UNREAD = (
    "locks, verdicts and unfinished attempts of deployment/web could not be read: not allowed to"
    " get leases.coordination.k8s.io in namespace shop"
)


@pytest.mark.contract("B1670")
@pytest.mark.sandbox_only("what is said of locks")
def test_what_may_not_be_read_of_locks_is_said(
    scene: Scene, program: PlayedGate, gate_with_rules: MakeGate
) -> None:
    """Nobody takes it for nothing; nor does a mark claim what an undo would return to."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    kill_apply(scene, program, web(3, behaviour=SLOW))
    gate = gate_with_rules(rules(*READING))
    for words in (("status", "web"), ("history", "web")):
        shown = gate(*words).stdout
        assert UNREAD in one_line(shown), shown
        assert "<-" not in shown, "a mark of what nobody could read"
        programs = gate(*words, "--output", "json")
        assert UNREAD in programs.stderr
    assert UNREAD in gate("status", "web", "--watch").stderr
    judged = gate("verify", "web", "--output", "json")
    assert judged.document["warnings"] == [UNREAD]


@pytest.mark.contract("B1671", "B1951")
@pytest.mark.sandbox_only("what is said of locks")
def test_the_role_of_verify_is_enough_to_read_what_locks_tell(
    scene: Scene, program: PlayedGate, gate_with_rules: MakeGate
) -> None:
    """It may read Leases, list them where a Job is named, and write none."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(2, behaviour=SLOW))
    role = next(yaml.safe_load_all(scene.gate("verify", "web", "--rbac").stdout))
    gate = gate_with_rules(role["rules"])
    assert (
        "is unfinished; to finish it (back if incomplete): rollout-gate recover web"
        in gate("status", "web").stdout
    )
    of_job = next(yaml.safe_load_all(scene.gate("verify", "job/migrate", "--rbac").stdout))
    verbs = [rule["verbs"] for rule in of_job["rules"] if "leases" in rule["resources"]]
    assert verbs == [["get", "list"]]


@pytest.mark.contract("B1672")
@pytest.mark.sandbox_only("what is said of locks")
def test_status_names_the_gate_that_has_the_lock(scene: Scene, program: PlayedGate) -> None:
    """And for how long it has had it."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW))) as running:
        running.wait_for_line(UNDER_WAY)
        [lease] = scene.objects.list_all("leases")
        line = f"rollout-gate has its lock, as {lease['spec']['holderIdentity']}, for "
        assert line in one_line(scene.gate("status", "web").stdout)
        assert line in scene.gate("status", "web", "--output", "json").stderr
        running.kill()
    assert line not in one_line(scene.gate("status", "web").stdout)


@pytest.mark.contract("B1954")
@pytest.mark.sandbox_only("what is said of locks")
@pytest.mark.parametrize("form", ["text", "json"])
def test_watching_ends_with_what_a_gate_left_meanwhile(
    scene: Scene, program: PlayedGate, form: str
) -> None:
    """It was at work when the watch began: a tree that is complete is not all there is to say."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW))) as running:
        running.wait_for_line(UNDER_WAY)
        with program.start("status", "web", "--watch", "--output", form) as watching:
            watching.wait_for_line("rollout-gate has its lock, as ")
            running.kill()
            watched = watching.wait()
    assert (watched.exit_code, "complete" in watched.stdout) == (0, True), str(watched)
    left = (
        "deployment/web is unfinished; to finish it (back if incomplete): rollout-gate recover web"
    )
    assert one_line(watched.stderr).count(left) == 1, str(watched)


@pytest.mark.contract("B1672", "B859", "B2024")
@pytest.mark.sandbox_only("what is said of locks")
def test_status_ends_the_pause_of_what_a_run_has_with_kubectl(
    scene: Scene, program: PlayedGate
) -> None:
    """The gate's own `resume` would wait for that run, and that run for the end of the pause."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW))) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("rollout", "pause", "deployment/web", check=True)
        scene.objects.wait_for("deployments", "web", is_observed)
        told = one_line(scene.gate("status", "web").stdout)
        why = "(rollout-gate resume waits for the run that has the lock)"
        assert f"agrees {why}: kubectl rollout resume deployment/web -n " in told
        running.kill()
    told = one_line(scene.gate("status", "web").stdout)
    assert "kubectl rollout resume" not in told


@pytest.mark.contract("B1673")
@pytest.mark.sandbox_only("what a lock remembers, and what is said of it")
@pytest.mark.parametrize("is_alone", [True, False])
def test_a_version_that_a_way_back_put_there_is_not_called_new(
    scene: Scene, *, is_alone: bool
) -> None:
    """It was verified before another one failed, whose pod stays in its way."""
    assert_verified(scene.apply(stateful_set(), web()))
    flags = ["--replace-blocked-pods", "never", "--rollback-timeout", "10s"]
    failing = stateful_set(image="shop/db:3", behaviour="crash=0.1")
    assert scene.apply(failing, flags=flags).exit_code == 5
    beside = () if is_alone else ("web",)
    if not is_alone:
        scene.apply_as(OURS, web(2, behaviour="never-ready"))
    said = one_line(scene.gate("verify", "sts/db", *beside, "--timeout", "9s").stdout)
    restored = "the version of statefulset/db that was restored (shop/db:1) did not complete"
    if is_alone:
        assert f"{restored}; pods of another one run beside it" in said, said
        assert "restored revision 3, shop/db:1" in said
        assert "no verified version" not in said
    else:
        assert f"{restored} and was not taken back" in said, said
        assert "the new version of deployment/web failed" in said


@pytest.mark.contract("B2023")
@pytest.mark.sandbox_only("what is advised is the same on any cluster")
def test_a_verify_leads_to_the_end_of_what_a_gate_left_unfinished(
    scene: Scene, program: PlayedGate
) -> None:
    """It ends well, and the command that finishes the attempt is a next step."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(2, behaviour=SLOW))
    judged = scene.gate("verify", "web", *DOCUMENT)
    assert_verified(judged)
    step = "(a warning says which way it goes); to finish it: rollout-gate recover web"
    assert step in one_line(report(scene, judged))
    scene.gate("recover", "web")
    assert "rollout-gate recover" not in one_line(scene.gate("verify", "web").stdout)
