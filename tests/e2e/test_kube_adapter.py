"""The adapter against a real API server: what writes, watches and reviews are answered."""

from __future__ import annotations

import json
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate.clock import SystemClock
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet, deployment_ref
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Pod
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import WriteConflicted, WriteRejected, Written
from gate.core.rollout.observations import Listed, Observed, Vanished
from gate.kube.client import Client
from gate.kube.cluster import Cluster
from gate.kube.connection import Options, connect
from gate.kube.failures import FieldManagerConflict, Unauthorized
from gate.kube.reads import Reader
from gate.kube.resources import Resources
from gate.kube.watch import watches_of
from gate.kube.writes import Writer
from gate.metrics.api_requests import ApiRequests
from tests.cluster.command import Program
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.e2e.conftest import WriteKubeconfig

MakeDeployment = Callable[..., JSON]
SELECTOR = {"matchLabels": {"app": "web"}}


class Adapter:
    """The gate's adapter as one user of the cluster, with shorthands for one Deployment."""

    def __init__(self, kubeconfig: Path) -> None:
        """Connect."""
        clock = SystemClock()
        self.client = Client(connect(Options(str(kubeconfig)), clock=clock), clock)
        self._requests = ApiRequests()
        self.client.connection.api.counted = self._requests.count
        self.resources = Resources(self.client)
        self.writer = Writer(self.client, self.resources, clock)
        self.reader = Reader(self.client, self.resources, clock)
        self.web = deployment_ref(self.client.connection.namespace, "web")

    @property
    def sent(self) -> int:
        """How many requests were sent, those of watches among them."""
        return self._requests.tally().total()

    def write(self, verb: Verb, body: JSON, live: LiveObject | None, **more: Any) -> Any:
        """Write to the Deployment `web`, with the preconditions of `live`."""
        return self.writer.perform(self.effect(verb, body, live, **more))

    def effect(self, verb: Verb, body: JSON, live: LiveObject | None, **more: Any) -> Write:
        """Return the effect of such a write."""
        uid, version = (live.uid, live.resource_version) if live else (None, None)
        guards = {"uid": uid, "resource_version": version} | more
        return Write(1, self.web, verb, Body.of(body), **guards)

    def live(self) -> LiveObject:
        """Return the Deployment as it is."""
        found = self.reader.live(self.web)
        assert isinstance(found, Known)
        return found.value


@pytest.fixture
def adapter(write_kubeconfig: WriteKubeconfig) -> Iterator[Adapter]:
    """Return an adapter with every right."""
    made = Adapter(write_kubeconfig())
    yield made
    made.client.connection.close()


@pytest.fixture
def body(deployment: MakeDeployment, namespace: str) -> JSON:
    """Return a Deployment that no controller touches: without replicas nothing follows."""
    return deployment(namespace=namespace, replicas=0)


@pytest.fixture
def settled(adapter: Adapter, objects: Objects, body: JSON) -> LiveObject:
    """Apply the Deployment and return it once its controller is done with it."""
    assert isinstance(adapter.write(Verb.APPLY, body, None), Written)
    objects.wait_for("deployments", "web", _is_settled)
    return adapter.live()


def _is_settled(item: JSON) -> bool:
    kinds = {condition["type"] for condition in item.get("status", {}).get("conditions", ())}
    revision = item["metadata"].get("annotations", {}).get("deployment.kubernetes.io/revision")
    return {"Available", "Progressing"} <= kinds and bool(revision)


def _owned(entries: list[JSON]) -> list[str]:
    """Return who owns what, without times: the server orders the entries by them."""
    kept = [{key: entry[key] for key in entry if key != "time"} for entry in entries]
    return sorted(json.dumps(entry, sort_keys=True) for entry in kept)


def _paused(body: JSON) -> JSON:
    return body | {"spec": body["spec"] | {"paused": True}}


def test_the_cluster_tells_about_itself(adapter: Adapter, namespace: str) -> None:
    """Version, identity and namespaces are one request each."""
    cluster = Cluster(adapter.client)
    assert cluster.version().startswith("v1.")
    assert isinstance(cluster.uid(), Known)
    assert cluster.terminating(namespace) == Known(value=False)
    assert cluster.terminating("no-such-namespace") == Absent()
    assert adapter.sent == 4


@pytest.mark.contract("B125")
def test_a_changed_object_conflicts(adapter: Adapter, settled: LiveObject, body: JSON) -> None:
    """A stale resourceVersion is a conflict for every verb, also where nothing would change."""
    stale = {"resource_version": "1"}
    for verb, content in (
        (Verb.APPLY, body),
        (Verb.APPLY, _paused(body)),
        (Verb.MERGE, {"spec": {"paused": True}}),
        (Verb.TAKE_OVER, settled.managed.thaw()),
        (Verb.DELETE, {}),
    ):
        assert isinstance(adapter.write(verb, content, settled, **stale), WriteConflicted), verb
    assert adapter.live() == settled


