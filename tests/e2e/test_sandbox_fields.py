"""The sandbox's ownership, merges and patches beside the real server's, write by write."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sandbox.kinds import BY_KEY
from sandbox.schema import definitions, server_version
from tests.bed.lacking import lacks
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON, ApiError
from tests.cluster.schemas import facts
from tests.e2e.sandbox_twin import JSON_PATCH, MERGE, STRATEGIC, Raced, Twin

pytestmark = pytest.mark.newest_only("the sandbox does as the newest Kubernetes")

MANAGERS = ("alice", "bob", "kubectl-client-side-apply", "ci")
CONTAINER: JSON = {"name": "a", "image": "shop/a:1"}
SPEC: JSON = {
    "replicas": 0,
    "selector": {"matchLabels": {"app": "twin"}},
    "template": {"metadata": {"labels": {"app": "twin"}}, "spec": {"containers": [CONTAINER]}},
}


@pytest.fixture
def twin(cluster: Cluster, namespace: str) -> Callable[[str], Twin]:
    """Return a maker of twins, by the key of a resource."""

    def make(key: str) -> Twin:
        resource = BY_KEY[key]
        group = "apis" if resource.group else "api"
        path = f"/{group}/{resource.api_version}/namespaces/{namespace}/{resource.plural}"
        return Twin(cluster, resource, path, "twin")

    return make


def insistent(write: Callable[[], None]) -> None:
    """Write until no controller comes between."""
    for _ in range(50):
        try:
            return write()
        except Raced:
            continue
    pytest.fail("a controller writes without end")


def valid(write: Callable[[], None]) -> Callable[[], None]:
    """Return a write that may come to nothing: what makes no Deployment is refused."""

    def attempt() -> None:
        try:
            write()
        except ApiError as error:
            if error.status != 422:
                raise

    return attempt


def test_the_data_file_is_what_the_server_says(cluster: Cluster) -> None:
    """The definitions in the package are those of this server's OpenAPI documents."""
    found = facts(cluster.api)
    if found["server"] != server_version():
        lacks(f"the data file is of {server_version()}, the server is {found['server']}")
    assert definitions() == found["schemas"]


CREATED: Mapping[str, JSON] = {
    "configmaps": {"data": {"a": "1"}},
    "cronjobs.batch": {
        "spec": {
            "schedule": "* * * * *",
            "suspend": True,
            "jobTemplate": {
                "spec": {
                    "template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
                }
            },
        }
    },
    "daemonsets.apps": {"spec": {**SPEC, "replicas": None}},
    "deployments.apps": {"spec": SPEC},
    "horizontalpodautoscalers.autoscaling": {
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"},
        }
    },
    "leases.coordination.k8s.io": {"spec": {"holderIdentity": "x"}},
    "networkpolicies.networking.k8s.io": {
        "spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}
    },
    "poddisruptionbudgets.policy": {"spec": {"minAvailable": 1}},
    "replicasets.apps": {"spec": SPEC},
    "resourcequotas": {"spec": {"hard": {"pods": "1k"}}},
    "roles.rbac.authorization.k8s.io": {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    },
    "secrets": {"stringData": {"a": "x"}, "data": {"b": "YQ=="}},
    "serviceaccounts": {"imagePullSecrets": [{"name": "x"}]},
    "services": {"spec": {"ports": [{"port": 80, "name": "x"}, {"port": 81, "name": "y"}]}},
    "statefulsets.apps": {"spec": {**SPEC, "serviceName": "x"}},
}


@pytest.mark.parametrize("key", CREATED)
def test_a_created_object_is_its_writers(twin: Callable[[str], Twin], key: str) -> None:
    """Whoever creates an object of any kind owns what the server says, defaults included."""
    it = twin(key)
    it.create("alice", it.body() | CREATED[key])
    for manager, labels in (("bob", {"a": "1"}), ("ci", {"a": "1", "b": "2"})):
        insistent(lambda who=manager, what=labels: it.apply(who, it.body(labels=what)))  # type: ignore[misc]


