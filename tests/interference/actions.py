"""What others do while the gate works: each action has a name, and what may come of it."""

from __future__ import annotations

import base64
import random
import signal
from collections.abc import Callable, Collection
from dataclasses import dataclass

from tests.bed.scene import autoscaler, quota
from tests.cluster.kubelet.api import JSON, MERGE_PATCH
from tests.cluster.workloads import disruption_budget
from tests.interference import shop
from tests.interference.stage import APPLY_PATCH, JSON_PATCH, Stage

Do = Callable[[Stage, random.Random], object]

FINALIZER = "example.com/hold"
FOREIGN_HOLDER = "somebody/else"

CONFLICT = frozenset({3, 4, 8})
"""Another manager's fields: refused; between dry run and write, what was written goes back."""
OVERTAKEN = frozenset({3, 4, 8})
DELETED = frozenset({0, 3, 4, 6, 8})

_LEASE = "rollout-gate.deployment.web"
_WAITING = ("--lock-wait", "45s", "--output", "json")
_DEADLINE = ("--progress-deadline", f"{shop.DEADLINE_SECONDS}s")
_BUDGETS = ("--timeout", "20s", "--rollback-timeout", "20s", *_DEADLINE, *_WAITING)


@dataclass(frozen=True, slots=True)
class Action:
    """An action of somebody else.

    `ends` are the exit codes that it may lead to beside the one that the version asks for: 0 of a
    good one, 4 of a bad one. `early_ends` are those where it comes before the gate has written
    every object. `may_fail` is whether a good version may come to fail by it. `is_global` is felt
    in every namespace; `runs_gate` starts another gate.
    """

    name: str
    do: Do
    ends: frozenset[int]
    early_ends: frozenset[int]
    may_fail: bool
    is_global: bool
    runs_gate: bool


def _action(
    name: str,
    do: Do,
    ends: Collection[int] = (),
    early: Collection[int] = (),
    *,
    may_fail: bool = False,
    is_global: bool = False,
    runs_gate: bool = False,
) -> Action:
    return Action(name, do, frozenset(ends), frozenset(early), may_fail, is_global, runs_gate)


# -- how it is done --------------------------------------------------------------------------------


def _kubectl(line: str) -> Do:
    return lambda stage, _: stage.run_kubectl(*line.split())


def _scale(workload: str, *replicas: int) -> Do:
    return lambda stage, chance: stage.run_kubectl(
        "scale", workload, f"--replicas={chance.choice(replicas)}"
    )


def _kubectl_apply(number: int, *flags: str) -> Do:
    return lambda stage, _: stage.run_kubectl("apply", *flags, "-f", stage.manifest(number))


def _gate_apply(number: int) -> Do:
    def do(stage: Stage, _: random.Random) -> None:
        stage.start_gate("apply", "-f", stage.manifest(number), *_BUDGETS, manifest=number)

    return do


def _patch(
    resource: str, name: str, body: JSON | list[JSON], how: str = MERGE_PATCH, subresource: str = ""
) -> Do:
    return lambda stage, _: stage.patch(resource, name, body, how, subresource)


def _patch_spec(resource: str, name: str, **spec: object) -> Do:
    return _patch(resource, name, {"spec": spec})


def _replace(resource: str, name: str, path: str, value: object) -> Do:
    return _patch(resource, name, [{"op": "replace", "path": path, "value": value}], JSON_PATCH)


def _delete(resource: str, name: str) -> Do:
    return lambda stage, _: stage.objects.delete(resource, name)


def _create(resource: str, body: JSON) -> Do:
    return lambda stage, _: stage.objects.create(resource, body)


def _deployment(template: JSON) -> JSON:
    spec = {"template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": spec,
    }


def _write_scale(stage: Stage, chance: random.Random) -> None:
    """Write replicas as the HPA controller does: through the scale subresource."""
    body = {"spec": {"replicas": chance.randint(3, 5)}}
    stage.patch("deployments", "web", body, subresource="scale")


def _annotate_template(stage: Stage, chance: random.Random) -> None:
    """Annotate it as a reloader does."""
    annotations = {"example.com/hash": str(chance.randrange(1000))}
    stage.patch_web({"spec": {"template": {"metadata": {"annotations": annotations}}}})


