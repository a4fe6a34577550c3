"""The ConfigMaps and Secrets that a pod template refers to by name (core/v1 PodSpec)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.core.model.objects import Ref, Template

_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
_KINDS: Final = (
    ("configMap", "configmap"),
    ("configMapRef", "configmap"),
    ("configMapKeyRef", "configmap"),
    ("secret", "secret"),
    ("secretRef", "secret"),
    ("secretKeyRef", "secret"),
)
_API_KINDS: Final = {"configmap": "ConfigMap", "secret": "Secret"}


def configuration_names(template: Template) -> tuple[str, ...]:
    """Return what a template's volumes and environments refer to, as in `configmap/web-config`."""
    spec = template.body.thaw().get("spec") or {}
    found = (name for source in _sources(spec) for name in _names(source))
    return tuple(sorted(set(found)))


def configuration_refs(template: Template, namespace: str) -> tuple[Ref, ...]:
    """Return what `configuration_names` names, in a namespace."""
    named = (name.partition("/") for name in configuration_names(template))
    return tuple(Ref("v1", _API_KINDS[word], namespace, name) for word, _, name in named)


def _sources(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for volume in spec.get("volumes") or ():
        yield volume
        yield from (volume.get("projected") or {}).get("sources") or ()
    for key in _CONTAINERS:
        for container in spec.get(key) or ():
            yield from container.get("envFrom") or ()
            yield from (entry.get("valueFrom") or {} for entry in container.get("env") or ())


def _names(source: Mapping[str, Any]) -> Iterator[str]:
    for key, kind in _KINDS:
        referred = source.get(key)
        name = (referred.get("name") or referred.get("secretName")) if referred else None
        if name:
            yield f"{kind}/{name}"
