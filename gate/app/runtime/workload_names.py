"""Which workload a name means that somebody gave to a command, and what names it in turn."""

from __future__ import annotations

from gate.core.model.objects import Ref
from gate.errors import UsageError
from gate.kube.kinds.registry import DEFAULT, parse_name


def workload_ref(namespace: str, name: str) -> Ref:
    """Return the workload of a name as in `sts/db`; a name alone means one of the default kind.

    UsageError for a kind that is not judged.
    """
    kind, bare = parse_name(name)
    if kind is None:
        word = name.removesuffix(f"/{bare}")
        raise UsageError(f"{name}: there is no kind {word} whose rollouts are judged")
    resource = kind.watched.resource
    return Ref(resource.api_version, resource.kind, namespace, bare)


def argument_of(ref: Ref) -> str:
    """Return what names a workload on the command line: with its kind unless the name means it."""
    return ref.name if ref.kind == DEFAULT.watched.resource.kind else str(ref)
