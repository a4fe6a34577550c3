"""Where a manifest goes: the cluster and the namespaces, before its objects are looked at."""

from __future__ import annotations

from gate.app.command_context import CommandContext
from gate.app.preflight import first_questions
from gate.app.runtime.masking import learn
from gate.app.runtime.session import Session
from gate.config import Settings
from gate.kube.failures import NotFound
from gate.kube.resource import Resource
from gate.manifests.body import value_at
from gate.manifests.kinds.registry import find
from gate.manifests.manifest import Manifest
from gate.manifests.namespaces import in_namespace
from gate.manifests.source import escape_line


def guard_manifest(context: CommandContext, manifest: Manifest) -> Manifest:
    """Announce the cluster, refuse a wrong one; return the manifest with namespaces filled in."""
    session, console = context.session, context.console
    learn(session.secrets, manifest)
    first_questions.announce(context, _known_namespaces(session, manifest))
    manifest = with_namespaces(session, context.settings, manifest)
    console.take_places({i.ref: (i.source.file, i.source.line) for i in manifest.objects})
    if manifest.unread:
        folders = ", ".join(map(escape_line, manifest.unread))
        console.warn(f"subfolders are skipped: {folders}; pass each with -f")
    namespaces = {item.ref.namespace for item in manifest.objects}
    first_questions.check_cluster(context, namespaces, created_namespaces(manifest))
    return manifest


def created_namespaces(manifest: Manifest) -> set[str]:
    """Return the namespaces that the manifest itself creates."""
    return {item.name for item in manifest.objects if item.kind == "Namespace"}


def with_namespaces(session: Session, settings: Settings, manifest: Manifest) -> Manifest:
    """Fill in the namespaces; for custom kinds the server says whether they are namespaced."""
    custom = {(item.api_version, item.kind) for item in manifest.objects if not item.known_kind}
    served = [_find_resource(session, manifest, *kind) for kind in sorted(custom)]
    return in_namespace(
        manifest,
        session.namespace,
        enforced=settings.namespace is not None,
        cluster_scoped={(kind.group, kind.kind) for kind in served if not kind.namespaced},
    )


def _known_namespaces(session: Session, manifest: Manifest) -> set[str]:
    """Return the objects' namespaces, as far as their kinds are known without the server."""
    return {
        item.namespace or session.namespace
        for item in manifest.objects
        if (kind := find(item.api_version.rpartition("/")[0], item.kind)) is None or kind.namespaced
    }


def _find_resource(session: Session, manifest: Manifest, api_version: str, kind: str) -> Resource:
    try:
        return session.resources.of(api_version, kind)
    except NotFound as error:
        defined = {value_at(item.body, "spec", "names", "kind") for item in manifest.objects}
        if kind not in defined:
            raise
        hint = f"the manifest defines {kind} itself: apply its definition first, on its own"
        raise NotFound(error.message, hint=hint) from error
