"""`undo`, `restart`, `pause`, `resume`: one write to one Deployment, guarded and followed."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gate.app.command_context import CommandContext
from gate.app.commands.undo_recovery import find_undo
from gate.core.attempt.state import Attempt
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome
from gate.report.schema.result import Result
from gate.report.words.advice import next_steps
from tests.unit.app.bodies import autoscaler, marked, web
from tests.unit.app.commands.test_apply_plan import assert_ended, by_kubectl, images
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import JSON, ApiServer
from tests.unit.kube.scripted import Seen

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


def template_annotations(server: ApiServer) -> dict[str, str]:
    """Return the annotations of the pod template."""
    template: JSON = server.get("Deployment", "web")["spec"]["template"]
    found: dict[str, str] = template["metadata"].get("annotations") or {}
    return found


def paused(server: ApiServer) -> bool:
    """Tell whether the Deployment is paused."""
    return bool(server.get("Deployment", "web")["spec"].get("paused"))


@pytest.fixture
def third(server: ApiServer) -> None:
    """Three versions have run; the third serves."""
    for tag in ("1", "2", "3"):
        server.put(web(tag))


# -- undo ------------------------------------------------------------------------------------------


@pytest.mark.contract("B191", "B711")
def test_undo_returns_to_the_version_before(gate: Gate, server: ApiServer, third: None) -> None:
    """It says where it goes, is tried there and back, and is verified as any apply."""
    document = assert_ended(gate("undo", "web"), 0, "verified", "Complete")
    assert images(server) == ["shop/web:2"]
    tried = [one.json()["spec"]["template"]["spec"]["containers"] for one in server.trials()]
    assert [each[0]["image"] for each in tried] == ["shop/web:2", "shop/web:3"]
    said = [line["message"] for line in document["timeline"] if line["event"] == "undo"]
    assert said == ["deployment/web goes to revision 2 (shop/web:2), only its pod template"]
    assert not [line for line in document["warnings"] if "autoscaler" in line]
    (write,) = server.writes()
    assert {"uid", "resourceVersion"} <= set(write.json()["metadata"])


@pytest.mark.contract("B192")
def test_undo_takes_the_template_and_nothing_else(gate: Gate, server: ApiServer) -> None:
    """Replicas and deadline stay as they are applied now, and the hash label stays behind."""
    server.put(web("1", progressDeadlineSeconds=100))
    server.put(web("2", replicas=3, progressDeadlineSeconds=200))
    assert gate("undo", "web", to_revision="1").code == 0
    spec = server.get("Deployment", "web")["spec"]
    assert (spec["replicas"], spec["progressDeadlineSeconds"]) == (3, 200)
    assert spec["template"] == web("1")["spec"]["template"]


@pytest.mark.contract("B191")
def test_undo_that_fails_goes_back(gate: Gate, server: ApiServer) -> None:
    """It is as careful as an apply: a bad old version does not stay."""
    server.put(web("crash"))
    server.put(web("2"))
    document = assert_ended(gate("undo", "web"), 4, "rolled-back", "CrashLoop")
    assert not [line for line in document["warnings"] if "autoscaler" in line]
    assert images(server) == ["shop/web:2"]


@pytest.mark.contract("B191")
def test_undo_resumes_a_paused_deployment_after_saying_so(
    gate: Gate, server: ApiServer, third: None
) -> None:
    """`kubectl rollout undo` refuses one."""
    server.change("Deployment", "web", {"spec": {"paused": True}})
    document = assert_ended(gate("undo", "web"), 0, "verified", "Complete")
    assert "deployment/web was paused: the undo resumes it" in document["warnings"]
    assert (images(server), paused(server)) == (["shop/web:2"], False)


@pytest.mark.contract("B191")
def test_undo_resumes_what_our_own_pause_holds(gate: Gate, server: ApiServer, third: None) -> None:
    """The pause is ours, and part of what is taken over."""
    assert gate("pause", "web").code == 0
    assert gate("undo", "web").code == 0
    assert (images(server), paused(server)) == (["shop/web:2"], False)


@pytest.mark.contract("B61", "B191")
def test_undo_takes_over_what_kubectl_applied(gate: Gate, server: ApiServer) -> None:
    """Fields of kubectl are ours then, and keep their values."""
    server.put(by_kubectl(web("1", replicas=4)))
    server.change("Deployment", "web", _image("2"), manager="kubectl-client-side-apply")
    assert gate("undo", "web").code == 0
    live = server.get("Deployment", "web")
    assert (images(server), live["spec"]["replicas"]) == (["shop/web:1"], 4)
    assert {one["manager"] for one in live["metadata"]["managedFields"]} == {"rollout-gate"}


def _image(tag: str) -> JSON:
    container = {"name": "web", "image": f"shop/web:{tag}", "readinessProbe": {"periodSeconds": 1}}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


@pytest.mark.contract("B67", "B69")
def test_undo_refuses_fields_of_others_and_takes_over_named_managers(
    gate: Gate, server: ApiServer, third: None
) -> None:
    """A taken manager's other fields keep their values: they are part of the apply."""
    more: dict[str, Any] = {**_image("hot-fix")["spec"], "minReadySeconds": 9}
    server.change("Deployment", "web", {"spec": more}, manager="kubectl-edit")
    before = len(server.writes())
    ended = gate("undo", "web")
    assert_ended(ended, 3, "refused", "Conflict")
    assert "--take-over kubectl-edit" in ended.err
    assert len(server.writes()) == before
    assert gate("undo", "web", take_over=["kubectl-edit"]).code == 0
    assert images(server) == ["shop/web:3"]
    assert server.get("Deployment", "web")["spec"]["minReadySeconds"] == 9


