"""Bad input: one clear line with file and line where there is one, exit 2 or 3, nothing written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.bed.expectations import (
    assert_refused,
    assert_runs,
    assert_usage,
    assert_verified,
)
from tests.bed.policies import Policies
from tests.bed.scene import MERGE_PATCH, Scene, service, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import yaml_text
from tests.scenarios.rights import MakeGate
from tests.scenarios.versions import one_line

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n"
BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" if before else f"{name}: &{name} [x]\n"
    for before, name in zip(("", *"abcdefgh"), "abcdefghi", strict=True)
)
Given = Callable[[str], Path]


@pytest.fixture
def given(tmp_path: Path) -> Given:
    """Return a writer of a manifest `web.yaml` with any text."""

    def write(text: str) -> Path:
        path = tmp_path / "web.yaml"
        path.write_text(text)
        return path

    return write


@pytest.mark.sandbox_only("nothing is asked of a cluster")
@pytest.mark.contract("B1", "B22", "B212", "B213", "B215")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["web.yaml"]),
        ("---\n# nothing\n---\n", ["web.yaml"]),
        (CONFIG + "data: {a: b\n", ["web.yaml:6"]),
        (CONFIG + "data:\n  a: b\n  a: c\n", ["web.yaml:7", '"a"', "line 6"]),
        (f"{CONFIG}---\n{CONFIG}", ["web.yaml:6", "settings", "web.yaml:1"]),
        (CONFIG + BOMB, ["web.yaml", "values"]),
        ("just a text\n", ["web.yaml:1"]),
        ("kind: ConfigMap\nmetadata: {name: x}\n", ["web.yaml:1", "apiVersion"]),
    ],
    ids=[
        "empty",
        "only comments",
        "no YAML",
        "duplicate key",
        "two of one name",
        "alias bomb",
        "text",
        "no version",
    ],
)
def test_a_manifest_that_is_wrong_is_named_with_its_line(
    scene: Scene, given: Given, audit: Trail, text: str, words: list[str]
) -> None:
    """What is wrong in a manifest is one line with file and line, before any request."""
    assert_usage(scene.gate("apply", "-f", given(text).name), *words)
    assert not audit.requests()


@pytest.mark.contract("B231")
def test_a_namespace_that_does_not_exist_is_refused(scene: Scene) -> None:
    """A namespace that is not there is exit 3 and named."""
    result = scene.apply(web(), flags=["-n", "nowhere-at-all"])
    assert_refused(result, "NotFound", "nowhere-at-all")


@pytest.mark.contract("B5", "B23", "B232")
def test_what_the_server_finds_invalid_is_shown(scene: Scene) -> None:
    """The server's field errors are shown, all of them; nothing was written."""
    body = web(strategy={"type": "Blue"}, env={"not a name=": "x"})
    result = scene.apply(settings(), body)
    field = "spec.template.spec.containers[0].env[0].name"
    assert_refused(result, "Rejected", "web", "spec.strategy", field)
    assert scene.objects.find("configmaps", "settings") is None


@pytest.mark.contract("B246")
@pytest.mark.parametrize("flag", ["--expect-cluster-uid", "--protected-namespace"])
def test_the_wrong_place_is_refused(scene: Scene, flag: str) -> None:
    """Another cluster than the one that is expected, and a protected namespace, are refused."""
    result = scene.apply(web(), flags=[flag, scene.objects.namespace])
    assert_refused(result, "Protected", scene.objects.namespace)


READ_DEPLOYMENTS: JSON = {
    "apiGroups": ["apps"],
    "resources": ["deployments"],
    "verbs": ["get", "list", "watch"],
}


@pytest.mark.fault(37)
@pytest.mark.contract("B2", "B23", "B200")
def test_missing_rights_are_named_at_once_as_a_role_that_works(
    scene: Scene,
    gate_with_rules: MakeGate,
) -> None:
    """All missing rights come in one refusal; the Role that it prints is enough for a rollback."""
    scene.serve(web(), settings())
    gate = gate_with_rules([READ_DEPLOYMENTS])
    path = scene.manifest(web(2, behaviour="crash=0.1"), settings("two"))
    refused = gate("apply", "-f", path)
    missing = ["patch deployments.apps", "list replicasets.apps", "get pods/log", "list events"]
    assert_refused(refused, "Forbidden", *missing, "patch configmaps")
    printed = gate("preflight", "-f", path, "--rbac")
    assert [each["kind"] for each in _documents(printed.stdout)] == ["Role", "RoleBinding"]
    scene.kubectl("apply", "-f", "-", stdin=yaml_text(*_documents(refused.stderr)), check=True)
    assert gate("apply", "-f", path).exit_code == 4
    assert_runs(scene.objects, "shop/web:1", revision=3)


@pytest.mark.contract("B200")
def test_the_printed_role_is_enough_to_apply_roles(scene: Scene, gate_with_rules: MakeGate) -> None:
    """A server lets nobody grant what they lack unless they may escalate and bind."""
    api = "rbac.authorization.k8s.io"
    role: JSON = {"apiVersion": f"{api}/v1", "kind": "Role", "metadata": {"name": "reader"}}
    role["rules"] = [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]}]
    binding: JSON = {"apiVersion": f"{api}/v1", "kind": "RoleBinding", "metadata": {"name": "all"}}
    binding["roleRef"] = {"apiGroup": api, "kind": "ClusterRole", "name": "view"}
    binding["subjects"] = [{"apiGroup": api, "kind": "User", "name": "jane"}]
    gate = gate_with_rules([])
    path = str(scene.manifest(web(), role, binding))
    words = ("-f", path, "--allow-kind", "Role", "--allow-kind", "RoleBinding")
    printed = gate("preflight", *words, "--rbac")
    scene.kubectl("apply", "-f", "-", stdin=yaml_text(*_documents(printed.stdout)), check=True)
    result = gate("apply", *words)
    assert result.exit_code == 0, str(result)


