"""Rollouts that succeed: each ends with 0 when the new version is complete, and not before."""

from __future__ import annotations

import pytest

from tests.cluster.audit import Requests, Trail
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects, is_complete
from tests.e2e.checked_gate import CheckedGate, Place
from tests.e2e.expectations import assert_ended, assert_refused, assert_runs, is_going, warned
from tests.e2e.history import version_of
from tests.e2e.scene import Manifest, Serving, Web, service, settings, template_annotation

JSON_OUTPUT = ("--output", "json")
MOST_REQUESTS = 25


@pytest.mark.contract("B20", "B173")
def test_a_first_deployment_is_verified(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest
) -> None:
    """A Deployment that did not exist is created, and verified when all its pods are available."""
    result = gate("apply", "-f", manifest(web()), *JSON_OUTPUT)
    ended = assert_ended(result, 0, "verified", "Complete", running="new")
    assert (ended["baseline"], ended["new"]["revision"], ended["changed"]) == (None, 1, True)
    assert ended["new"]["images"] == ["shop/web:1"]
    assert [each["action"] for each in result.document["objects"]] == ["created"]
    assert_runs(objects, "shop/web:1", revision=1)


@pytest.mark.contract("B4", "B16", "B20", "B41")
def test_a_changed_image_is_verified(
    gate: CheckedGate,
    objects: Objects,
    web: Web,
    manifest: Manifest,
    serving: Serving,
    audit: Trail,
) -> None:
    """A new image replaces every pod; the way back was named before the first write."""
    serving(web())
    result = gate("apply", "-f", manifest(web(2)), *JSON_OUTPUT)
    ended = assert_ended(result, 0, "verified", "Complete", running="new")
    assert ended["baseline"]["images"] == ["shop/web:1"]
    assert (ended["baseline"]["revision"], ended["new"]["revision"]) == (1, 2)
    timeline = result.document["timeline"]
    told, applied = (_first(timeline, event) for event in ("baseline", "applied"))
    assert told < applied
    assert "revision 1 (shop/web:1)" in timeline[told]["message"]
    assert_runs(objects, "shop/web:2", revision=2)
    agents = {request.user_agent.partition(" ")[0] for request in audit.requests("")}
    assert f"rollout-gate/{result.document['version']}" in agents


def _first(timeline: list[JSON], event: str) -> int:
    return next(number for number, each in enumerate(timeline) if each["event"] == event)


