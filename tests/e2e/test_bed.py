"""The bed itself: what its pods, its programs, its audit log and its outages promise to tests."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cluster import access, programs
from tests.cluster.audit import Trail
from tests.cluster.cluster import Cluster, own_cluster
from tests.cluster.command import Program
from tests.cluster.kubelet import behaviour as behaviours
from tests.cluster.kubelet.api import JSON, from_kubeconfig
from tests.cluster.objects import Objects, condition, is_ready

Deployment = Callable[..., JSON]
Manifest = Callable[..., Path]


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
        ("config-error", ["CreateContainerConfigError"], ("Failed", "web-config")),
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


def test_a_job_runs_to_its_end(cluster: Cluster, objects: Objects) -> None:
    """Pods that need not run for ever complete by themselves."""
    pod: JSON = {"restartPolicy": "Never", "containers": [{"name": "once", "image": "shop/once:1"}]}
    if cluster.scheduler_name:
        pod["schedulerName"] = cluster.scheduler_name
    objects.create("jobs", {"metadata": {"name": "once"}, "spec": {"template": {"spec": pod}}})
    objects.wait_for("jobs", "once", lambda job: condition(job, "Complete").get("status") == "True")


def test_kubectl_follows_a_good_rollout(
    kubectl: Program, deployment: Deployment, manifest: Manifest
) -> None:
    """A Deployment that kubectl applies is complete for kubectl too."""
    kubectl("apply", "-f", manifest(deployment()), check=True)
    followed = kubectl("rollout", "status", "deployment/web", check=True)
    assert 'deployment "web" successfully rolled out' in followed.stdout


def test_logs_of_a_restarted_pod(
    cluster: Cluster, kubectl: Program, objects: Objects, deployment: Deployment
) -> None:
    """Logs tell the attempts apart, say why one ended, and carry hostile lines as they are."""
    if cluster.plane is None and cluster.kubelet is not None:
        pytest.skip("the API server of this cluster cannot reach the log server on loopback")
    body = deployment(behaviour="restart-once=0.1", log="hostile", replicas=1)
    objects.create("deployments", body)
    objects.wait_complete("web")
    previous = kubectl("logs", "deployment/web", "--previous", "--tail", "1", check=True).stdout
    assert previous == "fatal: the database was not up yet; exit code 1\n"
    now = kubectl("logs", "deployment/web", check=True).stdout
    assert "web: attempt 1 starts" in now
    assert "::error file=app.py" in now
    assert "\x1b[31m" in now


def test_a_command_is_met_in_mid_flight(
    kubectl: Program, objects: Objects, deployment: Deployment
) -> None:
    """A test waits for a line of a running command, acts on the cluster, and sees the end."""
    objects.create("deployments", deployment(behaviour="never-ready", replicas=1))
    with kubectl.start("rollout", "status", "deployment/web") as following:
        following.wait_for_line("Waiting for deployment")
        objects.patch("deployments", "web", {"spec": {"replicas": 0}})
        result = following.wait()
    assert result.exit_code == 0, result
    with kubectl.start("get", "pods", "--watch") as watching:
        watching.send(signal.SIGINT)
        assert watching.wait().exit_code != 0


def test_the_audit_log_shows_what_kubectl_asked(
    audit: Trail, kubectl: Program, deployment: Deployment, manifest: Manifest
) -> None:
    """The writes of a program are there as soon as it has ended, and nobody else's."""
    kubectl("apply", "-f", manifest(deployment()), check=True)
    kubectl("rollout", "status", "deployment/web", check=True)
    requests = audit.requests("kubectl/")
    [write] = requests.writes()
    assert (write.verb, write.resource, write.name, write.code) == (
        "create",
        "deployments",
        "web",
        201,
    )
    assert len(requests.of(verb="watch", resource="deployments")) == 1
    assert len(audit.requests()) == 0


