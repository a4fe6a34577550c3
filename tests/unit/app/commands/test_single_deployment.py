"""`undo`, `restart`, `pause`, `resume`: one write to one Deployment, and what it is based on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from gate.app.command_context import CommandContext
from gate.app.commands.undo_recovery import find_undo
from gate.core.attempt.state import Attempt
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome
from gate.report.advice.next_steps import next_steps
from gate.report.schema.result import Result
from sandbox.face import JSON
from tests.unit.app.bodies import autoscaler, marked, web
from tests.unit.app.conftest import Gate, assert_refused
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


def spec(server: Server) -> JSON:
    """Return the spec of the Deployment web."""
    found: JSON = server.get("deployments", "web")["spec"]
    return found


def images(server: Server) -> list[str]:
    """Return the images of its template."""
    return [one["image"] for one in spec(server)["template"]["spec"]["containers"]]


def image(tag: str) -> JSON:
    """Return a patch to another image."""
    return {"spec": {"template": web(tag)["spec"]["template"]}}


def restarted(at: str) -> JSON:
    """Return a patch as `kubectl rollout restart` sends it."""
    return {"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: at}}}}}


# -- undo ------------------------------------------------------------------------------------------


@pytest.mark.contract("B71", "B192", "B194")
def test_undo_takes_the_template_and_nothing_else(gate: Gate, server: Server) -> None:
    """The deadline stays as it is applied now, and replicas as the autoscaler decided."""
    server.put(web("1", progressDeadlineSeconds=100))
    server.put(web("2", progressDeadlineSeconds=200), autoscaler())
    missing = gate("undo", "web", to_revision="9")
    assert_refused(missing, server, "NotFound")
    assert "hint: the revisions are: 1, 2" in missing.err, missing.err
    more = {"spec": {"replicas": 3}}
    server.change(more, manager="kube-controller-manager", subresource="scale")
    assert gate("undo", "web", to_revision="1").code == 0
    assert (spec(server)["replicas"], spec(server)["progressDeadlineSeconds"]) == (3, 200)
    assert images(server) == ["shop/web:1"]


@pytest.mark.contract("B191")
@pytest.mark.parametrize("paused_by", ["the gate", "somebody"])
def test_undo_resumes_a_paused_deployment_after_saying_so(
    gate: Gate, server: Server, paused_by: str
) -> None:
    """`kubectl rollout undo` refuses one; a pause of ours is part of what is taken over."""
    server.put(web("1"))
    server.put(web("2"))
    if paused_by == "the gate":
        assert gate("pause", "web").code == 0
    else:
        server.change({"spec": {"paused": True}})
    ended = gate("undo", "web")
    assert ended.code == 0, ended.err
    assert "deployment/web was paused: the undo resumes it" in ended.document["warnings"]
    assert (images(server), spec(server).get("paused", False)) == (["shop/web:1"], False)


# -- restart ---------------------------------------------------------------------------------------


@pytest.mark.contract("B196")
def test_restart_writes_under_a_manager_of_its_own(gate: Gate, server: Server) -> None:
    """The next apply leaves its annotation alone and starts no rollout."""
    server.put(web())
    assert gate("restart", "web").code == 0
    (write,) = server.writes()
    assert (write.query["fieldManager"], write.query["force"]) == ("rollout-gate-restart", "false")
    template = spec(server)["template"]
    assert RESTARTED_AT in template["metadata"]["annotations"]
    assert gate.apply(web()).document["reason"] == "NoChange"
    assert spec(server)["template"] == template


@pytest.mark.contract("B1682")
@pytest.mark.parametrize("command", ["restart", "resume"])
def test_a_scale_to_0_since_the_first_read_is_no_verification(
    gate: Gate, server: Server, command: str
) -> None:
    """Neither says a number of replicas: those that it found were to run."""
    server.put(web())
    if command == "resume":
        server.change({"spec": {"paused": True}})

    def scale(seen: Seen) -> None:
        is_write = seen.method == "PATCH" and "/deployments/" in seen.path
        if is_write and seen.query.get("dryRun") != "All" and spec(server)["replicas"]:
            server.change({"spec": {"replicas": 0}}, subresource="scale")

    server.on_request = scale
    ended = gate(command, "web")
    document = ended.document
    assert (ended.code, document["reason"], spec(server)["replicas"]) == (8, "ScaledToZero", 0)
    assert document["workloads"][0]["scaled_from"] == 2


@pytest.mark.contract("B196")
def test_restart_takes_the_annotation_of_kubectl(gate: Gate, server: Server) -> None:
    """Somebody restarted it with kubectl before: that one annotation is forced, nothing else."""
    server.put(web())
    server.change(restarted("2026-11-21T10:00:00Z"), manager="kubectl-rollout")
    assert gate("restart", "web").code == 0
    at = spec(server)["template"]["metadata"]["annotations"][RESTARTED_AT]
    assert at != "2026-11-21T10:00:00Z"
    (write,) = server.writes()
    assert write.query["force"] == "true"
    assert set(write.json()["spec"]["template"]["metadata"]) == {"annotations"}


# -- health checks ---------------------------------------------------------------------------------


@pytest.mark.contract("B1567")
@pytest.mark.parametrize("command", ["undo", "restart", "resume"])
def test_what_asks_no_check_says_so_where_some_are_configured(
    gate: Gate, server: Server, tmp_path: Path, command: str
) -> None:
    """It ends well, and the command that it names fails; without a check nothing is said."""
    server.put(web("1"))
    server.put(web("2"))
    config = tmp_path / "gate.yaml"
    config.write_text("checks: [{name: pay, command: ['false'], count: 1}]")
    ended = gate(command, "web", config=[str(config)])
    assert (ended.code, ended.document["outcome"]) == (0, "verified"), ended.err
    (said,) = [one for one in ended.document["warnings"] if "checks" in one]
    assert "this command asks none of them" in said
    assert f"rollout-gate checks web --config {config} -n shop" in said
    assert ended.err.count("asks none of them") == 1
    assert gate("checks", "web", config=[str(config)]).code == 6
    config.write_text("checks: []")
    assert "asks none" not in gate("restart", "web", config=[str(config)]).err


# -- pause and resume ------------------------------------------------------------------------------


@pytest.mark.contract("B195")
def test_what_is_not_paused_can_be_resumed(gate: Gate, server: Server) -> None:
    """It changes nothing, and is judged all the same."""
    server.put(web())
    document = gate("resume", "web").document
    assert (document["outcome"], document["reason"]) == ("verified", "NoChange")
    assert "deployment/web is not paused" in str(document["timeline"])


@pytest.mark.contract("B246")
@pytest.mark.parametrize("command", ["undo", "restart", "pause", "resume"])
def test_protected_namespaces_are_refused_by_every_command_that_writes(
    gate: Gate, server: Server, command: str
) -> None:
    """Not only by apply."""
    server.put(web("1"))
    server.put(web("2"))
    assert_refused(gate(command, "web", protected_namespace=["shop"]), server, "Protected")


@pytest.mark.contract("B10", "B13")
def test_what_is_managed_can_be_paused_on_purpose(gate: Gate, server: Server) -> None:
    """Another tool would take a pause back: it is refused, and --allow-managed goes on."""
    server.put(marked(web(), annotations={"meta.helm.sh/release-name": "shop"}))
    for command in ("undo", "restart", "resume", "pause"):
        assert_refused(gate(command, "web"), server, "GitOpsManaged")
    assert gate("pause", "web", allow_managed=True).code == 0
    assert spec(server)["paused"]


def in_between(server: Server, act: Callable[[], object]) -> None:
    """Let something happen right before the first write that is no dry run."""
    acted: list[Seen] = []

    def hear(seen: Seen) -> None:
        is_write = seen.method == "PATCH" and seen.query.get("dryRun") != "All"
        if is_write and seen.path.endswith("/deployments/web") and not acted:
            acted.append(seen)
            act()

    server.on_request = hear


@pytest.mark.contract("B787")
def test_a_pause_meets_the_write_of_a_run(gate: Gate, server: Server) -> None:
    """A pause is right whatever others change beside it: it waits for nobody and keeps theirs."""
    server.put(web("1"))
    in_between(server, lambda: server.change(image("2")))
    assert gate("pause", "web").code == 0
    assert (images(server), spec(server)["paused"]) == (["shop/web:2"], True)


@pytest.mark.contract("B787")
def test_a_pause_is_of_the_deployment_that_was_read(gate: Gate, server: Server) -> None:
    """One that was created again under the name is another one."""
    server.put(web("1"))

    def create_again() -> None:
        server.objects.delete("deployments", "web")
        server.objects.create("deployments", web("2"))

    in_between(server, create_again)
    assert gate("pause", "web").code == 3
    assert "paused" not in spec(server)


@pytest.mark.contract("B787")
@pytest.mark.parametrize("command", ["restart", "resume"])
def test_what_follows_a_change_of_others_advises_no_flag_that_it_has_not(
    gate: Gate, server: Server, command: str
) -> None:
    """What it was to follow and to return to has changed: it is refused, and may be run again."""
    server.put(web("1"))
    server.change({"spec": {"paused": command == "resume"}})
    in_between(server, lambda: server.change(image("2")))
    document = gate(command, "web").document
    assert (document["outcome"], document["reason"]) == ("refused", "Conflict")
    (step,) = next_steps(cast("Result", document))
    assert step.text.endswith("then run the same command again:")
    assert step.command.startswith("rollout-gate status web")


WEB, API = deployment_ref("shop", "web"), deployment_ref("shop", "api")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")


def recovered(
    restored: tuple[Ref, ...], *, own: Outcome | None, whole: Outcome = Outcome.ROLLED_BACK
) -> Attempt:
    """Return how the recovery of a dead apply ended; `own` is how web did, None: not in it."""
    endings = {} if own is None else {WEB: SimpleNamespace(outcome=own)}
    resumed = SimpleNamespace(record=SimpleNamespace(command="apply"))
    ended = SimpleNamespace(
        outcome=whole,
        result=SimpleNamespace(endings=endings),
        ledger=SimpleNamespace(restored=dict.fromkeys(restored)),
        plan=SimpleNamespace(resumed=resumed),
    )
    return cast("Attempt", ended)


@pytest.mark.contract("B764")
@pytest.mark.parametrize(
    ("ended", "is_done"),
    [
        (recovered((WEB,), own=Outcome.ROLLED_BACK), True),
        (recovered((SETTINGS,), own=Outcome.ROLLED_BACK), True),
        (recovered((WEB,), own=Outcome.SUPERSEDED), False),
        (recovered((WEB,), own=Outcome.ROLLED_BACK, whole=Outcome.ROLLBACK_FAILED), False),
        (recovered((API,), own=Outcome.ROLLED_BACK), False),
        (recovered((API, SETTINGS), own=Outcome.ROLLED_BACK), False),
        (recovered((), own=Outcome.ROLLED_BACK), False),
        (recovered((SETTINGS,), own=None), False),
    ],
)
def test_a_recovery_is_the_undo_only_where_it_brought_back_what_served(
    ended: Attempt, is_done: bool
) -> None:
    """The Deployment itself, or the configuration alone beside it; nothing else counts."""
    context = SimpleNamespace(console=SimpleNamespace(note=lambda *_: None))
    found = find_undo(cast("CommandContext", context), (ended,), WEB)
    assert found is (ended if is_done else None)
