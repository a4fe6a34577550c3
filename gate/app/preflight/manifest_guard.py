"""Where a manifest goes: the cluster and the namespaces, before its objects are looked at."""

from __future__ import annotations

from gate.app.command_context import CommandContext
from gate.app.preflight import first_questions
from gate.app.runtime.masking import learn
from gate.app.runtime.session import Session
from gate.config import Settings
from gate.core.model.objects import Ref
from gate.core.readiness.object_needs import defines, is_definition
from gate.kube.answers.failures import NotFound
from gate.kube.kinds.resource import Resource, check_segment
from gate.manifests.body import value_at
from gate.manifests.kinds.registry import find
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.namespaces import in_namespace
from gate.manifests.source import escape_line


def guard_manifest(context: CommandContext, manifest: Manifest) -> Manifest:
    """Announce the cluster, refuse a wrong one; return the manifest with namespaces filled in."""
    session, console = context.session, context.console
    learn(session.secrets, manifest)
    first_questions.announce(context, _known_namespaces(context, manifest))
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


def _known_namespaces(context: CommandContext, manifest: Manifest) -> set[str]:
    """Return the objects' namespaces, as far as their kinds are known without the server.

    That of the flag holds for all of them: an object that names another one is refused.
    """
    namespace, is_enforced = context.session.namespace, context.settings.namespace is not None
    return {
        namespace if is_enforced else item.namespace or namespace
        for item in manifest.objects
        if (kind := find(item.api_version.rpartition("/")[0], item.kind)) is None or kind.namespaced
    }


def _find_resource(session: Session, manifest: Manifest, api_version: str, kind: str) -> Resource:
    """Return where a custom kind is served, or will be once the manifest has defined it."""
    for item in manifest.objects:
        found = _defined_resource(item, api_version, kind)
        if found is not None:
            session.resources.define(found)
    try:
        return session.resources.of(api_version, kind)
    except NotFound as error:
        wanted = Ref(api_version, kind, "", "")
        if not any(
            is_definition(one.ref) and defines(one.body, wanted) for one in manifest.objects
        ):
            raise
        hint = f"the manifest's own definition of {kind} serves no {api_version}"
        raise NotFound(error.message, hint=hint) from error


def _defined_resource(item: ManifestObject, api_version: str, kind: str) -> Resource | None:
    """Return the resource that a CustomResourceDefinition makes of a kind, None if it is another's.

    What is wrong with a definition, the server says.
    """
    group, _, version = api_version.rpartition("/")
    if not is_definition(item.ref) or not defines(item.body, Ref(api_version, kind, "", "")):
        return None
    versions = value_at(item.body, "spec", "versions")
    named = [one for one in versions if isinstance(one, dict)] if isinstance(versions, list) else []
    plural = value_at(item.body, "spec", "names", "plural")
    is_served = any(one.get("name") == version and one.get("served") for one in named)
    if not is_served or not isinstance(plural, str):
        return None
    namespaced = value_at(item.body, "spec", "scope") != "Cluster"
    return Resource(group, version, kind, check_segment(plural), namespaced=namespaced)
