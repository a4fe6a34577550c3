"""Which workloads `verify` is about, by name or by labels, and the rights to look at them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import workload_ref
from gate.cluster_name import ClusterName
from gate.core.kinds.registry import kinds_that_last
from gate.core.model.objects import Ref, Workload
from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.kube.kinds import registry
from gate.kube.kinds.kind import WorkloadResources
from gate.kube.paths.label_selector import find_wrong_term
from gate.kube.reads.lists import list_all
from gate.kube.rights.access import Permission, following, looking_around
from gate.manifests.source import escape_line

_LASTING: Final = frozenset(kind.name for kind in kinds_that_last())


def require_selector(selector: str | None) -> None:
    """Raise UsageError for a label selector that no server can parse, before asking one."""
    term = find_wrong_term(selector) if selector is not None else None
    if term is not None:
        hint = "as in -l app=web, or -l 'app in (web, api),tier!=test'"
        raise UsageError(f"-l: no label selector: {escape_line(term, 60)!a}", hint=hint)


def needed_rights(namespace: str, names: tuple[str, ...], selector: str | None) -> set[Permission]:
    """Return the rights to follow what is named, and whatever a selector may find."""
    kinds = _kinds(namespace, names, selector)
    return {right for kind in kinds for right in following(namespace, kind)}


def useful_rights(
    namespace: str, names: tuple[str, ...], selector: str | None
) -> Iterator[Permission]:
    """Return the rights without which a verdict is stricter: to look at nodes."""
    return looking_around(_kinds(namespace, names, selector))


def name_rights(namespace: str, names: tuple[str, ...], selector: str | None) -> str:
    """Return what the rights are for, with the kinds unless they are what a name alone means.

    Rights for other kinds under the same name would take these away (`gate.kube.rights.role`).
    """
    kinds = _kinds(namespace, names, selector)
    if kinds == (registry.DEFAULT,):
        return "verify"
    return "-".join(["verify", *(kind.watched.kind.lower() for kind in kinds)])


def advise_names(
    cluster: ClusterName, namespace: str, selector: str | None, missing: Collection[Permission]
) -> str:
    """Return how to verify by name what may be followed, where a selector takes more rights.

    "" without a selector, and where no kind may be followed.
    """
    allowed = [one for one in _lasting() if not following(namespace, one) & {*missing}]
    if selector is None or not allowed:
        return ""
    words = ["rollout-gate", "verify", f"{allowed[0].words[0]}/NAME"]
    text = "with -l no kind may go unseen; by name the rights of its own kind are enough"
    return f"{text}: {cluster.command(*words, namespace=namespace)}"


def find_workloads(session: Session, names: tuple[str, ...], selector: str | None) -> set[Ref]:
    """Return what is named, and what has the labels; RefusedError if there is nothing."""
    namespace = session.namespace
    refs = {workload_ref(namespace, name) for name in names}
    if selector:
        refs.update(_iter_selected(session, selector))
    if refs:
        return refs
    *others, last = (f"{kind.watched.kind}" for kind in _lasting())
    raise RefusedError(
        f"no {', '.join(others)} or {last} in namespace {namespace} has the labels {selector}",
        reason=Reason.NOT_FOUND,
        hint="a workload is found by labels of its own, not of its pods; is the namespace right?"
        " -n NAMESPACE",
    )


def _kinds(
    namespace: str, names: tuple[str, ...], selector: str | None
) -> tuple[WorkloadResources, ...]:
    named = {registry.workload_of(workload_ref(namespace, name)) for name in names}
    selectable = _lasting() if selector else ()
    return tuple(kind for kind in registry.WORKLOADS if kind in named or kind in selectable)


def _lasting() -> tuple[WorkloadResources, ...]:
    """Return the kinds that a selector finds: a Job has no version to be verified."""
    return tuple(one for one in registry.WORKLOADS if one.watched.kind in _LASTING)


def _iter_selected(session: Session, selector: str) -> Iterator[Ref]:
    selection = (("labelSelector", selector),)
    for kind in _lasting():
        listing = list_all(session.client, kind.watched.kind, session.namespace, selection)
        yield from (one.ref for one in listing.objects if isinstance(one, Workload))
