"""The scripted pods: each behaviour is what its annotation promises, on the real control plane."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.face import behaviour as behaviours
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects, condition, is_ready

Deployment = Callable[..., JSON]


def container_status(pod: JSON, name: str = "web") -> JSON | None:
    """Return the status of one container, init containers too."""
    status = pod.get("status", {})
    entries = status.get("containerStatuses", []) + status.get("initContainerStatuses", [])
    return next((entry for entry in entries if entry["name"] == name), None)


def told(status: JSON) -> str:
    """Return a container's state in one word or two: `ready`, `CrashLoopBackOff`, `Error 1`."""
    [(state, details)] = status["state"].items()
    if state == "running":
        return "ready" if status["ready"] else "running"
    if state == "terminated":
        return f"{details['reason']} {details['exitCode']}"
    return str(details["reason"])


def trail(objects: Objects, body: JSON, length: int, container: str = "web") -> list[str]:
    """Create a Deployment and return the first `length` states of its first pod's container."""
    states: list[str] = []
    first_pod: list[str] = []

    def goes_on(pods: list[JSON]) -> bool:
        first_pod.extend(pod["metadata"]["uid"] for pod in pods[:1] if not first_pod)
        for pod in pods:
            status = container_status(pod, container)
            if status and pod["metadata"]["uid"] in first_pod and [told(status)] != states[-1:]:
                states.append(told(status))
        return len(states) >= length

    version = objects.create("deployments", body)["metadata"]["resourceVersion"]
    objects.wait("pods", goes_on, since=version)
    return states[:length]


def wait_for_event(objects: Objects, reason: str, text: str = "") -> JSON:
    """Return the first event of a pod with this reason and this text in its message."""

    def is_meant(event: JSON) -> bool:
        return bool(event["reason"] == reason and text in event["message"])

    events = objects.wait("events", lambda events: any(map(is_meant, events)))
    return next(event for event in events if is_meant(event))


CRASHES = ["running", "Error 1", "running", "Error 1", "CrashLoopBackOff", "running", "Error 1"]
READY_CRASHES = ["ready", "Error 1", "ready", "Error 1", "CrashLoopBackOff", "ready"]
PULLS = ["ErrImagePull", "ImagePullBackOff"]


@pytest.mark.parametrize(
    ("asked", "states", "event"),
    [
        ("", ["ready"], None),
        ("ready=0.3", ["running", "ready"], None),
        ("never-ready", ["running"], ("Unhealthy", "statuscode: 503")),
        ("flapping=0.2", ["ready", "running", "ready", "running"], ("Unhealthy", "503")),
        ("image-pull", PULLS * 2, ("Failed", "shop/web:1: not found")),
        ("image-pull;why=denied", PULLS, ("Failed", "pull access denied")),
        ("image-pull;why=rate-limit", PULLS, ("Failed", "429 Too Many Requests")),
        ("image-pull-transient", [*PULLS, *PULLS, "ready"], ("Failed", "i/o timeout")),
        ("invalid-image-name", ["InvalidImageName"], ("InspectFailed", "invalid reference")),
        ("never-pull", ["ErrImageNeverPull"], ("ErrImageNeverPull", "pull policy of Never")),
        ("config-error", ["CreateContainerConfigError"], ("Failed", "secret not found")),
        ("config-error=0.3", ["CreateContainerConfigError", "ready"], None),
        ("crash=0.1", CRASHES, ("BackOff", "Back-off restarting failed container web in pod")),
        ("crash=0.1;code=3", ["running", "Error 3"], None),
        ("oom=0.1", ["running", "OOMKilled 137", "running", "OOMKilled 137"], None),
        ("ready-then-crash=0.2", READY_CRASHES, None),
        ("restart-once=0.1", ["running", "Error 1", "ready"], None),
        ("complete=0.1", ["ready", "Completed 0", "ready"], None),
        ("mount-error", ["ContainerCreating"], ("FailedMount", "MountVolume.SetUp failed")),
        ("evicted=0.2", ["ready", "Error 137"], ("Evicted", "low on resource")),
    ],
)
def test_a_container_does_what_its_annotation_asks(
    objects: Objects,
    deployment: Deployment,
    asked: str,
    states: list[str],
    event: tuple[str, str] | None,
) -> None:
    """Each behaviour goes through its promised states in order, and its event is written."""
    body = deployment(behaviour=asked, replicas=1)
    assert trail(objects, body, len(states)) == states
    if event:
        assert wait_for_event(objects, *event)["involvedObject"]["kind"] == "Pod"


@pytest.mark.parametrize(
    ("asked", "state"),
    [
        ("never-ready", "running"),
        ("invalid-image-name", "InvalidImageName"),
        ("never-pull", "ErrImageNeverPull"),
        ("config-error", "CreateContainerConfigError"),
        ("mount-error", "ContainerCreating"),
    ],
)
def test_what_cannot_heal_stays_as_it_is(
    objects: Objects, deployment: Deployment, asked: str, state: str
) -> None:
    """While another pod gets ready, a hopeless one does not move."""
    assert trail(objects, deployment(behaviour=asked, replicas=1), 1) == [state]
    objects.create("deployments", deployment("other", behaviour="ready=0.5", replicas=1))
    objects.wait_complete("other")
    [status] = [found for pod in objects.list_all("pods") if (found := container_status(pod))]
    assert (told(status), status["restartCount"]) == (state, 0)


