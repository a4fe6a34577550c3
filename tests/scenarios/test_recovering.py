"""`recover`: what a dead gate left, and what is remembered of those that ended in order."""

from __future__ import annotations

import json
import signal

import pytest

from gate.wire.packed import pack, unpack
from tests.bed.bed import Bed
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import CRASHED, UNDER_WAY
from tests.bed.invariants import CANARY
from tests.bed.leases import held_locks, on_another_machine
from tests.bed.policies import Policies, When
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import (
    JOB,
    LEASE,
    RECORD,
    SLOW,
    kill_apply,
    lease,
    recover,
    signal_at,
)
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.two_namespaces import (
    die_over_two_namespaces,
    placed_in,
    prod,
    settings_in_prod,
)
from tests.scenarios.versions import CRASH, history, one_line, report

pytestmark = pytest.mark.sandbox_only("minutes of waiting")

RBAC = "rbac.authorization.k8s.io/v1"


@pytest.mark.contract("B539")
@pytest.mark.parametrize(
    ("elsewhere", "least", "most"), [(False, 0, 2), (True, 60, 70)], ids=["here", "elsewhere"]
)
def test_who_can_prove_a_death_need_not_wait(
    scene: Scene, program: PlayedGate, elsewhere: bool, least: float, most: float
) -> None:
    """The process is gone from this machine; of one elsewhere the Lease has to expire."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    if elsewhere:
        on_another_machine(scene)
    result = program("recover", "web", env=JOB)
    assert result.exit_code == 4, str(result)
    assert least <= result.duration_seconds < most
    assert_runs(scene.objects, "shop/web:1")


JENKINS = {
    "JENKINS_URL": "https://jenkins.test/",
    "BUILD_URL": "https://jenkins.test/job/shop/7/",
    "BUILD_TAG": "jenkins-shop-7",
}


@pytest.mark.contract("B539")
@pytest.mark.parametrize("env", [JENKINS, JOB], ids=["jenkins", "github"])
def test_a_live_rollout_of_the_same_build_is_left_alone(
    scene: Scene, program: PlayedGate, env: dict[str, str]
) -> None:
    """A stage beside it asks to recover: it is told who works, and the good version comes."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour=SLOW))
    with program.start("apply", "-f", path, env=env) as running:
        running.wait_for_line(UNDER_WAY)
        result = program("recover", "web", "--lock-wait", "5s", env=env)
        assert_refused(result, "Locked", "deployment/web is locked by")
        assert running.wait().exit_code == 0
    assert_runs(scene.objects, "shop/web:2", revision=2)


THREE = ("api", "db", "web")


def three(version: int = 1, **more: str) -> list[JSON]:
    """Return three Deployments."""
    return [web(version, name=name, **more) for name in THREE]


@pytest.mark.contract("B548")
@pytest.mark.parametrize("elsewhere", [False, longer(True)], ids=["here", "elsewhere"])
@pytest.mark.parametrize("name", [None, "web", longer("db")])
def test_all_locks_of_an_attempt_are_given_back(
    scene: Scene, program: PlayedGate, name: str | None, elsewhere: bool
) -> None:
    """Whichever Deployment is named: the next apply has every lock at once."""
    scene.serve(*three())
    kill_apply(scene, program, *three(2, behaviour=SLOW))
    assert len(held_locks(scene)) == len(THREE)
    if elsewhere:
        on_another_machine(scene)
    result = recover(scene, *filter(None, [name]))
    assert result.exit_code == 4, str(result)
    assert held_locks(scene) == []
    after = scene.gate("apply", "-f", scene.manifest(*three(3)), "--lock-wait", "1s")
    assert after.exit_code == 0, str(after)
    assert "locked" not in after.stderr


@pytest.mark.contract("B751")
@pytest.mark.parametrize("crash", ["db", longer("api"), longer("web")])
def test_recovered_innocents_are_not_given_the_culprits_reason(
    scene: Scene, program: PlayedGate, crash: str
) -> None:
    """The record says which one failed; nothing was found against the others."""
    scene.serve(*three())
    bodies = [web(2, name=name, behaviour=CRASH if name == crash else "ready=0") for name in THREE]
    kill_apply(scene, program, *bodies, line=r"restored .*deployment/\w+ restored")
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    document = result.document
    for one in document["deployments"]:
        is_culprit = one["name"] == crash
        assert (one["outcome"], one["reason"]) == (
            "rolled-back",
            "CrashLoop" if is_culprit else "SiblingFailed",
        )
    reasons = {one["why"]["reason"] for one in history(scene)["versions"] if one["why"]}
    assert reasons == {"CrashLoop" if crash == "web" else "SiblingFailed"}
    first = report(scene, result).splitlines()[0]
    assert f"deployment/{crash} failed" in first
    assert all(f"deployment/{name}" not in first for name in THREE if name != crash)


