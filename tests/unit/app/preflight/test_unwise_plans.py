"""What is warned of before the first write, and stops nobody."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gate.app.preflight.plan import warn_of_configuration
from gate.app.preflight.server_dry_run import Prepared
from gate.cluster_name import ClusterName
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.job.objects import job_ref
from gate.core.model.body import Body
from gate.core.model.fact import Absent
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from sandbox.face import JSON
from tests.table import each
from tests.unit.app.bodies import settings, web
from tests.unit.app.conftest import Gate, Manifest
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen, as_status

WEB = deployment_ref("shop", "web")
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"


@pytest.mark.contract("B6")
@pytest.mark.parametrize("command", ["apply", "restart"])
def test_a_webhook_that_takes_no_dry_run_is_a_warning(
    gate: Gate, server: Server, manifest: Manifest, command: str
) -> None:
    """The attempt goes on, and says what it could not try."""
    server.put(web())
    said = 'admission webhook "audit.example.test" does not support dry run'

    def answered(seen: Seen) -> None:
        if seen.query.get("dryRun") == "All":
            server.on("PATCH", DEPLOYMENT, as_status(400, said, "BadRequest"))
        else:
            server.forget("PATCH", DEPLOYMENT)

    server.on_request = answered
    given = {"file": [manifest(web("2"))]} if command == "apply" else {}
    ended = gate(command, *([] if given else ["web"]), **given)
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert f"deployment/web was not tried: {said}" in ended.warnings


@pytest.mark.contract("B57")
def test_configuration_alone_is_warned_of(gate: Gate, server: Server, manifest: Manifest) -> None:
    """Running pods do not pick it up; not where a pod template changes too."""
    server.put(web(), settings("one"))
    alone = "only configuration changes (configmap/settings): running pods may not"

    def warned(*objects: JSON) -> bool:
        ended = gate("preflight", file=[manifest(*objects)], silence=["all"])
        return any(warning.startswith(alone) for warning in ended.warnings)

    assert warned(web(), settings("two"))
    assert warned(settings("two"))
    assert not warned(web("2"), settings("two"))
    assert not warned(web(), settings("one"))


@pytest.mark.contract("B1461")
def test_pods_that_keep_their_environment_are_named(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """Beside another workload, which changes and whose pods start again."""
    reader, other = web(), web()
    reader["spec"]["template"]["spec"]["containers"][0] |= {"envFrom": named("configMapRef")}
    other["metadata"]["name"] = "other"
    server.put(reader, other, settings("one"))
    changed = copy.deepcopy(other)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/other:2"
    path = manifest(reader, changed, settings("two"))
    found = gate("preflight", file=[path], silence=["all"]).warnings
    keeps = "deployment/web: its pods keep configmap/settings in their environment as it was"
    assert any(one.startswith(keeps) and "rollout-gate restart" in one for one in found)
    assert not any("deployment/other: its pods keep" in one for one in found)


def named(field: str, name: str = "settings") -> list[JSON]:
    """Return references to configuration, as `env` and `envFrom` have them."""
    return [{field: {"name": name}}]


@pytest.mark.contract("B1461")
@each(
    ("kind", "container", "reader", "is_named"),
    [
        ("ConfigMap", {"envFrom": named("configMapRef")}, WEB, True),
        ("ConfigMap", {"env": [{"valueFrom": named("configMapKeyRef")[0]}]}, WEB, True),
        ("Secret", {"envFrom": named("secretRef")}, WEB, True),
        ("Secret", {"env": [{"valueFrom": named("secretKeyRef")[0]}]}, WEB, True),
        ("ConfigMap", {"envFrom": named("secretRef")}, WEB, False),
        ("ConfigMap", {"envFrom": named("configMapRef", "others")}, WEB, False),
        ("ConfigMap", {"envFrom": named("configMapRef")}, deployment_ref("till", "web"), False),
        ("ConfigMap", {"envFrom": named("configMapRef")}, job_ref("shop", "web"), False),
    ],
)
def test_a_restart_is_advised_where_pods_have_what_changes_in_their_environment(
    kind: str, container: JSON, reader: Ref, is_named: bool
) -> None:
    """Of the same kind, name and namespace; a Job cannot be restarted."""
    configuration = Ref("v1", kind, "shop", "settings")
    items = [
        Prepared(ref, body, Absent(), taken=None, autoscaled=False, force=False)
        for ref, body in [(configuration, {}), (reader, {"containers": [container]})]
    ]
    made = LiveObject(configuration, "uid", "1", Body.of({}), Body.of({}))
    found: list[str] = []
    warn_of_configuration(items, {configuration: made}, found.append, ClusterName())
    assert any("in their environment" in one for one in found) is is_named


@pytest.mark.contract("B229")
def test_the_lint_warns_and_can_be_silenced(gate: Gate, manifest: Manifest) -> None:
    """Warnings name the place and the code that silences them."""
    path = manifest(web("latest", replicas=1))
    found = " ".join(gate("preflight", file=[path]).warnings)
    assert "web.yaml:1: deployment/web" in found
    assert "[mutable-tag]" in found
    assert "[one-replica]" in found
    assert gate("preflight", file=[path], silence=["all"]).warnings == []


@pytest.mark.contract("B108", "B1642")
def test_a_timeout_that_cannot_suffice_is_warned_of(
    gate: Gate, server: Server, manifest: Manifest
) -> None:
    """It is shorter than the deadline, or than the steps take that the rollout has."""
    spec: JSON = {"replicas": 40, "minReadySeconds": 60, "progressDeadlineSeconds": 70}
    first, second = manifest(web(**spec)), manifest(web("2", **spec), name="second.yaml")

    def warned(path: str, **flags: Any) -> list[str]:
        return gate("preflight", file=[path], **flags).warnings

    at_once = "deployment/web: its rollout takes 1m1s at least, longer than a timeout of 1m"
    warnings = warned(first, timeout="60s")
    assert len(warnings) == 2
    assert at_once in warnings
    assert len(warned(first, timeout="61s")) == 1
    assert warned(first, timeout="120s") == warned(first) == []
    assert warned(first, timeout="60s", silence=["timeout-before-deadline"]) == []
    server.put(web(**spec))
    assert warned(first, timeout="120s") == []
    in_steps = "deployment/web: its rollout takes 2m2s at least (2 steps of 1m1s)"
    assert warned(second, timeout="120s") == [f"{in_steps}, longer than a timeout of 2m"]
    assert warned(second, timeout="122s") == []
