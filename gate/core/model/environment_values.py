"""What a remembered body lacks of its pod template, and its revision still has.

An environment value may be a password. A Lease is readable by more people than a ReplicaSet, so a
Lease remembers no values; the ReplicaSet of the same template still has them. And of an image that
somebody else had set, as by `kubectl set image`, our manager applied nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.core.model.body import Body
from gate.core.model.objects import Template

_TAKEN_OUT: Final = "rollout-gate/value-left-out"


def without_values(body: Body) -> Body:
    """Return a body with each `value` of `env` marked as left out, wherever its pods are."""
    value = body.thaw()
    for _, entry in _variables(value):
        if "value" in entry:
            del entry["value"]
            entry[_TAKEN_OUT] = True
    return Body.of(value)


def with_values(body: Body, source: Template | None) -> Body | None:
    """Return the body with the values and images that `source` has; None if a value is missing.

    `source` is the pod template that the body produces, as its ReplicaSet has it.
    """
    value = body.thaw()
    if source is not None:
        _put_images(value, source)
    known = {} if source is None else _values(source.body.thaw())
    for container, entry in _variables(value):
        if entry.pop(_TAKEN_OUT, None) is None:
            continue
        name = (container, str(entry.get("name")))
        if name not in known:
            return None
        entry["value"] = known[name]
    return Body.of(value)


def names_images(body: Body) -> bool:
    """Tell whether the body of a workload names the image of each of its containers."""
    return all("image" in container for container in _containers(body.thaw()))


def _put_images(workload: Mapping[str, Any], source: Template) -> None:
    """Put an image into each container of a workload that names none, as its template has it."""
    template = {"spec": {"template": source.body.thaw()}}
    images = {one["name"]: one.get("image") for one in _containers(template) if "name" in one}
    for container in _containers(workload):
        if "image" not in container and images.get(container.get("name")):
            container["image"] = images[container["name"]]


def _containers(workload: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return the containers of a workload's pod template, none of what has no such template."""
    pods = ((workload.get("spec") or {}).get("template") or {}).get("spec") or {}
    return (*(pods.get("initContainers") or ()), *(pods.get("containers") or ()))


def _values(template: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """Return the values by the names of container and variable; the last of a name wins."""
    return {
        (container, str(entry.get("name"))): entry.get("value", "")
        for container, entry in _variables(template)
        if "valueFrom" not in entry
    }


def _variables(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each entry of `env` with its container's name.

    Pods are found in templates of workloads, in that of a CronJob's Jobs, and in kinds that are
    unknown here: what matters is the shape of a container.
    """
    if isinstance(value, Mapping):
        for entry in value.get("env") or () if isinstance(value.get("env"), list) else ():
            if isinstance(entry, dict) and "name" in entry:
                yield str(value.get("name")), entry
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _variables(inner)
