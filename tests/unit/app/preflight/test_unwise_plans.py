"""What is warned of before the first write, and stops nobody."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.app.preflight.comparison_warnings import warn_of_comparisons
from gate.app.preflight.plan import warn_of_configuration
from gate.app.preflight.server_dry_run import Prepared
from gate.cluster_name import ClusterName
from gate.config import Settings, load
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.job.objects import job_ref
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Workload
from sandbox.face import JSON
from tests.table import each
from tests.unit.app.bodies import settings, web
from tests.unit.app.conftest import Gate
from tests.unit.app.server import Server
from tests.unit.core.kinds.test_stateful_set import stateful_set
from tests.unit.core.world import deployment, template
from tests.unit.kube.scripted import Seen, as_status

WEB = deployment_ref("shop", "web")
DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"


@pytest.mark.contract("B6")
@pytest.mark.parametrize("command", ["apply", "restart"])
def test_a_webhook_that_takes_no_dry_run_is_a_warning(
    gate: Gate, server: Server, command: str
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
    given = {"file": [gate.manifest(web("2"))]} if command == "apply" else {}
    ended = gate(command, *([] if given else ["web"]), **given)
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert f"deployment/web was not tried: {said}" in ended.warnings


@pytest.mark.contract("B57")
def test_configuration_alone_is_warned_of(gate: Gate, server: Server) -> None:
    """Running pods do not pick it up; not where a pod template changes too."""
    server.put(web(), settings("one"))
    alone = "only configuration changes (configmap/settings): running pods may not"

    def warned(*objects: JSON) -> bool:
        ended = gate.preflight(*objects, silence=["all"])
        return any(warning.startswith(alone) for warning in ended.warnings)

    assert warned(web(), settings("two"))
    assert warned(settings("two"))
    assert not warned(web("2"), settings("two"))
    assert not warned(web(), settings("one"))


@pytest.mark.contract("B1461")
def test_pods_that_keep_their_environment_are_named(gate: Gate, server: Server) -> None:
    """Beside another workload, which changes and whose pods start again."""
    reader, other = web(), web()
    reader["spec"]["template"]["spec"]["containers"][0] |= {"envFrom": named("configMapRef")}
    other["metadata"]["name"] = "other"
    server.put(reader, other, settings("one"))
    changed = copy.deepcopy(other)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/other:2"
    path = gate.manifest(reader, changed, settings("two"))
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


@pytest.mark.contract("B108", "B1642")
def test_a_timeout_that_cannot_suffice_is_warned_of(gate: Gate, server: Server) -> None:
    """It is shorter than the deadline, or than the steps take that the rollout has."""
    spec: JSON = {"replicas": 40, "minReadySeconds": 60, "progressDeadlineSeconds": 70}
    first, second = gate.manifest(web(**spec)), gate.manifest(web("2", **spec), name="second.yaml")

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


# -- comparisons that old pods do not outlast ------------------------------------------------------


COUNTS: dict[str, Any] = {"bad": "bad{HASH}", "total": "all{HASH}"}
RATIO: dict[str, Any] = {"query": "share{HASH}", "compare": {"max-ratio": 1.5}}


def settings_of(check: dict[str, Any], live: Workload, folder: Path) -> Settings:
    """Return the settings of an apply with a check while both versions of a workload serve."""
    is_stateful = isinstance(live, StatefulSet)
    variable = "controller_revision_hash" if is_stateful else "pod_template_hash"
    queries = {
        key: value.replace("HASH", f'hash="${{{variable}}}"') if isinstance(value, str) else value
        for key, value in check.items()
    }
    given = {"checks": [{"name": "errors", "during": "both", **queries}]}
    url = {"prometheus_url": "http://127.0.0.1:9"}
    return load("apply", {**given, **url}, environ={}, folder=folder)


def warnings_of(settings: Settings, live: Workload) -> list[str]:
    """Return what is warned of where an apply brings a new version to a workload."""
    after = LiveObject(live.ref, "uid", "1", Body.of({}), Body.of({}), workload=live)
    before = replace(after, workload=replace(live, template=template("shop/web:0")))
    item = Prepared(live.ref, {}, Known(before), taken=None, autoscaled=False, force=False)
    said: list[str] = []
    warn_of_comparisons(settings, [item], {live.ref: after}, said.append)
    return said


@pytest.mark.contract("B1474")
@each(
    ("check", "live", "is_warned"),
    [
        (COUNTS, deployment(), True),
        (COUNTS, stateful_set(), True),
        (COUNTS, deployment(min_ready_seconds=30), False),
        (COUNTS, stateful_set(partition=1), False),
        (RATIO, deployment(), False),
    ],
)
def test_a_rolling_update_that_nothing_holds_back_is_warned_of(
    check: dict[str, Any], live: Workload, is_warned: bool, tmp_path: Path
) -> None:
    """A partition does, `minReadySeconds` may; another comparison needs no number of looks."""
    short = (
        f"check errors compares with the old version, and {live.ref} may replace all pods within"
        " seconds, as it has no minReadySeconds: a comparison needs at least 9 looks at both"
    )
    said = warnings_of(settings_of(check, live, tmp_path), live)
    assert [one.startswith(short) for one in said] == [True] * is_warned