STEPS: Mapping[str, tuple[Callable[[Twin], None], ...]] = {
    "nothing changes": (
        lambda it: it.apply("alice", it.body(SPEC)),
        lambda it: it.apply("alice", it.body(SPEC)),
        lambda it: it.apply("bob", it.body(SPEC)),
        lambda it: it.apply("bob", it.body(SPEC)),
    ),
    "zeros, nulls and other spellings": (
        lambda it: it.apply("alice", it.body({**SPEC, "paused": False}, labels=None)),
        lambda it: it.apply("bob", it.body({**SPEC, "replicas": None}, annotations={})),
        lambda it: it.apply("bob", it.body(spec_with(resources={"limits": {"cpu": 0.5}}))),
        lambda it: it.apply("ci", it.body(spec_with(resources={"limits": {"cpu": "500m"}}))),
        lambda it: it.apply("bob", it.body(spec_with(env=[], command=[], ports=None))),
        lambda it: it.apply("bob", it.body({})),
        lambda it: it.apply("bob", it.body()),
    ),
    "what does not fit": (
        lambda it: it.apply("alice", it.body(SPEC)),
        lambda it: it.apply("bob", it.body({**SPEC, "replicas": 1}), force=False),
        lambda it: it.apply("bob", it.body({"replicas": "x"})),
        lambda it: it.apply("bob", it.body(spec_with(env=[{"name": "A"}, {"name": "A"}]))),
        lambda it: it.patch("bob", [{"op": "test", "path": "/kind", "value": 1}], JSON_PATCH),
        lambda it: it.patch("bob", {"spec": {"$patch": "foo"}}, STRATEGIC),
    ),
    "managedFields by hand": (
        lambda it: it.create("alice", it.body(SPEC)),
        lambda it: it.patch("alice", [reset([{}])], JSON_PATCH),
        lambda it: it.patch("alice", {"metadata": {"labels": {"a": "1"}}}, MERGE),
        lambda it: it.apply("bob", it.body({**SPEC, "replicas": 1}), force=False),
        lambda it: it.apply("bob", it.body({**SPEC, "replicas": 0})),
        lambda it: it.patch("alice", [reset([taken("ci", "Apply", "apps/v1")])], JSON_PATCH),
        lambda it: it.patch("alice", [reset([taken("ci", "Update", "apps/v0")])], JSON_PATCH),
        lambda it: it.patch("alice", {"metadata": {"labels": {"b": "1"}}}, MERGE),
        lambda it: it.patch("alice", {"metadata": {"managedFields": None}}, MERGE),
    ),
    "more updaters than are kept": (
        lambda it: it.apply("alice", it.body(SPEC)),
        *(
            lambda it, at=at: it.patch(f"m{at}", {"metadata": {"labels": {f"l{at}": ""}}}, MERGE)
            for at in range(12)
        ),
    ),
    "status and scale": (
        lambda it: it.create("alice", it.body(SPEC)),
        lambda it: it.scale("bob", 0),
        lambda it: it.scale("bob", 1),
        lambda it: it.scale("ci", 1),
        lambda it: it.scale("ci", 0),
        lambda it: it.apply("alice", it.body({**SPEC, "replicas": 1})),
        lambda it: it.scale("bob", 0),
        lambda it: it.patch("ci", {"status": {"replicas": 4}}, MERGE, "status"),
        lambda it: it.patch(
            "ci", {"metadata": {"labels": {"x": "1"}}, "spec": {"replicas": 5}}, MERGE, "status"
        ),
    ),
}


def spec_with(**container: Any) -> JSON:
    """Return the spec with more in its container."""
    template = {**SPEC["template"], "spec": {"containers": [{**CONTAINER, **container}]}}
    return {**SPEC, "template": template}


def reset(entries: list[JSON]) -> JSON:
    """Return the operation that writes managedFields."""
    return {"op": "add", "path": "/metadata/managedFields", "value": entries}


def taken(manager: str, operation: str, api_version: str) -> JSON:
    """Return an entry that owns replicas, and more than it can of what is atomic."""
    owned: JSON = {"f:replicas": {}, "f:selector": {"f:matchLabels": {"f:app": {}}}, "x:what": {}}
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": owned},
    }


