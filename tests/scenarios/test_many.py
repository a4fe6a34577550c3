"""Several objects in one manifest: one attempt, one end."""

from __future__ import annotations

import pytest

from gate.kube.reads.quorum_reads import MOST_READ_SINGLY
from tests.bed.expectations import assert_ended, assert_runs, assert_verified, images
from tests.bed.pods import behave, image_of, running_pods, wait_until_gone
from tests.bed.policies import IN_EARNEST, Policies
from tests.bed.scene import ALL_AT_ONCE, Scene, service, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import yaml_text
from tests.cluster.workloads import stateful_set
from tests.scenarios.killing import SLOW
from tests.scenarios.versions import DOCUMENT, one_line, report


def outcomes(result: Result) -> dict[str, tuple[str, str]]:
    """Return outcome and reason of each Deployment, by name."""
    ended: list[JSON] = result.document["deployments"]
    return {each["name"]: (each["outcome"], each["reason"]) for each in ended}


def whole(result: Result) -> tuple[int, str, str]:
    """Return the exit code, outcome and reason of the attempt."""
    return result.exit_code, result.document["outcome"], result.document["reason"]


@pytest.mark.contract("B30", "B127")
@pytest.mark.parametrize("comes_back", [False, True])
def test_the_list_of_several_says_what_became_of_a_deleted_one(
    scene: Scene, comes_back: bool
) -> None:
    """Gone, or made again by somebody: the text says which, beside the one that is verified."""
    scene.serve(web(), web(name="api"))
    second = web(2, name="api", behaviour="never-ready")
    with scene.applying(web(2, behaviour=SLOW, strategy=ALL_AT_ONCE), second) as running:
        running.wait_for_line("applied +deployment/api changed")
        scene.objects.delete("deployments", "api")
        if comes_back:
            scene.objects.create("deployments", web(3, name="api"))
        else:
            wait_until_gone(scene, "api")
        behave(scene, running_pods(scene, "shop/web:2", 2), "ready")
        result = running.wait()
    assert whole(result) == (8, "superseded", "Deleted"), str(result)
    shown = report(scene, result)
    runs = "runs what somebody else applied" if comes_back else "runs nothing: it was deleted"
    assert runs in shown


@pytest.mark.contract("B32")
def test_an_object_that_is_rejected_late_takes_the_others_back(
    scene: Scene, policies: Policies
) -> None:
    """What was written before an object is rejected goes back: ApplyRejected, exit 4."""
    scene.serve(web(), settings("one"), service())
    with policies.denying("services", "not today", IN_EARNEST):
        result = scene.apply(settings("two"), service(8080), web(2))
    assert whole(result) == (4, "rolled-back", "ApplyRejected"), str(result)
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
    assert scene.objects.get("services", "web")["spec"]["ports"][0]["port"] == 80
    assert_runs(scene.objects, "shop/web:1", revision=1)


@pytest.mark.contract("B32", "B27")
@pytest.mark.sandbox_only("somebody acts between two requests of the gate")
def test_a_deployment_that_somebody_creates_meanwhile_is_left_to_them(scene: Scene) -> None:
    """It comes while the ConfigMaps before it are written: they go back, and it is theirs, 8."""
    assert scene.apply(settings("one")).exit_code == 0
    many = [renamed(settings("more"), f"more-{number:02}") for number in range(60)]
    with scene.applying(settings("two"), *many, web(2)) as running:
        scene.objects.wait_for("configmaps", "settings", lambda one: one["data"] == {"mode": "two"})
        scene.objects.create("deployments", web(3))
        result = running.wait()
    assert whole(result) == (8, "superseded", "Superseded"), str(result)
    assert outcomes(result) == {"web": ("superseded", "Superseded")}
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:3"]


def renamed(body: JSON, name: str) -> JSON:
    """Return an object under another name."""
    return {**body, "metadata": {**body["metadata"], "name": name}}


