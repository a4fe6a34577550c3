"""Objects as a team would write them, with the pods' behaviour as an argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml

from sandbox.kubelet import behaviour as behaviours
from sandbox.kubelet import logs
from tests.cluster.kubelet.api import JSON


def deployment(
    name: str = "web",
    *,
    image: str = "shop/web:1",
    replicas: int | None = 4,
    behaviour: str = "",
    log: str = "",
    min_ready_seconds: int | None = None,
    progress_deadline_seconds: int | None = None,
    strategy: JSON | None = None,
    containers: Sequence[JSON] = (),
    init_containers: Sequence[JSON] = (),
    env: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    template_labels: Mapping[str, str] | None = None,
    template_annotations: Mapping[str, str] | None = None,
    namespace: str | None = None,
    scheduler_name: str = "",
    **spec: object,
) -> JSON:
    """Return a Deployment of one container `name`, and `containers` beside it.

    `behaviour` and `log` are what the pods are asked to do and to write (`tests.cluster.kubelet`);
    raises `BehaviourError` for what they cannot do. `spec` goes into the Deployment's spec.
    """
    behaviours.parse(behaviour)
    asked = {behaviours.ANNOTATION: behaviour, logs.ANNOTATION: log, **(template_annotations or {})}
    selector = {"app": name}
    pod = _without_none(
        containers=[container(name, image, env=env), *containers],
        initContainers=[*init_containers] or None,
        schedulerName=scheduler_name or None,
    )
    template_metadata = _without_none(
        labels={**selector, **(template_labels or {})},
        annotations={key: value for key, value in asked.items() if value} or None,
    )
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _without_none(
            name=name,
            namespace=namespace,
            labels=dict(labels) if labels else None,
            annotations=dict(annotations) if annotations else None,
        ),
        "spec": _without_none(
            replicas=replicas,
            minReadySeconds=min_ready_seconds,
            progressDeadlineSeconds=progress_deadline_seconds,
            strategy=strategy,
            selector={"matchLabels": selector},
            template={"metadata": template_metadata, "spec": pod},
        )
        | spec,
    }


def container(name: str, image: str, env: Mapping[str, str] | None = None) -> JSON:
    """Return a container with a readiness probe."""
    variables = [{"name": key, "value": value} for key, value in (env or {}).items()]
    return _without_none(
        name=name,
        image=image,
        ports=[{"containerPort": 8080}],
        env=variables or None,
        readinessProbe={"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1},
    )


def config_map(name: str, data: Mapping[str, str]) -> JSON:
    """Return a ConfigMap."""
    metadata = {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def yaml_text(*objects: JSON) -> str:
    """Return a manifest of several documents."""
    return yaml.safe_dump_all(objects, sort_keys=False)


def _without_none(**fields: object) -> JSON:
    return {name: value for name, value in fields.items() if value is not None}