@pytest.mark.contract("B191", "B196")
@pytest.mark.parametrize("manager", ["rollout-gate-restart", "kubectl-rollout"])
def test_undo_takes_back_a_restart(gate: Gate, server: ApiServer, manager: str) -> None:
    """Whoever restarted it: the time of a restart is nobody's configuration."""
    server.put(web())
    before = server.get("Deployment", "web")["spec"]["template"]
    metadata = {"metadata": {"annotations": {RESTARTED_AT: "2026-11-21T10:00:00Z"}}}
    server.change("Deployment", "web", {"spec": {"template": metadata}}, manager=manager)
    document = assert_ended(gate("undo", "web"), 0, "verified", "Complete")
    assert server.get("Deployment", "web")["spec"]["template"] == before
    assert document["deployments"][0]["new"]["replicaset"] == "web-hash1"


@pytest.mark.contract("B71", "B192")
def test_undo_keeps_what_an_autoscaler_decided(gate: Gate, server: ApiServer, third: None) -> None:
    """Replicas are its, whatever the revision had."""
    server.put(autoscaler())
    manager = "kube-controller-manager"
    more = {"spec": {"replicas": 5}}
    server.change("Deployment", "web", more, manager=manager, subresource="scale")
    assert gate("undo", "web").code == 0
    assert server.get("Deployment", "web")["spec"]["replicas"] == 5


@pytest.mark.contract("B194")
def test_a_revision_that_is_not_there_is_refused(
    gate: Gate, server: ApiServer, third: None
) -> None:
    """Those that are there are named, in order."""
    ended = gate("undo", "web", to_revision="7")
    assert_ended(ended, 3, "refused", "NotFound")
    assert "deployment/web has no revision 7" in ended.err
    assert "there are: 1, 2, 3" in ended.err


@pytest.mark.contract("B194")
def test_a_first_revision_has_none_before_it(gate: Gate, server: ApiServer) -> None:
    """Undo has nowhere to go, and says so."""
    server.put(web())
    assert_ended(gate("undo", "web"), 3, "refused", "NoBaseline")


@pytest.mark.contract("B194")
@pytest.mark.parametrize("command", ["undo", "restart", "pause", "resume", "status", "history"])
def test_a_deployment_that_is_not_there_is_refused(
    gate: Gate, server: ApiServer, command: str
) -> None:
    """Every command that takes a name says so in one line."""
    ended = gate(command, "nobody")
    assert_ended(ended, 3, "refused", "NotFound")
    assert "there is no deployment/nobody in namespace shop" in ended.err


# -- restart ---------------------------------------------------------------------------------------


@pytest.mark.contract("B196")
def test_restart_writes_under_a_manager_of_its_own(
    gate: Gate, server: ApiServer, manifest: Manifest, third: None
) -> None:
    """The next apply leaves its annotation alone and starts no rollout."""
    assert_ended(gate("restart", "web"), 0, "verified", "Complete")
    (write,) = server.writes()
    assert (write.query["fieldManager"], write.query["force"]) == ("rollout-gate-restart", "false")
    assert RESTARTED_AT in template_annotations(server)
    restarted = template_annotations(server)
    ended = gate("apply", file=[manifest(web("3"))])
    assert_ended(ended, 0, "verified", "NoChange")
    assert template_annotations(server) == restarted


@pytest.mark.contract("B196")
def test_restart_takes_the_annotation_of_kubectl(gate: Gate, server: ApiServer) -> None:
    """Somebody restarted it with kubectl before: that one annotation is forced, nothing else."""
    server.put(web())
    metadata = {"metadata": {"annotations": {RESTARTED_AT: "2026-11-21T10:00:00Z"}}}
    server.change("Deployment", "web", {"spec": {"template": metadata}}, manager="kubectl-rollout")
    assert gate("restart", "web").code == 0
    assert template_annotations(server)[RESTARTED_AT] != "2026-11-21T10:00:00Z"
    (write,) = server.writes()
    assert write.query["force"] == "true"
    assert set(write.json()["spec"]["template"]["metadata"]) == {"annotations"}


