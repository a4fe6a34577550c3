"""Locks: one attempt at a time, whoever waits or is killed, and the commands about them."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import (
    assert_refused,
    assert_usage,
    assert_verified,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, quota, web
from tests.cluster import manifests
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_apply, kill_at, lease
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules

pytestmark = pytest.mark.sandbox_only("minutes of waiting")


@pytest.mark.contract("B520", "B521")
@pytest.mark.parametrize("command", ["restart", longer("undo"), longer("resume"), longer("verify")])
def test_one_attempt_at_a_time(scene: Scene, program: PlayedGate, command: str) -> None:
    """Who comes second waits as long as it was told, says for whom, and is refused."""
    scene.serve(web(), web(2))
    ci = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "7", "GITHUB_REPOSITORY": "shop/web"}
    ci["GITHUB_SERVER_URL"] = "https://github.com"
    path = scene.manifest(web(3, behaviour=SLOW))
    with program.start("apply", "-f", path, env=ci) as first:
        first.wait_for_line(UNDER_WAY)
        second = program(command, "web", "--lock", "--lock-wait", "10s")
        assert_refused(second, "Locked", "deployment/web is locked by shop/web/7")
        assert "https://github.com/shop/web/actions/runs/7" in second.stderr
        assert re.search(
            r"last renewed at \S+T\S+Z; unless renewed again, it is free at \S+T\S+Z;"
            r" waiting until \S+T\S+Z at",
            second.stderr,
        )
        assert 10 <= second.duration_seconds < 15
        assert first.wait().exit_code == 0


@pytest.mark.contract("B525")
def test_a_quota_without_a_lease_says_how_to_go_on(scene: Scene, gate: CheckedGate) -> None:
    """One line with a hint: the quota, and --no-lock, which works."""
    full = quota({"count/leases.coordination.k8s.io": "0"})
    scene.objects.create("resourcequotas", full)
    scene.objects.wait_for(
        "resourcequotas", "full", lambda found: "used" in found.get("status", {})
    )
    path = scene.manifest(web())
    refused = gate("apply", "-f", path)
    assert_refused(refused, "Rejected", "the lock cannot be taken", "exceeded quota")
    assert "kubectl describe resourcequota" in refused.stderr
    assert "to continue without lock and record: --no-lock" in refused.stderr
    assert_verified(gate("apply", "-f", path, "--no-lock", "--output", "json"))


@pytest.mark.contract("B525")
def test_without_the_rights_there_is_a_warning(scene: Scene, gate_with_rules: MakeGate) -> None:
    """It names the rule; `--require-lock` refuses, and `--no-lock` has nothing to warn of."""
    scene.serve(web())
    gate = gate_with_rules(rules(*READING, "create", "patch"))
    path = scene.manifest(web(2))
    refused = gate("apply", "-f", path, "--require-lock")
    assert_refused(refused, "Forbidden", "leases.coordination.k8s.io")
    result = gate("apply", "-f", path, "--output", "json")
    assert_verified(result)
    assert warned(result, "without a lock", "get, create, patch leases.coordination.k8s.io")
    silent = gate("apply", "-f", path, "--no-lock", "--output", "json")
    assert not warned(silent, "lock")
    assert not scene.objects.list_all("leases")


def refused(scene: Scene, gate: CheckedGate) -> None:
    """Have an apply refused when it has its lock."""
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    assert_refused(gate("apply", "-f", scene.manifest(web(2))), "Paused")


@pytest.mark.contract("B545")
def test_a_refused_run_leaves_what_a_lock_remembers(scene: Scene) -> None:
    """An earlier run has verified a version: the lock is given back as it was."""
    assert_verified(scene.apply(web()))
    remembered = lease(scene)["metadata"]["annotations"]["rollout-gate/history"]
    refused(scene, scene.gate)
    assert lease(scene)["metadata"]["annotations"]["rollout-gate/history"] == remembered
    assert not lease(scene)["spec"]["holderIdentity"]


@pytest.mark.contract("B545")
def test_a_lock_that_must_not_be_deleted_is_given_back(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """The right to delete is not asked for: the next run takes the lock at once."""
    scene.serve(web())
    refused(scene, gate_with_rules([*rules(*READING, "create", "patch"), LEASE_RULES]))
    assert not lease(scene)["spec"]["holderIdentity"]


@pytest.mark.contract("B526")
def test_the_role_names_locks_and_secrets(scene: Scene) -> None:
    """Secrets of the record are asked for only where the manifest has any."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}}
    bare = scene.gate("preflight", "-f", scene.manifest(web()), "--rbac").stdout
    assert "leases" in bare
    rules = next(yaml.safe_load_all(bare))["rules"]
    (leases,) = [rule["verbs"] for rule in rules if "leases" in rule["resources"]]
    assert leases == ["create", "get", "list", "patch"]
    assert "secrets" not in bare
    assert "delete" in scene.gate("preflight", "-f", scene.manifest(web(), secret), "--rbac").stdout


