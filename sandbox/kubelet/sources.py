"""Who says what a pod is to do: the pod's own annotations, or else a source beside the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sandbox.json import JSON
from sandbox.kubelet import behaviour, logs
from sandbox.kubelet.behaviour import BehaviourError, Clause, Problem


class Source(Protocol):
    """What pods are asked to do that do not say it themselves; it may change with time."""

    @property
    def outranks_annotations(self) -> bool:
        """Whether what it asks of a pod goes before the pod's own annotation."""

    def clauses(self, pod: JSON) -> Sequence[Clause]:
        """Return what is asked of a pod now."""

    def log(self, image: str) -> str:
        """Return what a container of an image writes, as the annotation for logs has it."""


class Silence:
    """A source that asks for nothing: every pod is healthy."""

    outranks_annotations = False

    def clauses(self, _pod: JSON) -> Sequence[Clause]:
        """Return nothing."""
        return ()

    def log(self, _image: str) -> str:
        """Return nothing."""
        return ""


def clauses_of(pod: JSON, source: Source) -> tuple[Clause, ...]:
    """Return what is asked of a pod, most binding first. BehaviourError.

    Its own annotation outweighs the source, unless that outranks it.
    """
    asked = annotation(pod, behaviour.ANNOTATION)
    if not asked:
        return tuple(source.clauses(pod))
    clauses = behaviour.parse(asked)
    names = container_names(pod)
    strangers = {clause.container for clause in clauses} - {None, *names}
    if strangers:
        message = f"no such container: {', '.join(sorted(map(str, strangers)))}; there are"
        raise BehaviourError([Problem(0, f"{message} {', '.join(names)}")])
    return (*source.clauses(pod), *clauses) if source.outranks_annotations else clauses


def log_of(pod: JSON, image: str, source: Source) -> str:
    """Return what a pod's container of an image writes; the pod's annotation outweighs."""
    return annotation(pod, logs.ANNOTATION) or source.log(image)


def annotation(item: JSON, name: str) -> str:
    """Return an annotation of an object, empty where it has none."""
    return str((item["metadata"].get("annotations") or {}).get(name, ""))


def container_names(pod: JSON) -> list[str]:
    """Return the names of a pod's containers, ordinary ones first."""
    spec = pod["spec"]
    return [each["name"] for each in (*spec["containers"], *spec.get("initContainers", ()))]
