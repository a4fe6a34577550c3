"""What to do about an object that the server's dry run finds invalid, where the rule is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gate.app.preflight.server_dry_run import Prepared
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.ssa.unions import value_at
from gate.errors import RefusedError
from gate.kube.failures import FieldProblem, Invalid, Rejected
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.places import place_of

_ROLLING_UPDATE: Final = ("spec", "strategy", "rollingUpdate")
_IMMUTABLE: Final = ("field is immutable", "updates to statefulset spec for fields other than")
_REPLACED: Final[Mapping[str, str]] = {
    "Deployment": "or apply it under another name, and delete this one once that serves",
    "Job": "or give the Job another name: one that has run is not run again",
    "ConfigMap": "or give it another name, and refer to that in the pod template",
    "Secret": "or give it another name, and refer to that in the pod template",
    "StatefulSet": "or delete it first, which leaves its pods alone with --cascade=orphan",
}


def rejection_hint(item: Prepared, error: RefusedError) -> str:
    """Return the hint for an object that was rejected, "" where nothing is known about why."""
    if not isinstance(error, Invalid):
        return error.hint
    return _of_recreate(item, error.fields) or _of_immutable(item, error.fields) or error.hint


def _of_recreate(item: Prepared, problems: tuple[FieldProblem, ...]) -> str:
    """Say that the manifest itself gives Recreate a `rollingUpdate` (apps/v1)."""
    path = ".".join(_ROLLING_UPDATE)
    refused = any(one.path.startswith(path) and "Recreate" in one.message for one in problems)
    if not refused or value_at(item.body, _ROLLING_UPDATE) is None:
        return ""
    return f"the strategy Recreate takes no {path}: leave it out of the manifest"


def _of_immutable(item: Prepared, problems: tuple[FieldProblem, ...]) -> str:
    """Name the fields that cannot change, and what leads around them."""
    fixed = [one.path for one in problems if any(words in one.message for words in _IMMUTABLE)]
    if not fixed:
        return ""
    named = ", ".join(dict.fromkeys(fixed))
    other = _REPLACED.get(item.ref.kind, "or delete the object first, if it may be gone meanwhile")
    return f"{named} of {item.ref} cannot change once it exists: keep what is live, {other}"


_PATH: Final = r"((?:\.[^\s.\[\]]+|\[[^\]]*\])+)"
_UNKNOWN: Final = re.compile(_PATH + ": field not declared in schema")
"""How a server-side apply names a field that the schema does not have (structured-merge-diff)."""
_MISTYPED: Final = re.compile(_PATH + ": ")
_ABOUT: Final = re.compile(r"\((?:[^/;()]*/)?([^/;()]+); ([^,;()]+), Kind=(\w+)\): ")
"""What it is about: `(shop/web; apps/v1, Kind=Deployment)`."""


class ObjectRejected(RefusedError):
    """The server's dry run rejects an object: `paths` are the fields that it names."""

    def __init__(self, message: str, *, hint: str, ref: Ref, paths: tuple[str, ...]) -> None:
        """Take the line as it is told, and the paths in the server's order, each once."""
        super().__init__(message, reason=Reason.REJECTED, hint=hint)
        self.ref = ref
        self.paths = paths


def rejection(item: Prepared, error: RefusedError) -> RefusedError:
    """Return a refusal of an object, which names it where the server does not, with a hint."""
    hint = rejection_hint(item, error)
    named = item.ref.name in error.message
    told = error.message if named else f"{item.ref}: {error.message}"
    if isinstance(error, Rejected):
        paths = _paths(error)
        return ObjectRejected(told, hint=hint, ref=item.ref, paths=paths)
    if named and hint == error.hint:
        return error
    return RefusedError(told, reason=error.reason, hint=hint)


def _paths(error: Rejected) -> tuple[str, ...]:
    """Return the paths of the fields that a server did not accept, each with a leading dot."""
    if isinstance(error, Invalid):
        return tuple(f".{one.path.lstrip('.')}" for one in error.fields)
    typed = _ABOUT.search(error.message)
    return tuple(_MISTYPED.findall(error.message[typed.end() :])) if typed is not None else ()


def with_places(error: RefusedError, manifest: Manifest) -> RefusedError:
    """Return a refusal with the manifest's lines of what the server rejects, if no hint is known.

    Where the server names no field that has a place, it is the object's own.
    """
    if not isinstance(error, ObjectRejected) or error.hint:
        return error
    item = next((one for one in manifest.objects if _is(one, error.ref)), None)
    if item is None:
        return error
    unknown = _UNKNOWN.findall(error.message)
    paths = unknown or error.paths
    places = [f"{place_of(item, path)}: {path.lstrip('.')}" for path in dict.fromkeys(paths)]
    if unknown:
        hint = f"no such field; correct or leave out {', '.join(places)}"
    else:
        hint = f"mend what the server names, in {', '.join(places) or item.source}"
    return RefusedError(error.message, reason=error.reason, hint=hint)


def _is(item: ManifestObject, ref: Ref) -> bool:
    """Tell whether a reference is that of an object, which may leave its namespace to the run."""
    named = (item.api_version, item.kind, item.name) == (ref.api_version, ref.kind, ref.name)
    return named and item.namespace in (None, "", ref.namespace)