@pytest.mark.contract("B539", "B548")
def test_a_lock_of_a_gate_that_left_no_record_is_given_back(
    scene: Scene, program: PlayedGate
) -> None:
    """There is nothing to finish, and nobody need wait for it; whether it wrote is not known."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    scene.objects.patch("leases", LEASE, {"metadata": {"annotations": {RECORD: None}}})
    result = program("recover")
    assert result.exit_code == 0, str(result)
    assert "deployment/web: its gate died and left no record" in result.stderr
    assert "nothing is left" not in str(result)
    assert "wrote" not in result.stderr
    assert held_locks(scene) == []
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B530")
def test_a_killed_rollback_is_finished_with_its_reason(scene: Scene, program: PlayedGate) -> None:
    """The gate that decided dies before its rollback is verified: who finishes it says why."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=CRASH), line="restored +deployment")
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "CrashLoop", running="baseline")
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B540")
def test_the_next_apply_finishes_first(scene: Scene, program: PlayedGate) -> None:
    """What was left goes back, and the next version is applied over what served before."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = scene.apply(web(3))
    assert_verified(result)
    assert "recovered   deployment/web: rolled-back" in result.stderr
    assert result.document["deployments"][0]["baseline"]["images"] == ["shop/web:1"]
    assert_runs(scene.objects, "shop/web:3", revision=4)


@pytest.mark.contract("B910")
def test_a_run_says_that_it_first_finished_another(scene: Scene, program: PlayedGate) -> None:
    """Nothing was to be changed then; the Deployment was written all the same."""
    assert_verified(scene.apply(web()))
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = scene.apply(web())
    assert_verified(result, "NoChange")
    assert warned(
        result,
        "this run first finished what an earlier attempt had left of deployment/web: rolled-back",
    )
    shown = one_line(report(scene, result))
    said = "this run finished what an attempt had left; then deployment/web had nothing to change"
    assert said in shown, shown


@pytest.mark.contract("B546")
@pytest.mark.parametrize("output", ["text", longer("json")])
def test_a_refusal_after_a_recovery_tells_of_it(
    scene: Scene, program: PlayedGate, output: str
) -> None:
    """The rollback was written, and of the version that is refused nothing."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    invalid = web(3) | {"spec": web(3)["spec"] | {"replicas": -1}}
    result = program("apply", "-f", scene.manifest(invalid), "--output", output)
    assert result.exit_code == 3, str(result)
    said = "nothing was written, except to finish an earlier attempt"
    assert f"refused (exit 3, Rejected): {said}" in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B544", "B546", "B1021")