@pytest.mark.contract("B210", "B224")
def test_a_rendered_chart_can_be_piped_in(scene: Scene) -> None:
    """Documents, empty ones, a List and a chart's test come on stdin; the test is skipped."""
    hook = {"annotations": {"helm.sh/hook": "test"}, "name": "try"}
    pod = {"containers": [{"name": "try", "image": "shop/try:1"}]}
    test = {"apiVersion": "v1", "kind": "Pod", "metadata": hook, "spec": pod}
    items: JSON = {"apiVersion": "v1", "kind": "List", "items": [settings(), service()]}
    text = "---\n# Source: shop/templates/web.yaml\n" + yaml_text(web(), items, test) + "---\n"
    result = scene.gate("apply", "-f", "-", *DOCUMENT, stdin=text)
    assert whole(result) == (0, "verified", "Complete"), str(result)
    assert "skipped: pod/try: " in result.stderr, str(result)
    kinds = [each["kind"] for each in result.document["objects"]]
    assert sorted(kinds) == ["ConfigMap", "Deployment", "Service"]
    assert_runs(scene.objects, "shop/web:1")
    assert len(scene.objects.list_all("pods")) == 2


@pytest.mark.contract("B772")
def test_the_first_line_and_the_advice_are_about_what_failed(scene: Scene) -> None:
    """A new Deployment against which nothing was found stays, and is not said to have failed."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour="crash=0.1"), web(1, name="new"))
    result = scene.gate("apply", "-f", path)
    said = one_line(result.stdout)
    assert result.exit_code == 6, str(result)
    first = "deployment/web failed and went back; nothing was found against deployment/new,"
    assert f"{first} which stays" in said
    assert "new version of deployment/new failed" not in said
    assert "next read the log of container web" in said
    assert "deployment/new stays: nothing was found against it" in said
    assert "rollout-gate history new" not in said


@pytest.mark.contract("B772")
@pytest.mark.parametrize(
    ("policy", "fate"), [("delete", "was deleted"), ("scale-to-zero", "is scaled to 0")]
)
def test_what_a_first_failure_takes_away_is_not_said_to_stay(
    scene: Scene, policy: str, fate: str
) -> None:
    """Of both Deployments the first line and the advice say what --on-first-failure did to them."""
    path = scene.manifest(web(2, behaviour="crash=0.1"), web(1, name="new"))
    result = scene.gate("apply", "-f", path, "--on-first-failure", policy)
    said = one_line(result.stdout)
    assert result.exit_code == 6, str(result)
    assert f"the new version of deployment/web failed and {fate};" in said
    assert f"nothing was found against deployment/new, which {fate}" in said
    assert f"deployment/new {fate}: nothing was found against it" in said
    assert "stays" not in said


@pytest.mark.contract("B773")
def test_objects_of_several_namespaces_are_told_apart(scene: Scene) -> None:
    """The same name in two namespaces is two objects; in one namespace none is named."""
    other = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop-two"}}
    scene.objects.create("namespaces", other)
    there = [settings("one"), web(1)]
    for body in there:
        body["metadata"]["namespace"] = "shop-two"
    bodies = [settings("one"), web(2), *there]
    result = scene.gate("apply", "-f", scene.manifest(*bodies))
    said = one_line(result.stdout)
    assert result.exit_code == 0, str(result)
    here = scene.objects.namespace
    assert f"configmap/settings in {here}" in said
    assert "configmap/settings in shop-two" in said
    assert "deployment/web in shop-two" in said


@pytest.mark.contract("B557", "B24")
def test_many_of_several_kinds_go_back_together(scene: Scene) -> None:
    """More than are read one by one, and of no kind alone: none is taken for deleted."""
    names = [f"web-{number}" for number in range(MOST_READ_SINGLY)]

    def manifest(version: int, behaviour: str) -> list[JSON]:
        database = stateful_set(image=f"shop/db:{version}", behaviour=behaviour)
        return [*(web(version, name=name) for name in names), database]

    assert_verified(scene.apply(*manifest(1, "ready=0.1")))
    result = scene.apply(*manifest(2, "crash=0.1"))
    assert_ended(result, 4, "rolled-back", "CrashLoop")
    running = {image_of(pod) for pod in scene.objects.list_all("pods")}
    assert {image.rpartition(":")[2] for image in running} == {"1"}
