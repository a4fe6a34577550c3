"""The oracle: a failed version in between leaves no trace.

What `apply v1; apply bad; apply v2` leaves has to be what `apply v1; apply v2` leaves: the spec,
labels, annotations, kubectl's last-applied, and the managed fields, whoever applied which version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from tests.bed.expectations import REVISION, assert_rolled_back, assert_runs, assert_verified
from tests.bed.invariants import CANARY
from tests.bed.nodes import Nodes
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.manifests import container
from tests.cluster.workloads import daemon_set, stateful_set

LONG = pytest.mark.long
"""No variant: what a real kubectl leaves is asked of the control plane each time."""
CRASH = "crash=0.1"
ORDERED = "OrderedReady"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_COUNTERS = (REVISION, "deprecated.daemonset.template.generation")
_VOLATILE = ("creationTimestamp", "generation", "namespace", "resourceVersion", "uid")

FIRST = web(1, env={"PASSWORD": CANARY, "MODE": "one"}, annotations={"team": "shop"})

# It takes fields of v1 away, adds others, and crashes.
BAD = web(
    2,
    replicas=3,
    behaviour=CRASH,
    env={"ADDED": "yes", "MODE": "two"},
    labels={"tier": "bad"},
    annotations={"bad": "yes"},
    template_labels={"track": "bad"},
    containers=[container("proxy", "mesh/proxy:2")],
    min_ready_seconds=1,
    strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}},
)

# It drops what v1 had and adds fields of its own.
SECOND = web(
    3,
    replicas=3,
    env={"PASSWORD": CANARY, "LEVEL": "2"},
    labels={"tier": "front"},
    template_annotations={"scrape": "yes"},
    containers=[container("proxy", "mesh/proxy:3")],
)


def remains(live: JSON) -> JSON:
    """Return what has to be equal: everything but names, counts, times and the status."""
    metadata = {key: value for key, value in live["metadata"].items() if key not in _VOLATILE}
    given = metadata.get("annotations", {})
    annotations = {key: value for key, value in given.items() if key not in _COUNTERS}
    if LAST_APPLIED in annotations:
        annotations[LAST_APPLIED] = _last_applied(annotations[LAST_APPLIED])
    owners = {
        f"{each['manager']} {each['operation']} {each['apiVersion']}": each["fieldsV1"]
        for each in metadata["managedFields"]
        if "subresource" not in each
    }
    return {**metadata, "annotations": annotations, "managedFields": owners, "spec": live["spec"]}


def differences(expected: object, found: object, path: str = "") -> list[str]:
    """Return the paths at which two objects differ, with what stands there."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = sorted({*expected, *found})
        each = (differences(expected.get(k), found.get(k), f"{path}/{k}") for k in keys)
        return [line for lines in each for line in lines]
    return [] if expected == found else [f"{path}: {expected!r} became {found!r}"]


def _last_applied(text: str) -> JSON:
    applied: JSON = json.loads(text)
    applied["metadata"].pop("namespace", None)
    return applied


class Hands:
    """The two programs that apply versions of one workload here."""

    def __init__(self, scene: Scene, resource: str = "deployments", name: str = "web") -> None:
        self.scene = scene
        self._workload = (resource, name)

    def gate(self, body: JSON) -> None:
        """Apply with the gate, and see it verified."""
        assert_verified(self.scene.apply(body))

    def kubectl(self, body: JSON) -> None:
        """Apply with `kubectl apply`, and wait until it is complete."""
        self.scene.kubectl("apply", "-f", self.scene.manifest(body), check=True)
        self.scene.wait_done(*self._workload)

    def gate_goes_back(self, body: JSON) -> None:
        """Apply a bad version with the gate, and see it rolled back."""
        assert_rolled_back(self.scene.apply(body), "CrashLoop")

    def run(self, steps: Sequence[tuple[str, JSON]]) -> JSON:
        """Let hands apply versions one after the other; return what is live then."""
        for hand, version in steps:
            step: Callable[[JSON], None] = getattr(self, hand)
            step(version)
        return self.scene.wait_done(*self._workload)

    def compare(self, v1: tuple[str, JSON], bad: JSON, v2: tuple[str, JSON]) -> list[str]:
        """Return what is left otherwise where a bad version stood between v1 and v2."""
        expected = remains(self.run([v1, v2]))
        self.scene.objects.delete(*self._workload)
        self.scene.objects.wait("pods", lambda pods: not pods)
        found = remains(self.run([v1, ("gate_goes_back", bad), v2]))
        if v1[0] == v2[0] == "kubectl":
            # Only one of the two histories has a run of the gate, which takes the fields over.
            del expected["managedFields"], found["managedFields"]
        return differences(expected, found)


applied_by = pytest.mark.parametrize(
    ("v1_by", "v2_by"),
    [
        ("gate", "gate"),
        pytest.param("kubectl", "gate", marks=LONG),
        pytest.param("gate", "kubectl", marks=LONG),
        pytest.param("kubectl", "kubectl", marks=LONG),
    ],
)


@pytest.fixture
def hands(scene: Scene) -> Hands:
    """Return the programs that apply versions."""
    return Hands(scene)


@pytest.mark.contract("B130", "B131")
@applied_by
def test_a_failed_version_in_between_leaves_no_trace(hands: Hands, v1_by: str, v2_by: str) -> None:
    """v1, a bad version that is rolled back, then v2, leaves what v1, then v2 leaves."""
    assert not hands.compare((v1_by, FIRST), BAD, (v2_by, SECOND))


@pytest.mark.contract("B130", "B131")
@applied_by
def test_a_failed_version_of_a_stateful_set_leaves_no_trace(
    scene: Scene, v1_by: str, v2_by: str
) -> None:
    """Its pods stop the controller: they are replaced before v2 comes."""
    v1 = stateful_set(minReadySeconds=1, pod={"terminationGracePeriodSeconds": 5})
    bad = stateful_set(image="shop/db:2", replicas=4, behaviour=CRASH, podManagementPolicy=ORDERED)
    v2 = stateful_set(image="shop/db:3", revisionHistoryLimit=3)
    hands = Hands(scene, "statefulsets", "db")
    assert not hands.compare((v1_by, v1), bad, (v2_by, v2))


@pytest.mark.contract("B130", "B131")
@applied_by
def test_a_failed_version_of_a_daemon_set_leaves_no_trace(
    scene: Scene, nodes: Nodes, v1_by: str, v2_by: str
) -> None:
    """On two nodes of its own."""
    nodes.join(2)
    v1 = daemon_set(pool=nodes.pool, minReadySeconds=1)
    bad = daemon_set(pool=nodes.pool, image="shop/agent:2", behaviour=CRASH, revisionHistoryLimit=4)
    v2 = daemon_set(pool=nodes.pool, image="shop/agent:3", revisionHistoryLimit=3)
    hands = Hands(scene, "daemonsets", "agent")
    assert not hands.compare((v1_by, v1), bad, (v2_by, v2))


@pytest.mark.contract("B121")
def test_after_good_bad_bad_it_is_good(hands: Hands) -> None:
    """Two bad versions in a row: each time the good one comes back, never the first bad one."""
    good = hands.run([("gate", FIRST)])
    hands.run([("gate_goes_back", BAD), ("gate_goes_back", web(4, behaviour="crash=0.1"))])
    live = assert_runs(hands.scene.objects, "shop/web:1", revision=5)
    assert not differences(remains(good), remains(live))