def test_a_crash_loop_is_as_a_kubelet_tells_it(objects: Objects, deployment: Deployment) -> None:
    """At its third restart a pod shows count, back-off, exit code and message of its last end."""
    objects.create("deployments", deployment(behaviour="crash;code=7", replicas=1))

    def restarted_three_times(pods: list[JSON]) -> bool:
        status = container_status(pods[0]) if pods else None
        return bool(status and status["restartCount"] == 3 and "waiting" in status["state"])

    [pod] = objects.wait("pods", restarted_three_times)
    status = container_status(pod)
    assert status
    assert "restarting failed container=web" in status["state"]["waiting"]["message"]
    end = status["lastState"]["terminated"]
    assert (end["exitCode"], end["message"]) == (7, "web cannot start: the schema is missing")
    assert not is_ready(pod)
    assert condition(pod, "Ready")["reason"] == "ContainersNotReady"


def test_only_the_first_pods_of_a_replicaset_suffer(
    objects: Objects, deployment: Deployment
) -> None:
    """`only=1` lets one pod of four crash, and that one's replacement is fine."""
    objects.create("deployments", deployment(behaviour="crash;only=1"))

    def three_of_four(pods: list[JSON]) -> bool:
        return len(pods) == 4 and sum(map(is_ready, pods)) == 3

    pods = objects.wait("pods", three_of_four)
    sufferer = next(pod for pod in pods if not is_ready(pod))["metadata"]["name"]
    objects.delete("pods", sufferer)
    objects.wait_complete("web")


def test_a_named_container_suffers_alone(objects: Objects, deployment: Deployment) -> None:
    """A sidecar that the annotation names crashes while the first container stays ready."""
    sidecar = {"name": "proxy", "image": "mesh/proxy:1"}
    body = deployment(behaviour="crash=0.1;container=proxy", replicas=1, containers=[sidecar])
    assert trail(objects, body, 2, container="proxy") == ["running", "Error 1"]
    [pod] = objects.list_all("pods")
    status = container_status(pod)
    assert status
    assert status["ready"]


def test_a_failing_init_container_holds_the_others_back(
    objects: Objects, deployment: Deployment
) -> None:
    """`init-crash` restarts the init container while the pod waits for it, pending."""
    migrate = {"name": "migrate", "image": "shop/migrate:1"}
    body = deployment(behaviour="init-crash=0.1", replicas=1, init_containers=[migrate])
    assert trail(objects, body, len(CRASHES), container="migrate") == CRASHES
    [pod] = objects.list_all("pods")
    status = container_status(pod)
    assert status
    assert told(status) == "PodInitializing"
    assert pod["status"]["phase"] == "Pending"


def test_init_containers_and_native_sidecars_come_first(
    objects: Objects, deployment: Deployment
) -> None:
    """A pod with a good init container and a native sidecar gets ready."""
    init = [
        {"name": "migrate", "image": "shop/migrate:1"},
        {"name": "mesh", "image": "mesh/proxy:1", "restartPolicy": "Always"},
    ]
    body = deployment(replicas=1, init_containers=init)
    assert trail(objects, body, 2) == ["PodInitializing", "ready"]
    objects.wait_complete("web")


def test_a_pod_without_a_node_stays_pending(objects: Objects, deployment: Deployment) -> None:
    """An unschedulable pod has the scheduler's condition and event, and no node."""
    objects.create("deployments", deployment(behaviour="unschedulable", replicas=1))
    assert wait_for_event(objects, "FailedScheduling")["source"]["component"] == "default-scheduler"
    [pod] = objects.list_all("pods")
    assert condition(pod, "PodScheduled")["reason"] == "Unschedulable"
    assert "nodeName" not in pod["spec"]


def test_a_pod_can_take_its_time_to_end(objects: Objects, deployment: Deployment) -> None:
    """A slowly ending pod of the old version is still there when the new version is complete."""
    objects.create("deployments", deployment(behaviour="slow-termination=20", replicas=1))
    objects.wait_complete("web")
    image = {"name": "web", "image": "shop/web:2"}
    objects.patch(
        "deployments",
        "web",
        {"spec": {"template": {"spec": {"containers": [image]}}}},
        "application/strategic-merge-patch+json",
    )
    objects.wait_complete("web")
    ending = [p for p in objects.list_all("pods") if "deletionTimestamp" in p["metadata"]]
    assert [pod["spec"]["containers"][0]["image"] for pod in ending] == ["shop/web:1"]


def test_an_annotated_pod_changes_its_mind(objects: Objects, deployment: Deployment) -> None:
    """A test turns a running pod's behaviour by changing the annotation of the pod itself."""
    objects.create("deployments", deployment(behaviour="never-ready", replicas=1))
    [pod] = objects.wait("pods", lambda pods: any(map(container_status, pods)))
    change = {"metadata": {"annotations": {behaviours.ANNOTATION: "ready"}}}
    objects.patch("pods", pod["metadata"]["name"], change)
    objects.wait_complete("web")


def test_an_unknown_behaviour_is_refused_and_said(objects: Objects, deployment: Deployment) -> None:
    """The maker of manifests refuses a slip of the pen; the kubelet says it in an event."""
    with pytest.raises(behaviours.BehaviourError, match="crush"):
        deployment(behaviour="crush")
    annotations = {behaviours.ANNOTATION: "crush"}
    objects.create("deployments", deployment(template_annotations=annotations, replicas=1))
    assert "crush" in wait_for_event(objects, "BadBehaviour")["message"]
