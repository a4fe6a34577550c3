"""The manifests of a trial: every object carries the version that it belongs to."""

from __future__ import annotations

import base64
from collections.abc import Collection

from tests.bed.scene import autoscaler, service
from tests.cluster import manifests, workloads
from tests.cluster.kubelet.api import JSON
from tests.interference.leaves import Path

DEADLINE_SECONDS = 8
VERSION = "version"
GOOD = "ready=0.1"
NEW, THIRD, NEXT, KEPT = 2, 3, 4, 9
"""The attempt's version, somebody else's, that of the apply afterwards, and a bad one before."""

SETTINGS, KEYS, WEB, API, CREATED, DB = "settings", "keys", "web", "api", "created", "db"
DB_PODS = 2
WORKLOADS = ("deployments", "statefulsets")
"""The resources whose rollouts are judged."""

MARKERS: dict[str, Path] = {
    "configmaps": ("data", VERSION),
    "secrets": ("data", VERSION),
    "services": ("metadata", "annotations", VERSION),
    "deployments": ("spec", "template", "metadata", "labels", VERSION),
    "statefulsets": ("spec", "template", "metadata", "labels", VERSION),
}
"""Where an object of each resource says which version it is of."""


def marker(resource: str, number: int) -> str:
    """Return what an object of a version says there."""
    return base64.b64encode(b"%d" % number).decode() if resource == "secrets" else str(number)


def version(
    number: int,
    *,
    parts: Collection[str] = (),
    replicas: int | None = 2,
    behaviour: str = GOOD,
    secret: int | None = None,
    db_pods: int = DB_PODS,
) -> list[JSON]:
    """Return all objects of a version; `parts` are those of `tests.interference.trial.Part`.

    Each version says how its pods behave, so that none keeps what another one's did. `secret` is
    the version of the Secret where it is another one.
    """
    objects = [
        manifests.config_map(SETTINGS, {VERSION: str(number), "mode": f"mode-{number}"}),
        _keys(number if secret is None else secret),
        _service(number),
        _deployment(WEB, number, replicas, behaviour),
    ]
    if "second-deployment" in parts:
        objects.append(_deployment(API, number, 1, GOOD))
    if "stateful-set" in parts:
        objects.append(_stateful_set(number, db_pods, behaviour))
    if "budget" in parts:
        objects.append(_budget())
    if "autoscaler" in parts:
        objects.append(autoscaler())
    if "created" in parts and number == NEW:
        objects.append(manifests.config_map(CREATED, {VERSION: str(number)}))
    return objects


def _keys(number: int) -> JSON:
    data = {VERSION: marker("secrets", number)}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": KEYS}, "data": data}


def _service(number: int) -> JSON:
    body = service()
    body["metadata"]["annotations"] = {VERSION: str(number)}
    return body


def _deployment(name: str, number: int, replicas: int | None, behaviour: str) -> JSON:
    body = manifests.deployment(
        name,
        image=f"shop/{name}:{number}",
        replicas=replicas,
        behaviour=behaviour,
        progress_deadline_seconds=DEADLINE_SECONDS,
        env={"VERSION": str(number)},
        template_labels={VERSION: str(number)},
    )
    sources = [{"configMapRef": {"name": SETTINGS}}, {"secretRef": {"name": KEYS}}]
    body["spec"]["template"]["spec"]["containers"][0]["envFrom"] = sources
    return body


def _stateful_set(number: int, replicas: int, behaviour: str) -> JSON:
    image = f"shop/{DB}:{number}"
    body = workloads.stateful_set(DB, image=image, replicas=replicas, behaviour=behaviour)
    body["spec"]["template"]["metadata"]["labels"][VERSION] = str(number)
    return body


def _budget() -> JSON:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": WEB}}}
    kind = "PodDisruptionBudget"
    return {"apiVersion": "policy/v1", "kind": kind, "metadata": {"name": WEB}, "spec": spec}
