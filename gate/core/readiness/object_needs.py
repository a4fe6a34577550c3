"""What an object of a manifest cannot do without: other objects of the same manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.core.model.objects import Ref

_DEFINITION: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")
_API_SERVICE: Final = ("apiregistration.k8s.io", "APIService")
_NAMESPACE: Final = ("", "Namespace")
CLAIM: Final = ("", "PersistentVolumeClaim")

_KEPT: Final[Mapping[tuple[str, str], str]] = {
    _DEFINITION: "all objects of its kind would be deleted with it",
    _NAMESPACE: "everything in it would be deleted with it",
    CLAIM: "its data could be deleted with it",
}


def why_kept(ref: Ref) -> str:
    """Return why the gate never deletes an object of that kind, "" if it may."""
    return _KEPT.get(kind_key(ref), "")


def kind_key(ref: Ref) -> tuple[str, str]:
    """Return the group and name of an object's kind, whatever its version."""
    return ref.api_version.rpartition("/")[0], ref.kind


def find_own_needs(objects: Mapping[Ref, Mapping[str, Any]]) -> dict[Ref, tuple[Ref, ...]]:
    """Return what each object needs among `objects` (each with its body), those with needs alone.

    A custom resource needs its definition, an object its namespace, and one of an aggregated API
    the APIService, unless that is served by what this manifest installs: that can only be there
    later.
    """
    found = {ref: tuple(_needs(ref, objects)) for ref in objects}
    return {ref: needs for ref, needs in found.items() if needs}


def _needs(ref: Ref, objects: Mapping[Ref, Mapping[str, Any]]) -> Iterator[Ref]:
    for other, body in objects.items():
        spec = body.get("spec")
        spec = spec if isinstance(spec, Mapping) else {}
        match kind_key(other):
            case key if key == _NAMESPACE:
                is_needed = bool(ref.namespace) and other.name == ref.namespace
            case key if key == _DEFINITION:
                is_needed = defines(body, ref)
            case key if key == _API_SERVICE:
                served = f"{spec.get('group')}/{spec.get('version')}"
                is_needed = served == ref.api_version and not _is_backed(spec, objects)
            case _:
                is_needed = False
        if is_needed and other != ref:
            yield other


def is_definition(ref: Ref) -> bool:
    """Tell whether an object is a CustomResourceDefinition."""
    return kind_key(ref) == _DEFINITION


def defines(definition: Mapping[str, Any], ref: Ref) -> bool:
    """Tell whether a CustomResourceDefinition is that of an object's kind."""
    spec = definition.get("spec")
    names = spec.get("names") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(names, Mapping):
        return False
    return kind_key(ref) == (spec.get("group"), names.get("kind"))


def _is_backed(spec: Mapping[str, Any], objects: Mapping[Ref, Mapping[str, Any]]) -> bool:
    """Tell whether the Service behind an APIService is one of `objects`."""
    service = spec.get("service")
    if not isinstance(service, Mapping):
        return False
    backend = Ref("v1", "Service", str(service.get("namespace")), str(service.get("name")))
    return backend in objects


def uses_claim(body: Any, claim: Ref) -> bool:
    """Tell whether any pod that an object describes mounts a PersistentVolumeClaim by its name."""
    if isinstance(body, list):
        return any(uses_claim(one, claim) for one in body)
    if not isinstance(body, Mapping):
        return False
    volume = body.get("persistentVolumeClaim")
    if isinstance(volume, Mapping) and volume.get("claimName") == claim.name:
        return True
    return any(uses_claim(one, claim) for one in body.values())
