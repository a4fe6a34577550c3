"""Environment values of a pod template, taken out where others may read them, and put back.

An environment value may be a password. A Lease is readable by more people than a ReplicaSet, so
what is remembered there holds no values; the ReplicaSet of the same template still has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.core.body import Body
from gate.core.objects import Template

_TAKEN_OUT: Final = "rollout-gate/value-left-out"
_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def without_values(body: Body) -> Body:
    """Return a workload's body with each `value` of `env` marked as left out."""
    value = body.thaw()
    for entry in _entries(_template_of(value)):
        if "value" in entry:
            del entry["value"]
            entry[_TAKEN_OUT] = True
    return Body.of(value)


def with_values(body: Body, source: Template | None) -> Body | None:
    """Return the body with the values that `source` has; None where one cannot be had.

    `source` is the pod template that the body makes, as its ReplicaSet has it.
    """
    value = body.thaw()
    known = {} if source is None else _values(source.body.thaw())
    for container, entry in _named_entries(_template_of(value)):
        if entry.pop(_TAKEN_OUT, None) is None:
            continue
        name = (container, str(entry.get("name")))
        if name not in known:
            return None
        entry["value"] = known[name]
    return Body.of(value)


def _values(template: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """Return the values by the names of container and variable; the last of a name wins."""
    return {
        (container, str(entry.get("name"))): entry.get("value", "")
        for container, entry in _named_entries(template)
        if "valueFrom" not in entry
    }


def _template_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = value.get("spec")
    template = spec.get("template") if isinstance(spec, Mapping) else None
    return template if isinstance(template, Mapping) else {}


def _entries(template: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (entry for _, entry in _named_entries(template))


def _named_entries(template: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each entry of `env` with its container's name."""
    spec = template.get("spec")
    for key in _LISTS if isinstance(spec, Mapping) else ():
        for container in spec.get(key) or ():  # type: ignore[union-attr]
            for entry in container.get("env") or ():
                yield str(container.get("name")), entry