def _make_again(stage: Stage, _: random.Random) -> None:
    """Delete the Deployment and make it again, as it was."""
    live = stage.objects.get("deployments", "web")
    stage.objects.delete("deployments", "web")
    metadata = {key: live["metadata"].get(key) for key in ("name", "labels", "annotations")}
    stage.objects.create("deployments", {"metadata": metadata, "spec": live["spec"]})


def _own_by_force(stage: Stage, _: random.Random) -> None:
    """Apply the Deployment's template as it is under another manager's name, by force."""
    live = stage.objects.get("deployments", "web")
    metadata = {"labels": live["spec"]["template"]["metadata"]["labels"]}
    [container, *_] = live["spec"]["template"]["spec"]["containers"]
    containers = [{key: container[key] for key in ("name", "image", "env")}]
    template = {"metadata": metadata, "spec": {"containers": containers}}
    stage.patch("deployments", "web", _deployment(template), APPLY_PATCH)


def _replace_settings(stage: Stage, _: random.Random) -> None:
    data = {shop.VERSION: "hand", "mode": "hand"}
    patch = [{"op": "replace", "path": "/data", "value": data}]
    assert stage.objects.get("configmaps", shop.SETTINGS)["data"] != data
    stage.patch("configmaps", shop.SETTINGS, patch, JSON_PATCH)


def _hold_by_finalizer(stage: Stage, _: random.Random) -> None:
    """Of the ConfigMap that the attempt creates, if it does."""
    name = shop.CREATED if stage.objects.find("configmaps", shop.CREATED) else shop.SETTINGS
    stage.patch("configmaps", name, {"metadata": {"finalizers": [FINALIZER]}})


def _pod(stage: Stage, chance: random.Random) -> str:
    """Return the name of a pod that is there to stay."""
    pods = stage.objects.list_all("pods", "app=web")
    there = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    return str(chance.choice(there)["metadata"]["name"])


def _evict(stage: Stage, chance: random.Random) -> None:
    name = _pod(stage, chance)
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    stage.api.json("POST", f"{stage.objects.path('pods', name)}/eviction", body)


def _delete_replica_set(index: int) -> Do:
    """Delete one by its age: 0 is the oldest, -1 the newest, which is made again."""

    def do(stage: Stage, _: random.Random) -> None:
        found = stage.objects.list_all("replicasets", "app=web")
        by_age = sorted(found, key=lambda each: str(each["metadata"]["creationTimestamp"]))
        stage.objects.delete("replicasets", by_age[index]["metadata"]["name"])

    return do


def _hold_pods_back(stage: Stage, chance: random.Random) -> None:
    """Raise the partition: a broken pod below it stays."""
    rolling = {"partition": chance.randint(1, shop.DB_PODS)}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    stage.patch("statefulsets", shop.DB, {"spec": {"updateStrategy": strategy}})


# -- what is done ----------------------------------------------------------------------------------

_HAND = base64.b64encode(b"hand").decode()
_ON_DELETE: JSON = {"type": "OnDelete", "rollingUpdate": None}
_SIDECAR = _deployment({"spec": {"containers": [{"name": "mesh", "image": "mesh/proxy:1"}]}})
_NOT_READY = {"type": "Ready", "status": "False", "reason": "KubeletNotReady"}