def _documents(text: str) -> list[JSON]:
    """Return the RBAC objects at the end of a text."""
    return list(yaml.safe_load_all(text[text.index("apiVersion: rbac") :]))


@pytest.mark.contract("B233")
def test_an_unknown_field_has_its_line(scene: Scene, given: Given) -> None:
    """The server names the field, the gate where it stands."""
    body = web()
    body["spec"]["template"]["spec"]["containers"][0]["imagePullPolcy"] = "Always"
    text = yaml_text(body)
    line = 1 + [one.strip() for one in text.splitlines()].index("imagePullPolcy: Always")
    result = scene.gate("apply", "-f", given(text))
    assert_refused(result, "Rejected", "imagePullPolcy: field not declared in schema")
    assert f"web.yaml:{line}: spec.template.spec.containers" in result.stderr


@pytest.mark.contract("B232")
@pytest.mark.parametrize(
    ("line", "wrong", "path"),
    [
        ("replicas: 2", "replicas: three", "spec.replicas"),
        ("image: shop/web:1", "tty: true", "spec.template.spec.containers[0].image"),
    ],
)
def test_a_field_that_the_server_rejects_has_its_line(
    scene: Scene, given: Given, line: str, wrong: str, path: str
) -> None:
    """A number that is none, and an image that is missing: of that the place of its container."""
    text = yaml_text(settings(), web()).replace(line, wrong)
    at = 1 + next(n for n, one in enumerate(text.splitlines()) if one.strip(" -") == wrong)
    result = scene.gate("apply", "-f", given(text))
    assert_refused(result, "Rejected", path)
    hint = next(one for one in result.stderr.splitlines() if one.startswith("hint: "))
    assert re.search(rf"web\.yaml:({at}|{at - 1}|{at - 2}): {re.escape(path)}$", hint), hint


@pytest.mark.contract("B232")
@pytest.mark.sandbox_only("the webhook is played")
def test_what_admission_rejects_has_its_line(
    scene: Scene, policies: Policies, given: Given
) -> None:
    """No field is named: the place is that of the object."""
    text = yaml_text(settings(), web())
    at = 1 + next(n for n, one in enumerate(text.splitlines()) if one == "---")
    with policies.denying("deployments.apps", "no image of that registry"):
        result = scene.gate("apply", "-f", given(text))
    assert_refused(result, "Rejected", "no image of that registry")
    assert f"web.yaml:{at + 1}" in result.stderr


@pytest.mark.contract("B233")
def test_an_immutable_field_is_named_with_a_way_around_it(scene: Scene) -> None:
    """Which, of what, and that another name is one."""
    scene.serve(web())
    other = web(2, template_labels={"tier": "front"})
    other["spec"]["selector"] = {"matchLabels": {"app": "web", "tier": "front"}}
    result = scene.apply(other)
    assert_refused(result, "Rejected", "field is immutable")
    hint = "hint: spec.selector of deployment/web cannot change once it exists: keep what is live"
    assert hint in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=1)


@pytest.mark.contract("B234")
def test_recreate_over_fields_of_others(scene: Scene, audit: Trail) -> None:
    """It is refused before a write, and goes through with the flag of the hint."""
    scene.serve(web())
    scene.change_as("kubectl-edit", {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 2}}}})
    body = web(2, strategy={"type": "Recreate"})
    result = scene.apply(body)
    assert_refused(result, "Conflict", "spec.strategy.rollingUpdate", "kubectl-edit")
    assert "--take-over kubectl-edit" in result.stderr
    assert_verified(scene.apply(body, flags=["--take-over", "kubectl-edit"]))
    assert scene.objects.get("deployments", "web")["spec"]["strategy"] == {"type": "Recreate"}
    both = web(3, strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}})
    result = scene.apply(both)
    assert_refused(result, "Rejected", "Recreate")
    assert "leave it out of the manifest" in result.stderr


@pytest.mark.contract("B1933")
@pytest.mark.parametrize("flags", [(), ("--take-over", "kubectl-patch")], ids=["bare", "taking"])
def test_a_port_of_others_that_is_merged_in_is_named(scene: Scene, flags: tuple[str, ...]) -> None:
    """The server asks for names of ports of which the manifest has one: no line of it is wrong."""
    scene.serve(web(), service(80))

    def set_ports(ports: list[JSON]) -> None:
        path = f"{scene.objects.path('services', 'web')}?fieldManager=kubectl-patch"
        scene.client.json("PATCH", path, {"spec": {"ports": ports}}, MERGE_PATCH)

    set_ports([{"port": 90}])
    result = scene.apply(web(), service(80), flags=flags)
    assert_refused(result, "Rejected", "spec.ports[0].name: Required value")
    hint = one_line(result.stderr.partition("hint: ")[2])
    assert 'leaves it there: spec.ports[port=90,protocol="TCP"] (kubectl-patch)' in hint
    assert "kubectl edit service/web" in hint
    assert ".yaml" not in hint
    set_ports(service(80)["spec"]["ports"])
    assert_verified(scene.apply(web(2), service(80)))