def test_a_signal_in_a_recovery_before_an_apply_ends_the_apply(
    scene: Scene, program: PlayedGate
) -> None:
    """The result is that of the attempt which was being finished, and tells of what it wrote."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    result = signal_at(
        program, "finishing what", "apply", "-f", scene.manifest(web(3)), "--output", "json"
    )
    assert "before anything" not in result.document["message"], result.document["message"]
    left = (
        "that is of an earlier attempt, which this run was to finish first; it began nothing else"
    )
    assert result.document["message"].endswith(f"; {left}")
    assert result.document["deployments"]
    assert images(scene.objects.get("deployments", "web")) != ["shop/web:3"]


@pytest.mark.contract("B532", "B539")
@pytest.mark.parametrize("elsewhere", [False, longer(True)], ids=["here", "elsewhere"])
@pytest.mark.parametrize("env", [JOB, longer(JENKINS)], ids=["github", "jenkins"])
def test_side_by_side(
    scene: Scene, program: PlayedGate, env: dict[str, str], elsewhere: bool
) -> None:
    """Of two at once in one job one finishes, and the other finds nothing left."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    if elsewhere:
        on_another_machine(scene)
    with program.start("recover", env=env) as one, program.start("recover", env=env) as other:
        assert sorted([one.wait().exit_code, other.wait().exit_code]) == [0, 4]
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B533", "B1254")
@pytest.mark.parametrize("reason", ["Superseded", "Deleted"])
def test_what_somebody_else_did_since_stays(scene: Scene, program: PlayedGate, reason: str) -> None:
    """A third version, or none, is nobody's to undo: 8, and no apply is held up by the record."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    if reason == "Deleted":
        scene.objects.delete("deployments", "web")
    else:
        scene.change(web(9))
    assert_ended(recover(scene), 8, "superseded", reason)
    live = scene.objects.find("deployments", "web")
    assert (images(live) if live else []) == (["shop/web:9"] if reason == "Superseded" else [])
    assert scene.objects.list_all("leases") == []


@pytest.mark.contract("B534", "B544")
def test_a_signal_leaves_the_rollout_to_recover(scene: Scene) -> None:
    """The lock is free at once, and the record says what is to be finished."""
    scene.serve(web())
    with scene.applying(web(2, behaviour=SLOW)) as running:
        running.wait_for_line(UNDER_WAY)
        running.send(signal.SIGTERM)
        assert running.wait().exit_code == 143
    assert not lease(scene)["spec"]["holderIdentity"]
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert result.duration_seconds < 5


@pytest.mark.contract("B8", "B541")
def test_a_pause_of_ours_refuses_nobody_and_does_not_come_back(scene: Scene) -> None:
    """The next apply ends the pause that `--on-failure pause` left; its rollback leaves it so."""
    recreated = {"strategy": {"type": "Recreate"}}
    assert_verified(scene.apply(web(**recreated)))
    bad = web(2, behaviour=CRASH, **recreated)
    assert scene.apply(bad, flags=["--on-failure", "pause"]).exit_code == 6
    assert scene.objects.get("deployments", "web")["spec"]["paused"]
    result = scene.apply(web(3, behaviour=CRASH, **recreated))
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "deployment/web was paused before", "is not paused again")
    assert "paused" not in assert_runs(scene.objects, "shop/web:1")["spec"]


@pytest.mark.contract("B8", "B120")
def test_a_recovery_does_not_pause_again(scene: Scene, program: PlayedGate) -> None:
    """What a dead gate resumed goes back unpaused, and so serves."""
    recreated = {"strategy": {"type": "Recreate"}}
    scene.serve(web(**recreated))
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    kill_apply(
        scene,
        program,
        web(2, behaviour=SLOW, **recreated),
        line="following replicaset/.*shop/web:2",
        flags=["--resume"],
    )
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "Interrupted", running="baseline")
    assert warned(result, "deployment/web was paused before", "is not paused again")
    assert "paused" not in assert_runs(scene.objects, "shop/web:1")["spec"]


@pytest.mark.long
@pytest.mark.contract("B535")
def test_secrets_that_cannot_be_kept(scene: Scene, bed: Bed, gate_with_rules: MakeGate) -> None:
    """Warned of before the first write; `recover` restores the rest, and ends with 5."""
    scene.serve(web(), secret("one"))
    secrets = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "patch"]}
    gate = gate_with_rules([*rules(*READING, "patch"), LEASE_RULES, secrets])
    path = scene.manifest(web(2, behaviour=SLOW), secret("two"))
    with gate.start("apply", "-f", path) as running:
        running.wait_for_line("secret/keys restored: not allowed: create, delete secrets")
        running.wait_for_line(UNDER_WAY)
        running.kill()
    result = recover(scene)
    assert_ended(result, 5, "rollback-failed", "Interrupted")
    assert warned(result, "secret/keys", "which the record does not hold")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B542", "B713")
def test_secrets_are_kept_beside_the_lease(scene: Scene, program: PlayedGate) -> None:
    """A Secret that belongs to the Lease holds them; the annotations do not.

    They hold environment values while the attempt is open; afterwards nothing does.
    """
    scene.serve(web(), secret("one"))
    kill_apply(scene, program, web(2, behaviour=SLOW), secret("two"))
    kept = scene.objects.get("secrets", LEASE)
    [owner] = kept["metadata"]["ownerReferences"]
    assert owner["uid"] == lease(scene)["metadata"]["uid"]
    record = unpack(lease(scene)["metadata"]["annotations"][RECORD], json.dumps)
    assert CANARY in record
    assert not any(value in record for value in ("b25l", "dHdv"))
    assert recover(scene).exit_code == 4
    assert scene.objects.get("secrets", "keys")["data"]["key"] == "b25l"
    assert not scene.objects.find("secrets", LEASE)
    after = lease(scene)["metadata"]["annotations"]
    assert RECORD not in after
    assert CANARY not in unpack(after["rollout-gate/history"], json.dumps)


@pytest.mark.long
@pytest.mark.contract("B543")
def test_a_record_that_cannot_be_read(scene: Scene, program: PlayedGate) -> None:
    """It needs a person, and is no reason to stop the next version."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW))
    broken = {"metadata": {"annotations": {RECORD: "H4sIAAAA"}}}
    scene.objects.patch("leases", LEASE, broken)
    result = recover(scene)
    assert result.exit_code == 5
    assert "cannot be read" in result.stderr
    next_one = scene.apply(web(3), settings())
    assert_verified(next_one)
    assert warned(next_one, "cannot be read")


