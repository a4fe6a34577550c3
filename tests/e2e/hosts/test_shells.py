"""Jenkins' `sh` steps, the scripts and the Argo CD hook, each as it stands."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.bed.interrupting import ENDING, UNDER_WAY
from tests.bed.scene import Scene, web
from tests.cluster import programs
from tests.cluster.command import Program
from tests.cluster.kubelet.api import JSON
from tests.hosts.place import EXAMPLES, Place, environment, installed_gate, rules

STEP = re.compile(r"\b(?:sh |script: )'(?P<script>[^']+)'")
DEPLOY = EXAMPLES / "shell" / "deploy.sh"
HELM = """#!/bin/sh
echo "helm $*" >>"$HOME/helm.log"
"""


def agent(place: Place, folder: Path) -> Program:
    """Return a shell as an agent starts it for a step, with the gate and a helm that only notes."""
    tools = installed_gate(place.folder)
    (tools / "helm").write_text(HELM)
    (tools / "helm").chmod(0o755)
    env = environment(place.folder, str(tools)) | {"KUBECONFIG": str(place.kubeconfig)}
    return Program(("sh", "-xe"), env, folder)


def steps(name: str) -> list[str]:
    """Return the scripts of a Jenkinsfile in their order."""
    text = (EXAMPLES / "jenkins" / name).read_text()
    return [match["script"] for match in STEP.finditer(text)]


def of(scripts: Sequence[str], word: str) -> str:
    """Return the one script with this command."""
    [found] = [script for script in scripts if script.split()[1:3] == word.split()]
    return found


@pytest.mark.contract("B595")
def test_the_steps_of_the_jenkinsfile(sandbox: Place, tmp_path: Path) -> None:
    """Rehearse, deploy, and recover: the codes and the files that the pipeline goes by."""
    scripts = steps("Jenkinsfile")
    shell = agent(sandbox, tmp_path)
    sandbox.write(tmp_path / "deploy" / "web.yaml", "web", 1)
    rehearsed = shell("-c", of(scripts, "rollout-gate rehearse"))
    assert rehearsed.exit_code in (0, 6), str(rehearsed)
    assert "returns to" in rehearsed.stdout
    assert shell("-c", of(scripts, "rollout-gate apply")).exit_code == 0
    sandbox.write(tmp_path / "deploy" / "web.yaml", "web", 2, "crash=0.1")
    assert shell("-c", of(scripts, "rollout-gate apply")).exit_code == 4
    assert (tmp_path / "gate-junit.xml").exists()
    assert (tmp_path / "gate-report.html").exists()
    assert shell("-c", of(scripts, "rollout-gate recover")).exit_code == 0
    assert len(scripts) == 3


@pytest.mark.contract("B595")
def test_the_steps_beside_helm(sandbox: Place, tmp_path: Path) -> None:
    """Upgrade, verify, roll back: verify judges what somebody else has rolled out."""
    scripts = steps("Jenkinsfile.helm")
    sandbox.serve("web")
    env = {"RELEASE": "web", "NAMESPACE": "default"}
    shell = agent(sandbox, tmp_path)
    for script in scripts:
        result = shell("-c", script, env=env)
        assert result.exit_code == 0, str(result)
    assert (tmp_path / "gate-junit.xml").exists()
    assert (sandbox.folder / "helm.log").read_text().splitlines() == [
        "helm upgrade --install web chart --namespace default",
        "helm rollback web --namespace default",
    ]


@pytest.mark.contract("B595")
@pytest.mark.parametrize(
    ("asked", "code", "says"), [("", 0, "VERIFIED"), ("crash=0.1", 4, "ROLLED BACK")]
)
def test_the_shell_script(sandbox: Place, tmp_path: Path, asked: str, code: int, says: str) -> None:
    """It says what runs, and ends as the gate did."""
    sandbox.serve("web")
    sandbox.write(tmp_path / "deploy" / "web.yaml", "web", 2, asked)
    result = agent(sandbox, tmp_path)(DEPLOY)
    assert (result.exit_code, says in result.stdout) == (code, True), str(result)


@pytest.mark.contract("B604")
@pytest.mark.parametrize(("number", "code"), ENDING)
def test_a_signal_to_the_shell_script_is_heard_by_the_gate(
    sandbox: Place, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Its process ends when the gate has said how it ended, and leaves none behind."""
    sandbox.serve("web")
    sandbox.write(tmp_path / "deploy" / "web.yaml", "web", 2, "never-ready")
    with agent(sandbox, tmp_path).start(DEPLOY) as running:
        running.wait_for_line(UNDER_WAY)
        running.send(number)
        result = running.wait()
    assert (result.exit_code, "INTERRUPTED" in result.stdout) == (code, True), str(result)
    assert (tmp_path / "gate-report.html").exists()
    assert "held" not in sandbox.gate("locks").stdout