@pytest.mark.contract("B521")
def test_a_preflight_only_looks(scene: Scene, program: PlayedGate) -> None:
    """Who holds the lock is said, and nobody waits."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW))) as first:
        first.wait_for_line(UNDER_WAY)
        for words in (("preflight",), ("apply", "--dry-run")):
            looked = program(*words, "-f", scene.manifest(web(2)))
            assert looked.exit_code == 0
            assert looked.duration_seconds < 5
            assert "deployment/web is locked by" in looked.stderr
        first.kill()


@pytest.mark.contract("B1889")
def test_a_dry_run_of_an_undo_says_once_who_holds_each_lock(
    scene: Scene, program: PlayedGate
) -> None:
    """It looks at the workload first, then at those that were verified with it."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version), web(version, name="api")))
    path = scene.manifest(web(3, behaviour=SLOW), web(3, name="api", behaviour=SLOW))
    with program.start("apply", "-f", path) as first:
        first.wait_for_line(UNDER_WAY)
        said = program("undo", "web", "--dry-run").stderr
        counts = {name: said.count(f"deployment/{name} is locked by") for name in ("web", "api")}
        first.kill()
    assert counts == {"web": 1, "api": 1}, said


@pytest.mark.contract("B527", "B530")
def test_attempts_without_a_deployment_are_named_by_their_objects(
    scene: Scene, program: PlayedGate
) -> None:
    """`locks` names the command that finishes them, `recover` says what each was about."""
    for letter in "ab":
        maps = [manifests.config_map(f"{letter}{number}", {"mode": "one"}) for number in range(12)]
        kill_apply(scene, program, *maps, line=f"applied +configmap/{letter}1 ")
    shown = program("locks").stdout
    assert shown.count("unfinished; to finish it (back if incomplete): rollout-gate recover") == 2
    finished = program("recover").stderr
    for letter in "ab":
        assert f"configmap/{letter}0 and 11 more: " in finished


@pytest.mark.contract("B527", "B528", "B1906")
def test_locks_are_listed_and_given_back(scene: Scene, program: PlayedGate) -> None:
    """Who, since when, and what is left; giving one back has to be agreed to."""
    scene.serve(web())
    with program.start("apply", "-f", scene.manifest(web(2, behaviour=SLOW))) as first:
        first.wait_for_line(UNDER_WAY)
        [row] = json.loads(program("locks", "--output", "json").stdout)
        assert (row["locks"], row["state"], row["unfinished"]) == ("deployment/web", "held", True)
        first.kill()
    assert row["holder"] == lease(scene)["spec"]["holderIdentity"]
    shown = program("locks").stdout
    assert "dead, unfinished" in shown
    assert (
        "deployment/web is unfinished; to finish it (back if incomplete): rollout-gate recover web"
        in shown
    )
    assert_usage(program("locks", "--release", "web"), "confirmation")
    freed = program("locks", "--release", "deployment.apps/web", "--yes")
    assert freed.exit_code == 0, str(freed)
    assert "whose process has ended; it is free" in freed.stderr
    assert (
        "its attempt is unfinished; to finish that (back if incomplete): rollout-gate recover web"
        in freed.stderr
    )
    assert "takes the lock again" not in freed.stderr
    assert "free, unfinished" in program("locks").stdout
    assert_refused(program("locks", "--release", "api", "--yes"), "NotFound", "deployment/api")
    assert program("recover").exit_code == 4
    assert program("locks").stdout.split()[-4:] == ["free", "-", "-", "-"]


@pytest.mark.contract("B527")
def test_all_namespaces_are_listed_and_recovered(
    scene: Scene, program: PlayedGate, gate_with_rules: MakeGate
) -> None:
    """What gates left in two namespaces is finished by one command that may see both."""
    scene.objects.create("namespaces", {"metadata": {"name": "blog"}})
    scene.serve(web())
    first = program("apply", "-n", "blog", "-f", scene.manifest(web(name="post")))
    assert first.exit_code == 0, str(first)
    for flags, body in (
        ((), web(2, behaviour=SLOW)),
        (("-n", "blog"), web(2, name="post", behaviour=SLOW)),
    ):
        kill_at(
            program, "applied +deployment/.* changed", "apply", *flags, "-f", scene.manifest(body)
        )
    lines = program("locks", "-A").stdout.splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [
        ["NAMESPACE", "LOCK"],
        ["blog", "deployment/post"],
        ["shop", "deployment/web"],
    ]
    steps = [line.partition("to finish it (back if incomplete): ")[2] for line in lines[3:]]
    assert ["recover post -n blog" in steps[0], "recover web -n shop" in steps[1]] == [True, True]
    assert len(steps) == 2
    rows = json.loads(program("locks", "--all-namespaces", "--output", "json").stdout)
    assert [(row["namespace"], row["unfinished"]) for row in rows] == [
        ("blog", True),
        ("shop", True),
    ]
    refused = program("recover", "-A", "--protected-namespace", "blog")
    assert_refused(refused, "Protected", "blog")
    gate = gate_with_rules([*rules(*READING), {**LEASE_RULES, "verbs": ["get", "list"]}])
    for command in ("locks", "recover"):
        result = gate(command, "-A")
        assert_refused(result, "Forbidden", "at the cluster scope")
        assert f"of one: rollout-gate {command} -n NAMESPACE" in result.stderr
    assert_usage(program("recover", "web", "-A"), "NAME")
    assert_usage(program("locks", "--release", "web", "--yes", "-A"), "namespace")
    result = program("recover", "-A")
    assert result.exit_code == 4, str(result)
    for ended in ("deployment/post in blog: rolled-back", "deployment/web in shop: rolled-back"):
        assert ended in result.stderr
    assert "all namespaces" in result.stderr
    assert program("recover", "-A").exit_code == 0