@pytest.mark.parametrize("story", STEPS)
def test_each_step_ends_as_on_the_server(twin: Callable[[str], Twin], story: str) -> None:
    """Every write of a story leaves the same object and the same owners."""
    it = twin("deployments.apps")
    for step in STEPS[story]:
        insistent(lambda step=step: step(it))  # type: ignore[misc]


class Dice:
    """Random writes to a Deployment; the same seed gives the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def configuration(self, it: Twin, *, whole: bool) -> JSON:
        """Return a configuration that a manager may apply; not a whole one may leave much out."""
        spec: JSON = self._some(
            replicas=0,
            minReadySeconds=self._random.choice([0, 1, 2]),
            revisionHistoryLimit=self._random.choice([3, 4]),
            strategy=self._random.choice(
                [{"type": "Recreate"}, {"rollingUpdate": {"maxSurge": "50%"}}]
            ),
        )
        if whole or self._happens():
            spec |= {"selector": SPEC["selector"], "template": self._template()}
        labels = self._some(a=self._random.choice("12"), b="1", c="1")
        return it.body(spec, **self._some(labels=labels, annotations=self._some(x="1", y="2")))

    def write(self, it: Twin) -> Callable[[], None]:
        """Return a write; the same again where it is repeated."""
        who, body = self._random.choice(MANAGERS), self.configuration(it, whole=self._happens())
        force = self._happens()
        change = {"metadata": {**body["metadata"], "labels": {"a": None, "z": "1"}}}
        change["spec"] = {name: part for name, part in body["spec"].items() if name != "selector"}
        operation = self._random.choice(
            [
                {"op": "remove", "path": "/spec/template/spec/containers/0"},
                {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "i"},
                {"op": "add", "path": "/spec/minReadySeconds", "value": 1},
                {"op": "add", "path": "/metadata/labels/new", "value": "1"},
            ]
        )
        replicas = self._random.randint(0, 1)
        return self._random.choice(
            [
                *[lambda: it.apply(who, body, force=force)] * 4,
                lambda: it.patch(who, change, MERGE),
                lambda: it.patch(who, change, STRATEGIC),
                lambda: it.patch(who, [operation], JSON_PATCH),
                lambda: it.scale(who, replicas),
            ]
        )

    def _happens(self) -> bool:
        return self._random.random() < 0.5

    def _some(self, **members: Any) -> JSON:
        return {name: value for name, value in members.items() if self._happens()}

    def _template(self) -> JSON:
        names = self._random.sample("pqrs", self._random.randint(1, 3))
        spec = {"containers": [self._container(name) for name in names]}
        more = self._some(
            nodeSelector=self._some(q="1", r="2"),
            tolerations=[{"key": self._random.choice("ab"), "operator": "Exists"}],
            volumes=[{"name": "v", "emptyDir": {}}],
            securityContext=self._random.choice([{}, {"runAsUser": 5}]),
        )
        metadata = {**SPEC["template"]["metadata"], **self._some(annotations={"t": "1"})}
        return {"metadata": metadata, "spec": spec | more}

    def _container(self, name: str) -> JSON:
        ports = [{"containerPort": port} for port in self._random.sample([80, 443, 8080], 2)]
        more = self._some(
            env=[{"name": it, "value": "1"} for it in self._random.sample("ABCD", 2)],
            ports=ports,
            resources={"limits": self._some(cpu="1", memory="1Gi")},
            command=self._random.choice([["a"], ["b", "c"]]),
        )
        return {"name": name, "image": self._random.choice(["i:1", "i:2"]), **more}


@pytest.mark.parametrize("seed", range(8))
def test_random_writes_end_as_on_the_server(twin: Callable[[str], Twin], seed: int) -> None:
    """Whatever managers write in whatever order: the same object, the same owners."""
    it, dice = twin("deployments.apps"), Dice(seed)
    it.apply("alice", dice.configuration(it, whole=True))
    for _ in range(15):
        insistent(valid(dice.write(it)))
