"""StatefulSets, DaemonSets, Jobs and budgets beyond what is recorded of a real control plane."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.api.api import ApiError, DeleteOptions, Key, Patch, PatchType
from sandbox.json import JSON, dig
from sandbox.kubelet.behaviour import ANNOTATION
from sandbox.kubelet.nodes import ANNOTATION as NODE_ANNOTATION
from sandbox.kubelet.nodes import node
from tests.unit.sandbox.bed import NAMESPACE, TEAM, Bed

STATEFUL_SET, DAEMON_SET, JOB = "statefulsets.apps", "daemonsets.apps", "jobs.batch"
BUDGET = "poddisruptionbudgets.policy"
NODE = Key("nodes", "", "n-1")
MANY_SECONDS = 60.0


def template(asked: str = "", image: str = "a:1", **spec: Any) -> JSON:
    """Return a pod template that does as it is asked."""
    annotations = {"annotations": {ANNOTATION: asked}} if asked else {}
    containers = [{"name": "main", "image": image}]
    return {
        "metadata": {"labels": {"app": "a"}, **annotations},
        "spec": {"containers": containers, **spec},
    }


def make(bed: Bed, resource: str, asked: str = "", image: str = "a:1", **spec: Any) -> JSON:
    """Create a workload `a` and let it settle."""
    pods = spec.pop("pods", {})
    selector = {} if resource == JOB else {"selector": {"matchLabels": {"app": "a"}}}
    body = {"metadata": {"name": "a"}, "spec": {**selector, **spec}}
    body["spec"]["template"] = template(asked, image, **pods)
    made = bed.api.create(resource, NAMESPACE, body, TEAM)
    bed.run(MANY_SECONDS)
    return made


def change(bed: Bed, resource: str, spec: JSON, seconds: float = MANY_SECONDS) -> None:
    """Merge into a workload's spec and let it settle."""
    bed.api.patch(bed.key(resource, "a"), Patch(PatchType.MERGE, {"spec": spec}), TEAM)
    bed.run(seconds)


def names(bed: Bed, image: str = "") -> list[str]:
    """Return the names of the pods, of one image where that is given."""
    found = (pod for pod in bed.pods if image in ("", pod["spec"]["containers"][0]["image"]))
    return sorted(pod["metadata"]["name"] for pod in found)


def revisions(bed: Bed) -> list[int]:
    """Return the numbers of the ControllerRevisions."""
    found = bed.api.store.items("controllerrevisions.apps", NAMESPACE)
    return sorted(each["revision"] for each in found)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_stateful_set_has_its_ordinals(bed: Bed, policy: str) -> None:
    """They begin where it says, grow at the upper end, and shrink there again."""
    make(bed, STATEFUL_SET, replicas=2, ordinals={"start": 5}, podManagementPolicy=policy)
    assert names(bed) == ["a-5", "a-6"]
    change(bed, STATEFUL_SET, {"replicas": 3})
    assert names(bed) == ["a-5", "a-6", "a-7"]
    change(bed, STATEFUL_SET, {"replicas": 1, "ordinals": {"start": 6}})
    assert names(bed) == ["a-6"]


@pytest.mark.parametrize(("policy", "frees_itself"), [("OrderedReady", False), ("Parallel", True)])
def test_a_broken_pod_stops_those_in_order_alone(bed: Bed, policy: str, frees_itself: bool) -> None:
    """Going back leaves the broken pod for ever, but where pods come in parallel."""
    make(bed, STATEFUL_SET, replicas=3, podManagementPolicy=policy)
    change(bed, STATEFUL_SET, {"template": template("never-ready", "a:2")})
    assert names(bed, "a:2") == ["a-2"]
    change(bed, STATEFUL_SET, {"template": {**template(image="a:1"), "metadata": _CALM}})
    assert names(bed, "a:2") == ([] if frees_itself else ["a-2"])
    status = bed.get(STATEFUL_SET, "a")["status"]
    assert status["currentRevision"] == status["updateRevision"]
    assert status["updatedReplicas"] == (3 if frees_itself else 2)
    assert revisions(bed) == [2, 3]


_CALM: JSON = {"labels": {"app": "a"}, "annotations": {ANNOTATION: None}}


def test_a_missing_pod_below_the_partition_comes_back_as_it_was(bed: Bed) -> None:
    """The others come back as they are to be."""
    make(bed, STATEFUL_SET, replicas=3)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    change(bed, STATEFUL_SET, {"updateStrategy": strategy, "template": template(image="a:2")})
    for pod in ("a-0", "a-2"):
        bed.delete("pods", pod)
    bed.run(MANY_SECONDS)
    assert names(bed, "a:1") == ["a-0", "a-1"]


@pytest.mark.parametrize("resource", [STATEFUL_SET, DAEMON_SET])
def test_old_revisions_go_beyond_the_limit(bed: Bed, resource: str) -> None:
    """The one that runs and so many before it stay; the others' numbers are not used again."""
    make(bed, resource, revisionHistoryLimit=1)
    for version in (2, 3, 4):
        change(bed, resource, {"template": template(image=f"a:{version}")})
    assert revisions(bed) == [3, 4]
    change(bed, resource, {"template": template(image="a:3")})
    assert revisions(bed) == [4, 5]


