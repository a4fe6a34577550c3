"""What to do about an object that the server's dry run rejects, as far as the rule is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.app.preflight.server_dry_run import Prepared
from gate.cluster_name import ClusterName
from gate.core.model.body import contains
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.naming import Naming
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.ssa import field_set
from gate.core.ssa.unions import value_at
from gate.errors import RefusedError
from gate.kube.answers.failures import FieldProblem, Invalid, Rejected
from gate.manifests.kinds.kind import Kind
from gate.manifests.kinds.registry import find
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.places import place_of

_ROLLING_UPDATE: Final = ("spec", "strategy", "rollingUpdate")
_IMMUTABLE: Final = ("field is immutable", "updates to statefulset spec for fields other than")


Fields = tuple[FieldProblem, ...]


def _explain_rejection(
    item: Prepared, error: RefusedError, cluster: ClusterName
) -> tuple[str, Fields]:
    """Return the hint for a rejected object, and the fields that it is about.

    If no rule is known, the hint is that of the error itself.
    """
    if isinstance(error, Invalid):
        for rule in (_of_recreate, _of_immutable):
            hint, fields = rule(item, error.fields)
            if hint:
                return hint, fields
        if not runs_once(item.ref):
            hint, fields = _of_merged_items(item, error.fields, cluster)
            if hint:
                return hint, fields
    return error.hint, ()


def _of_recreate(item: Prepared, problems: Fields) -> tuple[str, Fields]:
    """Explain that the manifest itself sets `rollingUpdate` with Recreate (apps/v1)."""
    path = ".".join(_ROLLING_UPDATE)
    refused = tuple(
        one for one in problems if one.path.startswith(path) and "Recreate" in one.message
    )
    if not refused or value_at(item.body, _ROLLING_UPDATE) is None:
        return "", ()
    return f"the strategy Recreate takes no {path}: leave it out of the manifest", refused


def _of_immutable(item: Prepared, problems: Fields) -> tuple[str, Fields]:
    """Name the fields that cannot change, and a workaround."""
    fixed = tuple(one for one in problems if any(words in one.message for words in _IMMUTABLE))
    if not fixed:
        return "", ()
    kind = find(item.ref.api_version.rpartition("/")[0], item.ref.kind)
    changed = _changed_fixed_fields(item, kind) if kind is not None else ()
    named = ", ".join(changed or dict.fromkeys(one.path for one in fixed))
    known = kind.update_limits.instead if kind is not None else ""
    other = known or "or delete the object first, if you can do without it meanwhile"
    return f"{named} of {item.ref} cannot change once it exists: keep what is live, {other}", fixed


def _of_merged_items(item: Prepared, problems: Fields, cluster: ClusterName) -> tuple[str, Fields]:
    """Name what others have put into a list that the server merges by its keys, as ports.

    An apply leaves those items there, so that the manifest's own may be rejected beside them. A dry
    run cannot take over first: only a change of the list removes them.
    """
    for path in dict.fromkeys(one.path.partition("[")[0] for one in problems if "[" in one.path):
        items = _find_items_of_others(item, path)
        if items:
            named = ", ".join(f"{name} ({manager})" for name, manager in items.items())
            words = ("kubectl", "edit", str(item.ref))
            edit = cluster.command(*words, namespace=item.ref.namespace)
            hint = (
                f"others have put into {path} what the manifest lacks, and an apply leaves it"
                f" there: {named}; make the list as in the manifest, then apply again: {edit}"
            )
            return hint, tuple(one for one in problems if one.path.startswith(f"{path}["))
    return "", ()


def _find_items_of_others(item: Prepared, path: str) -> dict[str, str]:
    """Return the items of a live list that the manifest lacks, each with its manager."""
    found: dict[str, str] = {}
    if item.live is None:
        return found
    live, parents = item.live.body.thaw(), path.split(".")
    for entry in item.live.thaw_managed_fields():
        if entry.get("manager") == FIELD_MANAGER:
            continue
        lacking = field_set.select_left_out(live, item.body, entry.get("fieldsV1"))
        for key in field_set.descend(lacking, *parents) or {}:
            fields: field_set.Fields = {key: {}}
            for step in reversed(parents):
                fields = {f"f:{step}": fields}
            found.update(dict.fromkeys(field_set.paths(fields), str(entry.get("manager"))))
    return found


def _changed_fixed_fields(item: Prepared, kind: Kind) -> tuple[str, ...]:
    """Return which of the fields that never change the manifest changes: the server may not say."""
    sent = item.body.get("spec") or {}
    live = item.live.body.thaw().get("spec") or {} if item.live is not None else {}
    return tuple(
        f"spec.{field}"
        for field in kind.update_limits.fixed_fields
        if field in sent and not contains(sent[field], live.get(field))
    )


_PATH: Final = r"((?:\.[^\s.\[\]]+|\[[^\]]*\])+)"
_UNKNOWN: Final = re.compile(_PATH + ": field not declared in schema")
"""How a server-side apply reports a field that is not in the schema (structured-merge-diff)."""
_MISTYPED: Final = re.compile(_PATH + ": ")
_ABOUT: Final = re.compile(r"\((?:[^/;()]*/)?([^/;()]+); ([^,;()]+), Kind=(\w+)\): ")
"""The object in the message: `(shop/web; apps/v1, Kind=Deployment)`."""


class ObjectRejected(RefusedError):
    """The server's dry run rejects an object; `paths` are the fields without a known hint."""

    def __init__(self, message: str, *, hint: str, ref: Ref, paths: tuple[str, ...]) -> None:
        """Take the message, the hint for other fields, and the paths in their order."""
        super().__init__(message, reason=Reason.REJECTED, hint=hint)
        self.ref = ref
        self.paths = paths


