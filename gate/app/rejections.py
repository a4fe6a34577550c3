"""What to do about an object that the server's dry run finds invalid, where the rule is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gate.app.applying import Prepared
from gate.core.unions import value_at
from gate.errors import RefusedError
from gate.kube.failures import FieldProblem, Invalid
from gate.manifests.manifest import Manifest
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


_UNKNOWN: Final = re.compile(r"((?:\.[^\s.\[\]]+|\[[^\]]*\])+): field not declared in schema")
"""How a server-side apply names a field that the schema does not have (structured-merge-diff)."""
_ABOUT: Final = re.compile(r"\((?:[^/;()]*/)?([^/;()]+); ([^,;()]+), Kind=(\w+)\)")
"""What it is about: `(shop/web; apps/v1, Kind=Deployment)`."""


def with_places(error: RefusedError, manifest: Manifest) -> RefusedError:
    """Return a refusal with the manifest's lines of the fields that the server does not know."""
    about = _ABOUT.search(error.message)
    if about is None:
        return error
    named = (about[1], about[2], about[3])
    places = [
        f"{place_of(item, path)}: {path.lstrip('.')}"
        for item in manifest.objects
        if (item.name, item.api_version, item.kind) == named
        for path in _UNKNOWN.findall(error.message)
    ]
    if not places:
        return error
    hint = f"no such field; correct or leave out {', '.join(dict.fromkeys(places))}"
    return RefusedError(error.message, reason=error.reason, hint=hint)