@pytest.mark.contract("B196")
@pytest.mark.parametrize("before", [{}, {RESTARTED_AT: "2026-11-21T10:00:00Z"}])
def test_a_restart_that_fails_gives_the_annotation_back(
    gate: Gate, server: ApiServer, before: dict[str, str]
) -> None:
    """The pods of before run again: their template is the old one, to the letter."""
    server.put(web())
    metadata = {"metadata": {"annotations": dict(before)}}
    manager = "rollout-gate-restart"
    server.change("Deployment", "web", {"spec": {"template": metadata}}, manager=manager)
    template = server.get("Deployment", "web")["spec"]["template"]
    server.fate_of = lambda t: (
        "1" if (t["metadata"].get("annotations") or {}) == before else "crash"
    )
    assert_ended(gate("restart", "web"), 4, "rolled-back", "CrashLoop")
    live = server.get("Deployment", "web")["spec"]["template"]
    live["metadata"].setdefault("annotations", {})
    template["metadata"].setdefault("annotations", {})
    assert live == template


# -- pause and resume ------------------------------------------------------------------------------


@pytest.mark.contract("B195")
def test_pause_pauses_and_resume_follows(gate: Gate, server: ApiServer) -> None:
    """Pausing is one write and no wait; resuming follows the rollout that it starts."""
    server.put(web())
    ended = gate("pause", "web")
    assert (ended.code, paused(server)) == (0, True)
    server.change("Deployment", "web", _image("2"), manager="kubectl-set")
    document = assert_ended(gate("resume", "web"), 0, "verified", "Complete")
    assert not paused(server)
    assert document["deployments"][0]["new"]["images"] == ["shop/web:2"]
    assert [seen.query["fieldManager"] for seen in server.writes()] == ["rollout-gate"] * 2


@pytest.mark.contract("B195")
def test_what_is_not_paused_can_be_resumed(gate: Gate, server: ApiServer) -> None:
    """It changes nothing, and is judged all the same."""
    server.put(web())
    document = assert_ended(gate("resume", "web"), 0, "verified", "NoChange")
    assert "deployment/web is not paused" in str(document["timeline"])


@pytest.mark.contract("B246")
@pytest.mark.parametrize("command", ["undo", "restart", "pause", "resume"])
def test_protected_namespaces_are_refused_by_every_command_that_writes(
    gate: Gate, server: ApiServer, third: None, command: str
) -> None:
    """Not only by apply."""
    ended = gate(command, "web", protected_namespace=["shop"])
    assert_ended(ended, 3, "refused", "Protected")
    assert server.writes() == []


@pytest.mark.contract("B13")
def test_what_is_managed_can_be_paused_on_purpose(gate: Gate, server: ApiServer) -> None:
    """--allow-managed goes on."""
    server.put(marked(web(), annotations={"meta.helm.sh/release-name": "shop"}))
    assert gate("pause", "web", allow_managed=True).code == 0
    assert paused(server)


def in_between(server: ApiServer, act: Callable[[], object]) -> None:
    """Let something happen right before the first write that is no dry run."""
    told: list[Seen] = []

    def hear(seen: Seen) -> None:
        is_write = seen.method == "PATCH" and seen.query.get("dryRun") != "All"
        if is_write and seen.path.endswith("/deployments/web") and not told:
            told.append(seen)
            act()

    server.on_request = hear


@pytest.mark.contract("B787")
def test_a_pause_meets_the_write_of_a_run(gate: Gate, server: ApiServer) -> None:
    """A pause is right whatever others change beside it: it waits for nobody and keeps theirs."""
    server.put(web("1"))
    in_between(server, lambda: server.change("Deployment", "web", _image("2")))
    assert gate("pause", "web").code == 0
    assert (images(server), paused(server)) == (["shop/web:2"], True)


@pytest.mark.contract("B787")
def test_a_pause_is_of_the_deployment_that_was_read(gate: Gate, server: ApiServer) -> None:
    """One that was created again under the name is another one."""
    server.put(web("1"))

    def make_anew() -> None:
        server.remove("Deployment", "web")
        another = web("2")
        server.put({**another, "metadata": {**another["metadata"], "uid": "another"}})

    in_between(server, make_anew)
    assert gate("pause", "web").code == 3
    assert not paused(server)


@pytest.mark.contract("B787")
@pytest.mark.parametrize("command", ["restart", "resume"])
def test_what_follows_a_change_of_others_advises_no_flag_that_it_has_not(
    gate: Gate, server: ApiServer, command: str
) -> None:
    """What it was to follow and to return to has changed: it is refused, and may be run again."""
    server.put(web("1", paused=command == "resume"))
    in_between(server, lambda: server.change("Deployment", "web", _image("2")))
    document = assert_ended(gate(command, "web"), 3, "refused", "Conflict")
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