def rejection(
    item: Prepared, error: RefusedError, cluster: ClusterName, name: Naming = str
) -> RefusedError:
    """Return the refusal of an object, with its name if the server's words lack it, and a hint."""
    hint, explained = _explain_rejection(item, error, cluster)
    called = name(item.ref)
    # The server names no namespace: with several, its words do not say which object it is.
    named = item.ref.name in error.message and called == str(item.ref)
    text = error.message if named else f"{called}: {error.message}"
    if explained and runs_once(item.ref):
        fields = ", ".join(dict.fromkeys(one.path for one in explained))
        text = f"{called} is there already with another {fields}, which cannot change"
    if isinstance(error, Rejected):
        paths = _paths(error, explained)
        return ObjectRejected(text, hint=hint, ref=item.ref, paths=paths)
    if named and hint == error.hint:
        return error
    return RefusedError(text, reason=error.reason, hint=hint)


def runs_once(ref: Ref) -> bool:
    """Tell whether objects of a kind run to an end; the server quotes their whole template."""
    kind = find(ref.api_version.rpartition("/")[0], ref.kind)
    return kind is not None and kind.runs_once


def _paths(error: Rejected, explained: Fields) -> tuple[str, ...]:
    """Return the paths of the other rejected fields, each with a leading dot."""
    if isinstance(error, Invalid):
        return tuple(f".{one.path.lstrip('.')}" for one in error.fields if one not in explained)
    typed = _ABOUT.search(error.message)
    return tuple(_MISTYPED.findall(error.message[typed.end() :])) if typed is not None else ()


def with_places(error: RefusedError, manifest: Manifest) -> RefusedError:
    """Return a refusal with the manifest's line of each field without a known hint.

    If the server names no field, the place is that of the object.
    """
    if not isinstance(error, ObjectRejected):
        return error
    item = next((one for one in manifest.objects if _is(one, error.ref)), None)
    if item is None:
        return error
    hints = [*_hints_with_places(item, error), *([error.hint] if error.hint else [])]
    hint = "; ".join(hints) or f"correct what the server names, in {item.source}"
    return RefusedError(error.message, reason=error.reason, hint=hint)


def _hints_with_places(item: ManifestObject, error: ObjectRejected) -> Iterator[str]:
    unknown = dict.fromkeys(_UNKNOWN.findall(error.message))
    others = dict.fromkeys(path for path in error.paths if path not in unknown)
    for advice, paths in (
        ("correct or remove what does not exist:", unknown),
        ("correct what the server names, in", others),
    ):
        if paths:
            places = [f"{place_of(item, path)}: {path.lstrip('.')}" for path in paths]
            yield f"{advice} {', '.join(places)}"


def _is(item: ManifestObject, ref: Ref) -> bool:
    """Tell whether `ref` names this object; the object may leave its namespace to the run."""
    named = (item.api_version, item.kind, item.name) == (ref.api_version, ref.kind, ref.name)
    return named and item.namespace in (None, "", ref.namespace)