@pytest.mark.contract("B549")
def test_a_record_can_name_no_more_than_a_manifest(scene: Scene, program: PlayedGate) -> None:
    """Whoever may write Leases makes nobody write a Role."""
    scene.serve(web(), settings())
    kill_apply(scene, program, web(2, behaviour=SLOW), settings("b"))
    written = json.dumps(unpack(lease(scene)["metadata"]["annotations"][RECORD], dict))
    assert '"ConfigMap"' in written
    forged = written.replace('"ConfigMap"', '"Role"').replace('"v1"', f'"{RBAC}"')
    planted = {"metadata": {"annotations": {RECORD: pack(json.loads(forged))}}}
    scene.objects.patch("leases", LEASE, planted)
    result = recover(scene)
    assert (result.exit_code, result.stderr.count("--allow-kind Role")) == (5, 1), str(result)
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B182", "B24")
def test_a_kept_failure_that_was_never_written_is_not_called_the_baseline(
    scene: Scene, program: PlayedGate
) -> None:
    """The apply died before its Deployment: its ConfigMap goes back, the bad v9 still stands."""
    assert_verified(scene.apply(settings("one"), web()))
    kept = scene.apply(settings("nine"), web(9, behaviour=CRASH), flags=["--on-failure", "keep"])
    assert kept.exit_code == 6, str(kept)
    kill_apply(scene, program, settings("two"), web(2), line="applied +configmap/settings changed")
    result = program("recover", "web", "--output", "json")
    assert_ended(result, 4, "rolled-back", "Interrupted", running="mixed")
    assert result.document["rollback"]["verified"] is False
    assert scene.objects.get("configmaps", "settings")["data"]["mode"] == "nine"
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:9"]


@pytest.mark.contract("B548", "B531")
@pytest.mark.parametrize("cut", ["kill", "signal"])
@pytest.mark.parametrize("then", ["recover", "apply"])
def test_a_recovery_that_was_cut_off_hides_no_record(
    scene: Scene, program: PlayedGate, cut: str, then: str
) -> None:
    """The record stands in db's lock; api's is the first of those that its finder takes."""
    scene.serve(*three())
    left = [web(2, name="db", behaviour=SLOW), web(2, behaviour=SLOW)]
    kill_apply(scene, program, *left)
    with program.start("apply", "-f", scene.manifest(web(3, name="api"), web(3))) as running:
        running.wait_for_line("finishing what")
        if cut == "kill":
            running.kill()
        else:
            running.send(signal.SIGTERM)
            assert running.wait().exit_code == 143
    if then == "recover":
        assert_ended(recover(scene, "web"), 4, "rolled-back", "Interrupted")
    else:
        result = program("apply", "-f", scene.manifest(web(4)))
        assert result.exit_code == 0, str(result)
        assert "recovered   deployment/db, deployment/web: rolled-back" in result.stderr
        assert_runs(scene.objects, "shop/web:4")
    assert images(scene.objects.get("deployments", "db")) == ["shop/db:1"]
    assert held_locks(scene) == []


def two_left(scene: Scene, program: PlayedGate) -> None:
    """Kill the gates of two attempts, and break the record of the first."""
    scene.serve(web(name="api"), web())
    for name in ("api", "web"):
        kill_apply(
            scene, program, web(2, name=name, behaviour=SLOW), line=f"deployment/{name} changed"
        )
    broken = {"metadata": {"annotations": {RECORD: "H4sIAAAA"}}}
    scene.objects.patch("leases", "rollout-gate.deployment.api", broken)