@pytest.mark.contract("B125")
def test_another_uid_is_a_deleted_object(adapter: Adapter, settled: LiveObject, body: JSON) -> None:
    """Where another object has the name, every verb says that ours is gone, and writes nothing."""
    other = {"uid": "00000000-0000-0000-0000-000000000000"}
    for verb, content in (
        (Verb.APPLY, _paused(body)),
        (Verb.MERGE, {"spec": {"paused": True}}),
        (Verb.TAKE_OVER, settled.managed.thaw()),
        (Verb.DELETE, {}),
    ):
        answer = adapter.write(verb, content, settled, **other)
        assert isinstance(answer, WriteRejected), verb
        assert answer.reason is Reason.DELETED, verb
    assert adapter.live() == settled


@pytest.mark.contract("B125")
def test_a_deleted_object_is_not_created_anew(
    adapter: Adapter, settled: LiveObject, body: JSON
) -> None:
    """With a uid nothing comes back to life; deleting it again is done already."""
    assert isinstance(adapter.write(Verb.DELETE, {}, settled), Written)
    for verb, content in (
        (Verb.APPLY, body),
        (Verb.MERGE, {"spec": {"paused": True}}),
        (Verb.TAKE_OVER, settled.managed.thaw()),
    ):
        answer = adapter.write(verb, content, settled)
        assert isinstance(answer, WriteRejected), verb
        assert answer.reason is Reason.DELETED, verb
    assert adapter.write(Verb.DELETE, {}, settled).live is None
    assert adapter.reader.live(adapter.web) == Absent()


def test_a_resource_version_alone_would_create_anew(adapter: Adapter, body: JSON) -> None:
    """Why every write carries a uid: without one the server takes the version for a new object."""
    effect = adapter.effect(Verb.APPLY, body, None, resource_version="5")
    assert adapter.writer.dry_run(effect).uid


def test_taking_over_from_kubectl_apply(
    adapter: Adapter, kubectl: Program, manifest: Callable[..., Path], objects: Objects, body: JSON
) -> None:
    """Moved managed fields are kept as sent, change nothing that runs, and make removals real."""
    first = body | {"spec": body["spec"] | {"minReadySeconds": 7}}
    kubectl("apply", "-f", str(manifest(first)))
    objects.wait_for("deployments", "web", _is_settled)
    live, later = adapter.live(), _paused(body)
    with pytest.raises(FieldManagerConflict) as caught:
        adapter.writer.dry_run(
            adapter.effect(
                Verb.APPLY, first | {"spec": first["spec"] | {"minReadySeconds": 8}}, live
            )
        )
    assert {(conflict.manager, conflict.path) for conflict in caught.value.conflicts} == {
        ("kubectl-client-side-apply", ".spec.minReadySeconds")
    }
    entries = live.managed.thaw()["managedFields"]
    for entry in entries:
        if entry["manager"] == "kubectl-client-side-apply":
            entry |= {"manager": "rollout-gate", "operation": "Apply"}
    taken = adapter.write(Verb.TAKE_OVER, {"managedFields": entries}, live)
    assert isinstance(taken, Written)
    assert taken.live is not None
    assert _owned(taken.live.managed.thaw()["managedFields"]) == _owned(entries)
    assert taken.live.body.thaw()["spec"] == live.body.thaw()["spec"]
    assert taken.live.workload is not None
    assert live.workload is not None
    assert taken.live.workload.generation == live.workload.generation
    applied = adapter.write(Verb.APPLY, later, taken.live)
    assert isinstance(applied, Written)
    assert applied.live is not None
    assert isinstance(applied.live.workload, Deployment)
    assert applied.live.workload.min_ready_seconds == 0


def test_a_rollout_is_watched_in_eight_requests(
    adapter: Adapter, deployment: MakeDeployment, objects: Objects, namespace: str
) -> None:
    """Lists and watches tell a rollout from its apply to its completion, and its deletion."""
    heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
    watches = watches_of(adapter.client, {adapter.web: SELECTOR}, SystemClock(), heard.put)
    watches.start()
    for _ in range(4):
        assert isinstance(heard.get(timeout=10), Listed)
    content = deployment(namespace=namespace, replicas=2)
    written = adapter.write(Verb.APPLY, content, None)
    assert isinstance(written, Written)
    objects.wait_complete("web")
    kinds: set[type] = set()
    deleted = False
    while not (deleted and {Deployment, ReplicaSet, Pod} <= kinds):
        event = heard.get(timeout=10)
        if isinstance(event, Observed):
            kinds.add(type(event.object))
            thing = event.object
            if isinstance(thing, Deployment) and thing.available_replicas == 2 and not deleted:
                adapter.writer.perform(Write(2, adapter.web, Verb.DELETE, Body.of({}), None, None))
        deleted = deleted or isinstance(event, Vanished)
    assert adapter.sent == 10
    watches.stop()
    assert watches.join(5)


@pytest.mark.contract("B242")
def test_a_wrong_token(write_kubeconfig: WriteKubeconfig, tmp_path: Path) -> None:
    """An unknown token is Unauthorized in clear words."""
    file = tmp_path / "wrong"
    document = yaml.safe_load(write_kubeconfig().read_text())
    document["users"][0]["user"] = {"token": "wrong"}
    file.write_text(yaml.safe_dump(document))
    adapter = Adapter(file)
    with pytest.raises(Unauthorized, match="does not accept the credentials"):
        Cluster(adapter.client).version()
    adapter.client.connection.close()
