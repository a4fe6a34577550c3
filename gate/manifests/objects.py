"""Turn nodes into objects: lists are taken apart, and each object has to say what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from gate.core.model.objects import LABEL, SUBDOMAIN
from gate.manifests.body import value_at
from gate.manifests.documents import ListNode, MapNode, Node, Scalar, plain
from gate.manifests.kinds.registry import find
from gate.manifests.manifest import ManifestObject
from gate.manifests.source import ManifestError, Source, escape_line

_HOST: Final = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
_API_VERSION: Final = re.compile(rf"(?:{_HOST}/)?[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?")
_KIND: Final = re.compile(r"[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,251}[A-Za-z0-9])?")
"""What any kind allows (roles have colons), but nothing with a special meaning in a URL's path."""
_PREFIX: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,251})?")
"""A prefix of a DNS label (RFC 1123); the name of a Job is one."""
_SUBDOMAIN_GROUPS: Final = ("", "apps", "batch")
"""API groups whose kinds allow no wider names (`NameIsDNSSubdomain`, `NameIsDNSLabel`)."""

_RBAC: Final = "rbac.authorization.k8s.io"
_SUBDOMAIN_HINT: Final = "small letters, digits, - and . between them"
_KUSTOMIZE_HINT: Final = "that file is for kustomize: kustomize build DIR | rollout-gate ... -f -"


def objects(root: Node) -> Iterator[ManifestObject]:
    """Yield the objects of a document; a `List` (or a typed list) stands for its items."""
    yield from _objects(root, {})


def _objects(node: Node, inherited: dict[str, str]) -> Iterator[ManifestObject]:
    if not isinstance(node, MapNode):
        what = "a list" if isinstance(node, ListNode) else "text"
        raise ManifestError(node.at, f"{what} where a Kubernetes object should stand")
    items = _items(node)
    if items is None:
        yield _object(node, inherited | plain(node))
        return
    own = {key: plain(node.entries[key]) for key in ("apiVersion", "kind") if key in node.entries}
    item_kind = own["kind"].removesuffix("List")
    for item in items:
        # kubectl: the items of a ConfigMapList need not repeat what they are.
        yield from _objects(item, own | {"kind": item_kind} if item_kind else {})


def _items(node: MapNode) -> tuple[Node, ...] | None:
    kind, items = node.entries.get("kind"), node.entries.get("items")
    if not isinstance(kind, Scalar) or not str(kind.value).endswith("List"):
        return None
    if isinstance(items, Scalar) and items.value is None:
        return ()
    return items.items if isinstance(items, ListNode) else None


def _object(node: MapNode, body: dict[str, Any]) -> ManifestObject:
    at = node.at
    generates = _generates_name(body)
    _refuse_missing(at, body, generates=generates)
    api_version = _text(at, body, _API_VERSION, "apiVersion")
    kind = _text(at, body, _KIND, "kind")
    form, key = (_PREFIX, "generateName") if generates else (_name_form(api_version), "name")
    name = _text(at, body, form, "metadata", key)
    namespace = None
    if value_at(body, "metadata", "namespace") not in (None, ""):
        namespace = _text(at, body, LABEL, "metadata", "namespace")
    if not generates:
        # The server makes no use of a prefix beside a name; nobody else is to take it for one.
        body["metadata"].pop("generateName", None)
    place = Source(at.file, at.line)
    if api_version.partition("/")[0] == _RBAC:
        _refuse_role_ref(place, body)
    prefix = name if generates else ""
    return ManifestObject(api_version, kind, namespace, name, body, place, node, prefix)


def _generates_name(body: dict[str, Any]) -> bool:
    """Tell whether it has the prefix of a name in place of one, and its kind may have that."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") not in (None, ""):
        return False
    kind = find(str(body.get("apiVersion")).rpartition("/")[0], str(body.get("kind")))
    return kind is not None and kind.runs_once and bool(metadata.get("generateName"))


def _name_form(api_version: str) -> re.Pattern[str]:
    return SUBDOMAIN if api_version.rpartition("/")[0] in _SUBDOMAIN_GROUPS else _NAME


def _refuse_missing(at: Source, body: dict[str, Any], *, generates: bool) -> None:
    named = () if generates else (("metadata", "name"),)
    paths = (("apiVersion",), ("kind",), *named)
    missing = [".".join(path) for path in paths if value_at(body, *path) in (None, "")]
    if not missing:
        return
    hint = ""
    if value_at(body, "metadata", "generateName"):
        hint = "metadata.generateName is for Jobs alone: others would pile up; give it a name"
    elif str(body.get("apiVersion")).startswith("kustomize.config.k8s.io/"):
        hint = _KUSTOMIZE_HINT
    raise ManifestError(Source(at.file, at.line), f"{', '.join(missing)} missing", hint=hint)


def _refuse_role_ref(at: Source, body: dict[str, Any]) -> None:
    """Refuse a binding whose role has no kind or name: a right to bind it would cover any role."""
    if body.get("roleRef") is None:
        return
    for path in (("roleRef", "kind"), ("roleRef", "name")):
        value = value_at(body, *path)
        if not isinstance(value, str) or not value:
            shown_value = escape_line(json.dumps(body["roleRef"]), 40)
            raise ManifestError(
                at, f"{'.'.join(path)} is no text or missing: roleRef is {shown_value}"
            )


def _text(at: Source, body: dict[str, Any], form: re.Pattern[str], *path: str) -> str:
    value, field = value_at(body, *path), ".".join(path)
    if not isinstance(value, str):
        problem = f"{field} is no text but {escape_line(json.dumps(value), 40)}"
        raise ManifestError(Source(at.file, at.line), problem, hint="put it in quotes")
    if not form.fullmatch(value):
        problem = f'{field} "{escape_line(value, 80)}" is not valid'
        hint = _SUBDOMAIN_HINT if form is SUBDOMAIN else ""
        raise ManifestError(Source(at.file, at.line), problem, hint=hint)
    return value
