"""What a real API server answers to guarded writes of objects that changed, went or came again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.clock import SystemClock
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import WriteConflicted, WriteRejected, Written
from gate.kube.client.client import Client
from gate.kube.connection.connection import Options, connect
from gate.kube.paths.resources import Resources
from gate.kube.reads.quorum_reads import Reader
from gate.kube.writes.writes import Writer
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.e2e.conftest import WriteKubeconfig

PAUSED = {"spec": {"paused": True}}


class Adapter:
    """The gate's adapter as one user of the cluster, with shorthands for one Deployment."""

    def __init__(self, kubeconfig: Path) -> None:
        """Connect."""
        clock = SystemClock()
        self.client = Client(connect(Options(str(kubeconfig)), clock=clock), clock)
        resources = Resources(self.client)
        self.writer = Writer(self.client, resources, clock)
        self.reader = Reader(self.client, resources, clock)
        self.web = deployment_ref(self.client.connection.namespace, "web")

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
def body(deployment: Callable[..., JSON], namespace: str) -> JSON:
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


def _writes(body: JSON, live: LiveObject) -> list[tuple[Verb, JSON]]:
    """Return a write of every verb that sends a body; the last apply changes something."""
    paused = body | {"spec": body["spec"] | PAUSED["spec"]}
    taken = live.managed.thaw()
    return [(Verb.APPLY, paused), (Verb.MERGE, PAUSED), (Verb.TAKE_OVER, taken)]


@pytest.mark.contract("B125")
def test_a_changed_object_conflicts(adapter: Adapter, settled: LiveObject, body: JSON) -> None:
    """A stale resourceVersion is a conflict for every verb, also where nothing would change."""
    for verb, content in ((Verb.APPLY, body), *_writes(body, settled), (Verb.DELETE, {})):
        answer = adapter.write(verb, content, settled, resource_version="1")
        assert isinstance(answer, WriteConflicted), verb
    assert adapter.live() == settled


@pytest.mark.contract("B125")
def test_another_uid_is_a_deleted_object(adapter: Adapter, settled: LiveObject, body: JSON) -> None:
    """Where another object has the name, every verb says that ours is gone, and writes nothing."""
    for verb, content in (*_writes(body, settled), (Verb.DELETE, {})):
        answer = adapter.write(verb, content, settled, uid="00000000-0000-0000-0000-000000000000")
        assert isinstance(answer, WriteRejected), verb
        assert answer.reason is Reason.DELETED, verb
    assert adapter.live() == settled


@pytest.mark.contract("B125")
def test_a_deleted_object_is_not_created_again(
    adapter: Adapter, settled: LiveObject, body: JSON
) -> None:
    """With a uid nothing comes back to life; without one the server takes it for a new object."""
    assert isinstance(adapter.write(Verb.DELETE, {}, settled), Written)
    for verb, content in _writes(body, settled):
        answer = adapter.write(verb, content, settled)
        assert isinstance(answer, WriteRejected), verb
        assert answer.reason is Reason.DELETED, verb
    assert adapter.write(Verb.DELETE, {}, settled).live is None
    assert adapter.reader.live(adapter.web) == Absent()
    effect = adapter.effect(Verb.APPLY, body, None, resource_version="5")
    assert adapter.writer.dry_run(effect).uid