def test_claims_are_bound_and_stay_or_go_as_the_policy_says(bed: Bed) -> None:
    """Each pod gets its own; scaling down takes those of the pods that go."""
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    policy = {"whenScaled": "Delete", "whenDeleted": "Retain"}
    make(
        bed,
        STATEFUL_SET,
        replicas=2,
        volumeClaimTemplates=[claim],
        persistentVolumeClaimRetentionPolicy=policy,
    )
    claims = bed.api.store.items("persistentvolumeclaims", NAMESPACE)
    assert {each["metadata"]["name"]: dig(each, "status", "phase") for each in claims} == {
        "data-a-0": "Bound",
        "data-a-1": "Bound",
    }
    mounted = bed.get("pods", "a-1")["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert mounted == "data-a-1"
    change(bed, STATEFUL_SET, {"replicas": 1})
    [left] = bed.api.store.items("persistentvolumeclaims", NAMESPACE)
    assert left["metadata"]["name"] == "data-a-0"
    bed.delete(STATEFUL_SET, "a")
    bed.run(MANY_SECONDS)
    assert bed.pods == []
    assert len(bed.api.store.items("persistentvolumeclaims", NAMESPACE)) == 1


def join(bed: Bed, *nodes: str) -> None:
    """Let nodes join."""
    for name in nodes:
        bed.api.create("nodes", "", node(name, asked="ready"), TEAM)
    bed.run(1.0)


def turn(bed: Bed, state: str) -> None:
    """Let the node `n-1` be dead, or ready again."""
    asked = {"metadata": {"annotations": {NODE_ANNOTATION: state}}}
    bed.api.patch(NODE, Patch(PatchType.MERGE, asked), TEAM)
    bed.run(MANY_SECONDS)


def counts(bed: Bed) -> tuple[int, int, int, int]:
    """Return how many nodes a DaemonSet wants, has updated and has available, and should not."""
    status = bed.get(DAEMON_SET, "a")["status"]
    fields = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    one, two, three = (status.get(name, 0) for name in fields)
    return one, two, three, status["numberMisscheduled"]


@pytest.mark.parametrize(
    "rolling", [{"maxUnavailable": 2, "maxSurge": 0}, {"maxUnavailable": 0, "maxSurge": "50%"}]
)
def test_a_daemon_set_updates_every_node(bed: Bed, rolling: JSON) -> None:
    """It keeps to its bound on the way: with a surge each node is served all the time."""
    join(bed, "n-1", "n-2", "n-3")
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    make(bed, DAEMON_SET, updateStrategy=strategy, minReadySeconds=3)
    least: list[int] = []
    bed.api.store.listen(
        DAEMON_SET, lambda change: least.append(dig(change.after, "status", "numberAvailable"))
    )
    change(bed, DAEMON_SET, {"template": template(image="a:2")})
    assert counts(bed) == (4, 4, 4, 0)
    assert len(bed.pods) == 4
    assert min(least) == 4 - rolling["maxUnavailable"]


def test_a_daemon_set_that_is_replaced_on_deletion_waits_for_it(bed: Bed) -> None:
    """An old pod stays until somebody deletes it."""
    join(bed, "n-1")
    make(bed, DAEMON_SET, updateStrategy={"type": "OnDelete"})
    change(bed, DAEMON_SET, {"template": template(image="a:2")})
    assert counts(bed) == (2, 0, 2, 0)
    bed.delete("pods", names(bed)[0])
    bed.run(MANY_SECONDS)
    assert counts(bed) == (2, 1, 2, 0)


def test_a_node_that_is_dead_blocks_an_update(bed: Bed) -> None:
    """Its pod uses up what may be unavailable, and can only go once the node is back.

    So it was measured on v1.36.3 with its node controllers at work.
    """
    join(bed, "n-1", "n-2")
    make(bed, DAEMON_SET)
    turn(bed, "dead")
    change(bed, DAEMON_SET, {"template": template(image="a:2")}, 600.0)
    assert counts(bed) == (2, 0, 2, 1)
    turn(bed, "ready")
    assert counts(bed) == (3, 3, 3, 0)


def test_a_daemon_set_goes_where_it_is_wanted_and_tolerated(bed: Bed) -> None:
    """Labels choose nodes, taints repel, and a taint that evicts ends what runs."""
    join(bed, "n-1", "n-2")
    bed.api.patch(NODE, Patch(PatchType.MERGE, {"metadata": {"labels": {"disk": "ssd"}}}), TEAM)
    make(bed, DAEMON_SET, pods={"nodeSelector": {"disk": "ssd"}})
    assert counts(bed)[0] == 1
    for effect, misscheduled in (("NoSchedule", 1), ("NoExecute", 0)):
        taints = {"spec": {"taints": [{"key": "full", "effect": effect}]}}
        bed.api.patch(NODE, Patch(PatchType.MERGE, taints), TEAM)
        change(bed, DAEMON_SET, {"minReadySeconds": misscheduled})
        assert counts(bed)[0] == 0
        assert counts(bed)[3] == misscheduled


def conditions(bed: Bed) -> list[tuple[str, str]]:
    """Return type and reason of the conditions that hold of a Job."""
    found = bed.get(JOB, "a")["status"].get("conditions", ())
    return [(each["type"], each["reason"]) for each in found if each["status"] == "True"]


def test_an_indexed_job_counts_its_indexes(bed: Bed) -> None:
    """One pod for each, and those that fail are tried again."""
    make(
        bed,
        JOB,
        "complete=1",
        completions=5,
        parallelism=2,
        completionMode="Indexed",
        pods={"restartPolicy": "Never"},
    )
    status = bed.get(JOB, "a")["status"]
    assert (status["completedIndexes"], status["succeeded"]) == ("0-4", 5)
    hosts = sorted(pod["spec"]["hostname"] for pod in bed.pods)
    assert hosts == ["a-0", "a-1", "a-2", "a-3", "a-4"]
    assert conditions(bed)[-1] == ("Complete", "CompletionsReached")


@pytest.mark.parametrize(
    ("code", "reason", "failed"), [(42, "PodFailurePolicy", 1), (7, "BackoffLimitExceeded", 2)]
)
def test_a_failure_policy_ends_a_job_at_once(bed: Bed, code: int, reason: str, failed: int) -> None:
    """A code that it names fails the Job; one that it ignores does not count."""
    rules = [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]
    make(
        bed,
        JOB,
        f"crash=0.3;code={code}",
        backoffLimit=1,
        podFailurePolicy={"rules": rules},
        pods={"restartPolicy": "Never"},
    )
    assert conditions(bed) == [("FailureTarget", reason), ("Failed", reason)]
    assert bed.get(JOB, "a")["status"]["failed"] == failed


def test_a_job_that_is_suspended_has_no_pods(bed: Bed) -> None:
    """Its pods go, its deadline waits, and it begins again."""
    make(bed, JOB, "ready", activeDeadlineSeconds=200, pods={"restartPolicy": "Never"})
    change(bed, JOB, {"suspend": True}, 600.0)
    assert (bed.pods, conditions(bed)) == ([], [("Suspended", "JobSuspended")])
    assert "startTime" not in bed.get(JOB, "a")["status"]
    change(bed, JOB, {"suspend": False})
    assert (len(bed.pods), conditions(bed)) == (1, [])


def test_a_finished_job_goes_when_its_time_is_over(bed: Bed) -> None:
    """With its pods, whose finalizers are gone."""
    make(bed, JOB, "complete=1", ttlSecondsAfterFinished=300, pods={"restartPolicy": "Never"})
    assert len(bed.pods) == 1
    bed.run(300.0)
    assert (bed.pods, bed.api.store.items(JOB, NAMESPACE)) == ([], [])


def evict(bed: Bed, pod: str) -> int:
    """Evict a pod; return the status of the answer."""
    try:
        return int(bed.api.evict(bed.key("pods", pod), TEAM)["code"])
    except ApiError as error:
        return error.status


def guard(bed: Bed, name: str, **spec: Any) -> None:
    """Create a budget for the pods."""
    selector = {"matchLabels": {"app": "a"}}
    body = {"metadata": {"name": name}, "spec": {"selector": selector, **spec}}
    bed.api.create(BUDGET, NAMESPACE, body, TEAM)
    bed.run(1.0)


def test_a_budget_allows_so_many_evictions(bed: Bed) -> None:
    """It counts healthy pods; one that is on its way out, or pending, is nobody's concern."""
    make(bed, STATEFUL_SET, replicas=3, podManagementPolicy="Parallel")
    guard(bed, "one", maxUnavailable=1)
    assert bed.get(BUDGET, "one")["status"]["disruptionsAllowed"] == 1
    assert [evict(bed, pod) for pod in ("a-0", "a-1", "a-0")] == [201, 429, 201]
    bed.run(MANY_SECONDS)
    assert bed.get(BUDGET, "one")["status"]["disruptionsAllowed"] == 1
    guard(bed, "two", minAvailable=1)
    assert evict(bed, "a-1") == 500


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"minAvailable": 3}, 429),
        ({"minAvailable": 2}, 201),
        ({"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"}, 201),
    ],
)
def test_a_pod_that_is_ill_may_go_where_nothing_is_lost(bed: Bed, spec: JSON, status: int) -> None:
    """Where enough others are healthy, or where the budget says so."""
    make(bed, STATEFUL_SET, replicas=3)
    change(bed, STATEFUL_SET, {"template": template("never-ready", "a:2")})
    guard(bed, "one", **spec)
    assert evict(bed, "a-2") == status


def test_an_eviction_of_another_pod_of_that_name_is_refused(bed: Bed) -> None:
    """A uid is asked for."""
    make(bed, STATEFUL_SET, replicas=1)
    with pytest.raises(ApiError, match="does not match the UID in record"):
        bed.api.evict(bed.key("pods", "a-0"), TEAM, DeleteOptions(uid="other"))