@pytest.mark.contract("B527", "B543")
@pytest.mark.parametrize("flags", [(), longer(("--all-namespaces",))], ids=["here", "everywhere"])
def test_a_record_that_needs_a_person_keeps_no_other_from_its_end(
    scene: Scene, program: PlayedGate, flags: tuple[str, ...]
) -> None:
    """It is warned of at once, the other goes back, and the worst end counts: 5, not 4."""
    two_left(scene, program)
    result = program("recover", *flags)
    assert result.exit_code == 5, str(result)
    assert "warning     the record of deployment/api cannot be read" in result.stderr
    assert "rolled-back" in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=3)
    assert images(scene.objects.get("deployments", "api")) == ["shop/api:2"]


@pytest.mark.contract("B527")
def test_a_record_under_the_same_locks_that_needs_a_person(
    scene: Scene, program: PlayedGate
) -> None:
    """A gate that was to finish both first was killed: all locks are its own, the records apart."""
    two_left(scene, program)
    kill_apply(scene, program, web(3, name="api"), web(3), line="finishing what")
    result = program("recover", "web")
    assert result.exit_code == 5, str(result)
    assert result.stderr.count("warning     the record of deployment/api cannot be read") == 1
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B527", "B544")
def test_nothing_is_begun_after_a_signal(scene: Scene, program: PlayedGate) -> None:
    """Of two records under the same locks the second is left, as it is before an apply."""
    scene.serve(web(name="api"), web())
    for name in ("api", "web"):
        kill_apply(
            scene, program, web(2, name=name, behaviour=SLOW), line=f"deployment/{name} changed"
        )
    kill_apply(scene, program, web(3, name="api"), web(3), line="finishing what")
    result = signal_at(program, "finishing what", "recover", "web")
    assert result.stderr.count("finishing what") == 1
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert program("recover").exit_code == 4
    assert_runs(scene.objects, "shop/web:1", revision=3)
    assert held_locks(scene) == []


@pytest.mark.contract("B246")
@pytest.mark.parametrize("command", ["recover", "apply"])
def test_a_record_writes_into_no_protected_namespace(
    scene: Scene, program: PlayedGate, command: str
) -> None:
    """Its objects are looked at, not the namespace of its lock alone."""
    prod(scene)

    def there(value: str) -> list[JSON]:
        return [placed_in("prod", one) for one in (settings(value), web(name="api"))]

    assert program("apply", "-f", scene.manifest(*there("one"), web())).exit_code == 0
    kill_apply(
        scene, program, *there("two"), web(2, behaviour=SLOW), line=r"deployment/web in \S+ changed"
    )
    words = ("web",) if command == "recover" else ("-f", scene.manifest(web(3)))
    result = program(command, *words, "--protected-namespace", "prod")
    assert_refused(result, "Protected", "namespace prod is protected")
    assert settings_in_prod(scene) == {"mode": "two"}
    assert program("recover", "web").exit_code == 4
    assert settings_in_prod(scene) == {"mode": "one"}


@pytest.mark.contract("B527", "B530")
def test_what_only_observed_is_finished_without_a_verdict(
    scene: Scene, program: PlayedGate
) -> None:
    """An attempt that was to take nothing back ends with 0, and a second look finds nothing."""
    scene.serve(web())
    kill_apply(scene, program, web(2, behaviour=SLOW), flags=["--observe"])
    result = recover(scene)
    assert_ended(result, 0, "observed", "Complete")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert "no attempt is unfinished" in recover(scene).stderr


def forged(scene: Scene, namespace: str = "prod") -> JSON:
    """Put one more object into the record: a ConfigMap elsewhere that is to be returned."""
    record: JSON = unpack(lease(scene)["metadata"]["annotations"][RECORD], dict)
    ours = next(one for one in record["objects"] if one["ref"][1] == "ConfigMap")
    text = json.dumps(ours).replace('"shop"', f'"{namespace}"').replace('"one"', '"evil"')
    theirs = json.loads(text) | {"uid": "", "tried": None, "sent": {"kind": "ConfigMap"}}
    record["objects"].append(theirs | {"forced": True})
    return {RECORD: pack(record)}