@pytest.mark.contract("B47")
def test_recreate_goes_through_no_pod_at_all(
    gate: CheckedGate,
    objects: Objects,
    web: Web,
    manifest: Manifest,
    serving: Serving,
    place: Place,
) -> None:
    """With the strategy Recreate, the moment without any pod is no failure."""
    strategy = {"type": "Recreate"}
    serving(web(strategy=strategy))
    result = gate("apply", "-f", manifest(web(2, strategy=strategy, behaviour="ready=1")), *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    live = assert_runs(objects, "shop/web:2", revision=2)
    versions = place.history.versions(place.namespace, "web", version_of(live))
    assert any(not each["status"].get("replicas") for each in versions[1:])


@pytest.mark.contract("B48")
def test_no_replicas_are_vacuous(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest, serving: Serving
) -> None:
    """Zero replicas end with 0 and a warning: nothing was shown to work."""
    serving(web())
    result = gate("apply", "-f", manifest(web(2, replicas=0)), *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Vacuous")
    assert warned(result, "0 replicas")
    assert_runs(objects, "shop/web:2", replicas=0)


@pytest.mark.contract("B48")
def test_no_replicas_can_be_refused(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest, serving: Serving
) -> None:
    """With --require-pods, zero replicas are refused."""
    serving(web())
    result = gate("apply", "-f", manifest(web(2, replicas=0)), "--require-pods")
    assert_refused(result, "Vacuous", "web")
    assert_runs(objects, "shop/web:1", revision=1)


@pytest.mark.contract("B50")
@pytest.mark.parametrize("annotations", [None, {"team": "shop"}])
def test_nothing_to_roll_out_is_no_change(
    gate: CheckedGate,
    objects: Objects,
    web: Web,
    manifest: Manifest,
    serving: Serving,
    annotations: dict[str, str] | None,
) -> None:
    """The same manifest again, or with other annotations of the Deployment, makes no revision."""
    serving(web())
    result = gate("apply", "-f", manifest(web(annotations=annotations)), *JSON_OUTPUT)
    ended = assert_ended(result, 0, "verified", "NoChange", running="new")
    assert ended["changed"] is bool(annotations)
    live = assert_runs(objects, "shop/web:1", revision=1)
    assert (annotations or {}).items() <= live["metadata"]["annotations"].items()


@pytest.mark.contract("B45", "B100")
def test_an_old_deadline_condition_is_no_failure(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest, serving: Serving, cluster: Cluster
) -> None:
    """The condition of a version that failed long ago says nothing about the next one."""
    serving(web(progress_deadline_seconds=1))
    bad = web(2, progress_deadline_seconds=1, behaviour="never-ready")
    objects.patch("deployments", "web", {"spec": bad["spec"]})
    objects.wait_for("deployments", "web", _is_past_its_deadline)
    good = web(3, progress_deadline_seconds=20, behaviour="ready=1.5")
    result = gate("apply", "-f", manifest(good), "--take-over", "tests", *JSON_OUTPUT)
    ended = assert_ended(result, 0, "verified", "Complete", running="new")
    assert ended["baseline"] is None
    assert_runs(objects, "shop/web:3")


def _is_past_its_deadline(live: JSON) -> bool:
    conditions = live.get("status", {}).get("conditions", [])
    return any(each.get("reason") == "ProgressDeadlineExceeded" for each in conditions)


@pytest.mark.contract("B46")
def test_a_longer_minimum_of_readiness_is_waited_for(
    gate: CheckedGate,
    objects: Objects,
    web: Web,
    manifest: Manifest,
    serving: Serving,
    place: Place,
) -> None:
    """A change of minReadySeconds alone drops availability and makes no ReplicaSet."""
    before = serving(web())
    result = gate("apply", "-f", manifest(web(min_ready_seconds=6)), *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    live = assert_runs(objects, "shop/web:1", revision=1)
    versions = place.history.versions(place.namespace, "web", version_of(live))
    later = [each for each in versions if version_of(each) > version_of(before)]
    assert any(not is_complete(each) for each in later)


@pytest.mark.contract("B54")
def test_a_bake_window_is_waited_for(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest
) -> None:
    """With --bake, a complete version is watched on for that long before it is verified."""
    result = gate("apply", "-f", manifest(web()), "--bake", "2", *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    timeline = result.document["timeline"]
    baking = timeline[_first(timeline, "baking")]
    assert result.document["duration_seconds"] >= baking["at_seconds"] + 2
    assert_runs(objects, "shop/web:1")


@pytest.mark.contract("B55")
@pytest.mark.parametrize("waits", [True, False])
def test_old_pods_may_be_waited_for(
    gate: CheckedGate,
    objects: Objects,
    web: Web,
    manifest: Manifest,
    serving: Serving,
    waits: bool,
) -> None:
    """Terminating pods of the old version do not count, unless --wait-for-termination says so."""
    serving(web(behaviour="slow-termination=4"))
    flags = ["--wait-for-termination"] if waits else []
    result = gate("apply", "-f", manifest(web(2)), *flags, *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    going = [pod for pod in objects.list_all("pods") if is_going(pod)]
    assert bool(going) is not waits


@pytest.mark.contract("B56")
def test_a_part_of_the_pods_may_suffice(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest
) -> None:
    """With --require, the version is verified although a pod never gets ready."""
    result = gate(
        "apply", "-f", manifest(web(behaviour="never-ready;only=1")), "--require", "50%", *JSON_OUTPUT
    )
    assert_ended(result, 0, "verified", "Complete", running="new")
    assert objects.get("deployments", "web")["status"]["availableReplicas"] == 1


@pytest.mark.contract("B113")
def test_failed_pods_may_be_tolerated(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest
) -> None:
    """With --tolerate, two crashing pods of four do not fail the version that needs the others."""
    body = web(replicas=4, behaviour="crash=0.1;only=2")
    result = gate(
        "apply", "-f", manifest(body), "--tolerate", "2", "--require", "50%", *JSON_OUTPUT
    )
    assert_ended(result, 0, "verified", "Complete")
    assert objects.get("deployments", "web")["status"]["availableReplicas"] == 2


@pytest.mark.contract("B87")
@pytest.mark.parametrize("behaviour", ["restart-once", "image-pull-transient=1.5"])
def test_a_hiccup_that_passes_is_no_failure(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest, behaviour: str
) -> None:
    """One restart that recovers, and a registry that recovers, end well."""
    result = gate("apply", "-f", manifest(web(behaviour=behaviour)), *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    assert_runs(objects, "shop/web:1")


@pytest.mark.contract("B15")
def test_other_kinds_are_applied_and_named_as_not_judged(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest
) -> None:
    """A Service and a ConfigMap are applied with the Deployment; only that one is judged."""
    path = manifest(web(), service(), settings())
    result = gate("apply", "-f", path, *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    judged = {each["kind"]: each["judged"] for each in result.document["objects"]}
    assert judged == {"ConfigMap": False, "Service": False, "Deployment": True}
    assert objects.get("configmaps", "settings")["data"] == {"mode": "one"}
    assert objects.get("services", "web")["spec"]["selector"] == {"app": "web"}


@pytest.mark.contract("B57")
def test_configuration_alone_is_complete_at_once(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest, serving: Serving
) -> None:
    """A ConfigMap without a Deployment is applied, with a warning that running pods keep theirs."""
    serving(web(), settings())
    result = gate("apply", "-f", manifest(settings("two")), *JSON_OUTPUT)
    document = result.document
    assert (result.exit_code, document["outcome"], document["reason"]) == (0, "verified", "Complete")
    assert warned(result, "pods", "ConfigMap") or warned(result, "pods", "configuration")
    assert objects.get("configmaps", "settings")["data"] == {"mode": "two"}
    assert_runs(objects, "shop/web:1", revision=1)


@pytest.mark.contract("B58")
def test_a_field_of_somebody_else_in_the_template_is_kept(
    gate: CheckedGate, objects: Objects, web: Web, manifest: Manifest, serving: Serving
) -> None:
    """What another manager added to the template before is still there after the rollout."""
    serving(web())
    objects.patch("deployments", "web", template_annotation("reloader/hash", "1"))
    objects.wait_complete("web")
    result = gate("apply", "-f", manifest(web(2)), *JSON_OUTPUT)
    assert_ended(result, 0, "verified", "Complete", running="new")
    live = assert_runs(objects, "shop/web:2")
    assert live["spec"]["template"]["metadata"]["annotations"]["reloader/hash"] == "1"


@pytest.mark.contract("B280")
def test_a_good_rollout_is_cheap(
    gate: CheckedGate, web: Web, manifest: Manifest, serving: Serving, audit: Trail
) -> None:
    """A good rollout takes at most 25 requests, and as many for twelve pods as for two."""
    counts = []
    for replicas in (2, 12):
        serving(web(replicas=replicas))
        before = len(audit.requests())
        gate("apply", "-f", manifest(web(2, replicas=replicas)), check=True)
        counts.append(len(audit.requests()) - before)
    assert counts[0] == counts[1] <= MOST_REQUESTS, _told(audit.requests())


def _told(requests: Requests) -> str:
    return "\n".join(f"{each.verb} {each.uri}" for each in requests)