def test_the_audit_log_answers_for_the_invariants(
    audit: Trail,
    namespace: str,
    deployment: Deployment,
    write_kubeconfig: Callable[..., Path],
    tmp_path: Path,
) -> None:
    """Rollbacks, writes after a moment and writes elsewhere are told apart from the gate's own."""
    apply = "application/apply-patch+yaml"
    with from_kubeconfig(write_kubeconfig(access.GATE), tmp_path, "rollout-gate/0") as api:
        objects = Objects(api, namespace)
        web = objects.path("deployments", "web") + "?fieldManager=rollout-gate"
        api.json("PATCH", web, deployment(image="shop/web:1"), apply)
        api.json("PATCH", web + "&dryRun=All", deployment(image="shop/web:2"), apply)
        middle = audit.requests().all[-1].at
        api.json("PATCH", web + "&force=true", deployment(image="shop/web:2"), apply)
        objects.create("leases", {"metadata": {"name": "rollout-gate.deployment.web"}})
        objects.create("configmaps", {"metadata": {"name": "stray"}})
    requests = audit.requests()
    assert len(requests) == 5
    assert len(requests.writes()) == 4
    [rollback] = requests.rollbacks(namespace, "web")
    assert isinstance(rollback.body, dict)
    assert rollback.body["spec"]["template"]["spec"]["containers"][0]["image"] == "shop/web:2"
    assert rollback.answer
    assert rollback.answer["metadata"]["generation"] == 2
    [stray] = requests.writes_outside([("deployments", namespace, "web")])
    assert (stray.resource, stray.name) == ("configmaps", "stray")
    assert [each.resource for each in requests.writes_after(middle)] == [
        "deployments",
        "configmaps",
    ]


def test_a_user_has_exactly_the_rules_of_the_test(
    cluster: Cluster, kubeconfig_with_rules: Callable[[Sequence[JSON]], Path], tmp_path: Path
) -> None:
    """A role user may do what its rules say in the namespace, and nothing else."""
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]}]
    limited = programs.kubectl(cluster.kubectl, kubeconfig_with_rules(rules), tmp_path)
    assert limited("get", "deployments").exit_code == 0
    assert "cannot list resource" in limited("get", "pods").stderr


def test_a_suspended_api_server_is_silent_and_comes_back(
    cluster: Cluster, objects: Objects, deployment: Deployment
) -> None:
    """While the API server is suspended nothing answers; afterwards a rollout goes through."""
    if cluster.plane is None:
        pytest.skip("this cluster is not ours to suspend")
    nodes = "/api/v1/nodes?limit=1"
    with (
        cluster.plane.api_server.suspended(),
        pytest.raises(TimeoutError),
        cluster.api.lines(nodes, idle_seconds=0.5),
    ):
        pass
    objects.create("deployments", deployment())
    objects.wait_complete("web")


def test_without_its_controller_a_deployment_is_not_observed(
    cluster: Cluster, objects: Objects, deployment: Deployment
) -> None:
    """A Deployment that comes while the controller manager is stopped waits for its return."""
    if cluster.plane is None:
        pytest.skip("this cluster's controllers are not ours to stop")
    cluster.plane.controller_manager.stop()
    try:
        objects.create("deployments", deployment())
        assert "observedGeneration" not in objects.get("deployments", "web")["status"]
    finally:
        cluster.plane.controller_manager.start()
    objects.wait_complete("web")


def has_ended(pid: int, timeout_seconds: float = 10.0) -> bool:
    """Whether a process, not necessarily a child, is gone or goes within the time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], timeout_seconds)[0])
    finally:
        os.close(handle)


def test_a_stopped_cluster_leaves_no_process(tmp_path: Path) -> None:
    """All four processes have ended when the block of a cluster is left, by an error too."""

    def fail_in_mid_test() -> None:
        with own_cluster(tmp_path):
            pids.extend(children_of(os.getpid()))
            raise RuntimeError("in mid-test")

    before = children_of(os.getpid())
    pids: list[int] = []
    with pytest.raises(RuntimeError, match="in mid-test"):
        fail_in_mid_test()
    assert len(set(pids) - set(before)) == 4
    assert children_of(os.getpid()) == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    """The servers of a cluster end with the process that started them, however that ends."""
    python = Program((sys.executable,), os.environ, programs.REPOSITORY)
    with python.start("-m", "tests.cluster", "--folder", tmp_path / "bed") as bed:
        bed.wait_for_line("export KUBECONFIG=")
        children = children_of(bed.pid)
        bed.send(number)
        bed.wait()
    assert len(children) == 4
    assert all(map(has_ended, children))


def children_of(pid: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def test_several_waiters_see_every_change(objects: Objects, deployment: Deployment) -> None:
    """Waiting from a resource version on misses nothing, whenever the waiting begins."""
    created = objects.create("deployments", deployment(replicas=1))
    objects.wait_complete("web")
    since = created["metadata"]["resourceVersion"]
    seen: list[int] = []

    def is_there(pods: list[JSON]) -> bool:
        seen.append(len(pods))
        return any(map(is_ready, pods))

    objects.wait("pods", is_there, since=since)
    assert seen[:2] == [0, 1]