@pytest.mark.contract("B604")
def test_the_shell_script_finishes_what_a_killed_one_left(sandbox: Place, tmp_path: Path) -> None:
    """After SIGKILL the same script again returns what was left, and deploys: exit 0."""
    sandbox.serve("web")
    sandbox.write(tmp_path / "deploy" / "web.yaml", "web", 2, "never-ready")
    with agent(sandbox, tmp_path).start(DEPLOY) as running:
        running.wait_for_line(UNDER_WAY)
        running.send(signal.SIGKILL)
        assert running.wait().exit_code == -signal.SIGKILL
    sandbox.write(tmp_path / "deploy" / "web.yaml", "web", 3)
    result = agent(sandbox, tmp_path)(DEPLOY)
    assert result.exit_code == 0, str(result)
    assert "recovered" in result.stderr
    assert sandbox.images("web")[0] == "shop/web:3"


@pytest.mark.contract("B595")
def test_the_shell_script_beside_helm(sandbox: Place, tmp_path: Path) -> None:
    """A rollout that fails is taken back by Helm."""
    sandbox.serve("web")
    sandbox.write(tmp_path / "web.yaml", "web", 2, "crash=0.1")
    sandbox.gate("apply", "-f", tmp_path / "web.yaml", "--on-failure", "keep")
    result = agent(sandbox, tmp_path)(EXAMPLES / "shell" / "helm.sh", "web", "chart", "default")
    assert result.exit_code == 6, str(result)
    assert "helm rollback web" in (sandbox.folder / "helm.log").read_text()


@pytest.mark.contract("B604")
@pytest.mark.parametrize("number", [number for number, _ in ENDING])
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_signal_to_the_script_beside_helm_is_heard_by_the_gate(
    sandbox: Place, tmp_path: Path, number: signal.Signals, shell: str
) -> None:
    """It ends after `verify` has, with its exit code; Helm takes nothing back."""
    sandbox.serve("web")
    sandbox.write(tmp_path / "web.yaml", "web", 2, "never-ready")
    sandbox.gate("apply", "-f", tmp_path / "web.yaml", "--on-failure", "keep", "--timeout", "1s")
    # A shell cannot trap what was ignored when it began, as under nohup.
    signals = ("env", f"--default-signal={','.join(str(int(one)) for one, _ in ENDING)}")
    by = replace(agent(sandbox, tmp_path), words=(*signals, shell, "-xe"))
    with by.start(EXAMPLES / "shell" / "helm.sh", "web", "chart", "default") as running:
        running.wait_for_line("progress +deployment/web")
        running.send(number)
        result = running.wait()
    assert (result.exit_code, "INTERRUPTED" in result.stdout) == (143, True), str(result)
    assert "helm rollback" not in (sandbox.folder / "helm.log").read_text()


@pytest.mark.contract("B595", "B602")
def test_the_hook_of_argo_cd_with_its_role(
    scene: Scene,
    kubeconfig_with_rules: Callable[[Sequence[JSON]], Path],
) -> None:
    """Its arguments judge what serves, with the rights of its Role and no other."""
    scene.serve(web(labels={"app.kubernetes.io/instance": "web"}))
    path = EXAMPLES / "argocd" / "verify.yaml"
    scene.kubectl("apply", "--dry-run=server", "-f", path, check=True)
    hook = yaml.safe_load(path.read_text())
    [container] = hook["spec"]["template"]["spec"]["containers"]
    role = rules((EXAMPLES / "rbac" / "verify.yaml").read_text())
    result = programs.gate(kubeconfig_with_rules(role), scene.folder)(*container["args"])
    assert result.exit_code == 0, str(result)


@pytest.mark.contract("B602")
def test_the_role_of_a_deployment_is_enough(
    scene: Scene,
    kubeconfig_with_rules: Callable[[Sequence[JSON]], Path],
) -> None:
    """Deploy under a lock, roll back, and recover without a name."""
    role = rules((EXAMPLES / "rbac" / "deploy.yaml").read_text())
    gate = programs.gate(kubeconfig_with_rules(role), scene.folder)
    scene.serve(web())
    flags = ("--require-lock", "--output", "json")
    result = gate("apply", "-f", scene.manifest(web(2, behaviour="crash=0.1")), *flags)
    assert result.exit_code == 4, str(result)
    recovered = gate("recover")
    assert recovered.exit_code == 0, str(recovered)