@pytest.mark.contract("B754", "B1367")
@pytest.mark.parametrize("names_a_lock", [False, True], ids=["alone", "with-a-lock-there"])
def test_a_record_writes_to_no_namespace_without_a_lock(
    scene: Scene, program: PlayedGate, names_a_lock: bool
) -> None:
    """Whoever may write Leases in one writes nothing elsewhere, however often it is recovered."""
    prod(scene)
    first = placed_in("prod", settings("theirs")), placed_in("prod", web(name="api"))
    assert program("apply", "-f", scene.manifest(*first)).exit_code == 0
    scene.serve(web(), settings("one"))
    kill_apply(scene, program, settings("two"), web(2, behaviour=SLOW))
    annotations = forged(scene)
    if names_a_lock:
        said = json.loads(lease(scene)["metadata"]["annotations"]["rollout-gate/holder"])
        said["locks"] += [["prod", "rollout-gate.deployment.api"]]
        annotations["rollout-gate/holder"] = json.dumps(said)
    scene.objects.patch("leases", LEASE, {"metadata": {"annotations": annotations}})
    for _ in range(2):
        result = program("recover", "web")
        assert result.exit_code == 5, str(result)
        assert "configmap/settings in prod" in result.stderr
        assert "no Lease says that its attempt held a lock" in result.stderr
        assert "if its Leases there were deleted, apply what should run" in result.stderr
        assert settings_in_prod(scene) == {"mode": "theirs"}
    after = program("apply", "-f", scene.manifest(web(3)))
    assert after.exit_code == 0, str(after)
    assert settings_in_prod(scene) == {"mode": "theirs"}


@pytest.mark.contract("B754")
def test_deployments_of_two_namespaces_are_recovered_together(
    scene: Scene, program: PlayedGate
) -> None:
    """Each of its Leases names the other."""
    die_over_two_namespaces(scene, program)
    assert settings_in_prod(scene) == {"mode": "two"}
    result = program("recover", "web")
    assert result.exit_code == 4, str(result)
    assert settings_in_prod(scene) == {"mode": "one"}
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B246")
@pytest.mark.parametrize("how", ["undo", "restart"])
def test_nothing_is_written_into_a_protected_namespace(
    scene: Scene, program: PlayedGate, how: str
) -> None:
    """A verified set has something there."""
    prod(scene)
    flag = ("--protected-namespace", "prod")

    def both(version: int, mode: str, **more: str) -> list[JSON]:
        there = [settings(mode), web(1, name="api")]
        return [*(placed_in("prod", one) for one in there), web(version, **more)]

    assert program("apply", "-f", scene.manifest(*both(1, "one"))).exit_code == 0
    bodies = both(2, "two", behaviour="ready=0" if how == "undo" else CRASH)
    second = program("apply", "-f", scene.manifest(*bodies), "--on-failure", "keep")
    assert second.exit_code == (0 if how == "undo" else 6), str(second)
    result = program(how, "web", *flag)
    assert_refused(result, "Protected", "namespace prod is protected")
    assert settings_in_prod(scene) == {"mode": "two"}
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


HAS_RECORD = When(
    f"'{RECORD}' in object.metadata.?annotations.orValue({{}})",
    lambda lease, _: RECORD in (lease["metadata"].get("annotations") or {}),
)


@pytest.mark.contract("B534")
@pytest.mark.parametrize("flags", [(), ("--require-lock",)], ids=["plain", "require-lock"])
def test_without_its_record_nothing_is_written(
    scene: Scene, program: PlayedGate, policies: Policies, flags: tuple[str, ...]
) -> None:
    """A policy denies the annotation: refused before the first write, and the lock is free."""
    scene.serve(web(), settings("one"))
    path = scene.manifest(web(2), settings("two"))
    with policies.denying("leases.coordination.k8s.io", "no large annotations", HAS_RECORD):
        result = program("apply", "-f", path, *flags)
    assert result.exit_code == 3, str(result)
    assert "no large annotations" in result.stderr
    assert "--no-lock" in result.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
    assert held_locks(scene) == []


@pytest.mark.contract("B905")
@pytest.mark.parametrize("signalled", [True, False], ids=["signalled", "killed"])
def test_what_crashed_before_its_gate_ended_is_not_called_innocent(
    scene: Scene, program: PlayedGate, signalled: bool
) -> None:
    """What the record knows leads to what the container said; else what was seen does."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=CRASH))) as running:
        running.wait_for_line(CRASHED, 60.0)
        if signalled:
            running.send(signal.SIGTERM)
            assert running.wait().exit_code == 143
        else:
            running.kill()
    result = program("recover", "web")
    assert result.exit_code == 4, str(result)
    assert "nothing was found against" not in result.stdout, result.stdout
    expected = (
        "fix that, then apply again"
        if signalled
        else "was cut off before a verdict: check the causes"
    )
    assert expected in " ".join(result.stdout.split()), result.stdout
    assert ("CrashLoop: " in result.stdout) is signalled