_REPLICAS = (
    _action("scale-up", _scale("deployment/web", 4, 5), (), CONFLICT),
    _action("scale-down", _scale("deployment/web", 1), (), CONFLICT),
    _action("scale-to-zero", _scale("deployment/web", 0), [8], CONFLICT),
    _action("autoscaler-created", _create("horizontalpodautoscalers", autoscaler())),
    _action(
        "autoscaler-changed",
        _patch_spec("horizontalpodautoscalers", "web", maxReplicas=12),
        (),
        CONFLICT,
    ),
    # Where the manifest has it, it is not made again.
    _action("autoscaler-deleted", _delete("horizontalpodautoscalers", "web"), (), CONFLICT),
    _action("autoscaler-scales", _write_scale, (), [3]),
    # The field returns to its default of one.
    _action(
        "replicas-removed",
        _patch("deployments", "web", [{"op": "remove", "path": "/spec/replicas"}], JSON_PATCH),
        (),
        CONFLICT,
    ),
)
_TEMPLATE = (
    _action("set-image", _kubectl("set image deployment/web web=shop/web:hand"), [8], OVERTAKEN),
    _action(
        "set-variable-of-ours", _kubectl("set env deployment/web VERSION=hand"), [8], OVERTAKEN
    ),
    _action("set-variable-of-theirs", _kubectl("set env deployment/web DEBUG=1"), (), CONFLICT),
    _action("restart", _kubectl("rollout restart deployment/web"), (), CONFLICT),
    _action("undo-by-kubectl", _kubectl("rollout undo deployment/web"), [8], {0, *OVERTAKEN}),
    _action("template-annotated", _annotate_template, (), CONFLICT),
    _action("sidecar-injected", _patch("deployments", "web", _SIDECAR, APPLY_PATCH), (), CONFLICT),
)
_DEPLOYMENT = (
    _action("pause", _kubectl("rollout pause deployment/web"), [6], {6, *CONFLICT}),
    _action("resume", _patch_spec("deployments", "web", paused=None)),
    _action("labelled", _kubectl("label deployment/web team=blue --overwrite")),
    _action("annotated", _kubectl("annotate deployment/web example.com/note=seen --overwrite")),
    _action(
        "deadline-changed",
        lambda stage, chance: stage.patch_web(
            {"spec": {"progressDeadlineSeconds": chance.choice((2, 60))}}
        ),
        (),
        CONFLICT,
        may_fail=True,
    ),
    _action("deployment-deleted", _delete("deployments", "web"), [8], DELETED),
    _action("deployment-made-again", _make_again, [8], DELETED),
    _action("fields-owned-by-force", _own_by_force, [5, 8], CONFLICT),
    _action(
        "managed-fields-removed",
        _replace("deployments", "web", "/metadata/managedFields", [{}]),
        [5, 8],
        CONFLICT,
    ),
)
_MANIFESTS = (
    _action("kubectl-applies-the-old-version", _kubectl_apply(1), [8], OVERTAKEN),
    # Between the dry run and the first write it changes what was decided on: refused.
    _action("kubectl-applies-the-same-version", _kubectl_apply(shop.NEW), [5], [3]),
    # Before the attempt read anything it does not serve yet: a failure returns to the verified
    # set, whose Secret is not remembered.
    _action("kubectl-applies-a-third-version", _kubectl_apply(shop.THIRD), [8], OVERTAKEN | {5}),
    # All fields have two owners then.
    _action(
        "server-side-apply-of-the-same-version", _kubectl_apply(shop.NEW, "--server-side"), [5]
    ),
    # The server refuses what others own, so that kubectl may fail; what an earlier `kubectl apply`
    # had set is kubectl's own, and changes.
    _action(
        "server-side-apply-without-force",
        lambda stage, _: stage.kubectl("apply", "--server-side", "-f", stage.manifest(shop.THIRD)),
        [8],
        OVERTAKEN,
    ),
    _action(
        "server-side-apply-by-force",
        _kubectl_apply(shop.THIRD, "--server-side", "--force-conflicts"),
        [8],
        OVERTAKEN,
    ),
)
_CONFIGURATION = (
    _action(
        "key-of-ours-edited",
        _patch("configmaps", shop.SETTINGS, {"data": {"mode": "hand"}}),
        (),
        CONFLICT,
    ),
    _action("foreign-key-added", _patch("configmaps", shop.SETTINGS, {"data": {"theirs": "1"}})),
    _action("config-map-deleted", _delete("configmaps", shop.SETTINGS), early=[3]),
    _action("config-map-replaced", _replace_settings, (), CONFLICT),
    # Nobody can restore its data then.
    _action(
        "config-map-made-immutable",
        _patch("configmaps", shop.SETTINGS, {"immutable": True}),
        [5],
        [3],
    ),
    _action(
        "secret-changed",
        _patch("secrets", shop.KEYS, {"data": {shop.VERSION: _HAND}}),
        (),
        CONFLICT,
    ),
    _action(
        "service-changed",
        _replace("services", "web", "/spec/ports/0/targetPort", 9090),
        (),
        CONFLICT,
    ),
    # What was written before it goes back.
    _action("service-deleted", _delete("services", "web"), early=[3, 4]),
    _action("finalizer-put-on", _hold_by_finalizer),
)
_GATES = (
    _action("lease-deleted", _delete("leases", _LEASE)),
    _action("lease-taken", _patch_spec("leases", _LEASE, holderIdentity=FOREIGN_HOLDER), [8], [3]),
    _action("kept-secret-deleted", _delete("secrets", _LEASE)),
    _action("second-gate-applies-the-same", _gate_apply(shop.NEW), early=[3], runs_gate=True),
    _action("second-gate-applies-another", _gate_apply(shop.THIRD), early=[3], runs_gate=True),
    _action(
        "second-gate-undoes",
        lambda stage, _: stage.start_gate("undo", "web", *_BUDGETS),
        early=[3],
        runs_gate=True,
    ),
    _action(
        "second-gate-recovers",
        lambda stage, _: stage.start_gate("recover", "--lock-wait", "5s", "--output", "json"),
        early=[3],
        runs_gate=True,
    ),
    _action("terminated", lambda stage, _: stage.send(signal.SIGTERM), [143], [143]),
    _action("interrupted", lambda stage, _: stage.send(signal.SIGINT), [130], [130]),
    # What it leaves is recovered afterwards.
    _action("killed", lambda stage, _: stage.running.kill(), [0, 4, 5, 6, 8], [0, 3]),
)
_STATEFUL_SET = (
    # It frees the StatefulSet where that was the pod in the way.
    _action(
        "stateful-pod-deleted",
        lambda stage, chance: stage.objects.delete(
            "pods", f"{shop.DB}-{chance.randrange(shop.DB_PODS)}"
        ),
    ),
    _action("stateful-scaled", _scale("statefulset/db", 1, 3), (), CONFLICT),
    _action(
        "stateful-image-set", _kubectl("set image statefulset/db db=shop/db:hand"), [8], OVERTAKEN
    ),
    _action("stateful-restart", _kubectl("rollout restart statefulset/db"), (), CONFLICT),
    _action("stateful-partition-set", _hold_pods_back, [5], CONFLICT | {5}),
    _action(
        "stateful-on-delete",
        _patch_spec("statefulsets", shop.DB, updateStrategy=_ON_DELETE),
        [5],
        CONFLICT | {5},
    ),
    # Evictions of its pods are forbidden then.
    _action(
        "stateful-budget-created",
        _create("poddisruptionbudgets", disruption_budget(shop.DB, minAvailable=shop.DB_PODS)),
        [5],
        [5],
    ),
    _action("stateful-set-deleted", _delete("statefulsets", shop.DB), [8], DELETED),
)
_SURROUNDINGS = (
    _action("pod-deleted", lambda stage, chance: stage.objects.delete("pods", _pod(stage, chance))),
    _action("pod-evicted", _evict),
    _action("new-replica-set-deleted", _delete_replica_set(-1)),
    _action("old-replica-set-deleted", _delete_replica_set(0)),
    _action("node-cordoned", _patch_spec("nodes", "rig-0", unschedulable=True), is_global=True),
    _action(
        "node-not-ready",
        _patch("nodes", "rig-0", {"status": {"conditions": [_NOT_READY]}}, subresource="status"),
        is_global=True,
    ),
    # No room is left for another pod.
    _action(
        "quota-created", _create("resourcequotas", quota({"pods": "0"})), [4, 5], may_fail=True
    ),
    _action("api-server-held", lambda stage, _: stage.hold("api", 2.0), is_global=True),
    _action("controllers-held", lambda stage, _: stage.hold("controllers", 5.0), is_global=True),
)
_ALL = (
    *(*_REPLICAS, *_TEMPLATE, *_DEPLOYMENT, *_MANIFESTS, *_CONFIGURATION),
    *(*_GATES, *_STATEFUL_SET, *_SURROUNDINGS),
)

ACTIONS = {each.name: each for each in _ALL}
