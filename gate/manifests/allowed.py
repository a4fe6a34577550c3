"""Which kinds a manifest may hold: the usual ones, and those that `--allow-kind` names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gate.errors import UsageError
from gate.manifests.kinds.kind import Kind
from gate.manifests.kinds.registry import KINDS, namesakes
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import ManifestError, escape_line

_FORMER_GROUP: Final = "extensions"
"""The API group of Deployment, Ingress and others before Kubernetes 1.16 and 1.22."""
_FORM: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z0-9][A-Za-z0-9.-]*)?")


def require_allowed(manifest: Manifest, allow_kinds: Iterable[str] = ()) -> None:
    """Raise ManifestError naming every kind that is neither usual nor in `allow_kinds`.

    `KIND` names a built-in kind of Kubernetes, `KIND.GROUP` any kind; case does not matter. The
    error's hint suggests corrections, and the flags that allow what no correction fits.
    """
    allowed = {_check_kind_name(name).lower() for name in allow_kinds}
    refused: dict[str, list[ManifestObject]] = {}
    for item in manifest.objects:
        names = {_flag_value(item).lower(), f"{item.kind}.{item.group}".lower()}
        if not _usual(item) and not names & allowed:
            refused.setdefault(_flag_value(item), []).append(item)
    if not refused:
        return
    named = ", ".join(_describe_items(name, items) for name, items in refused.items())
    firsts = [items[0] for items in refused.values()]
    flags = [f"--allow-kind {name}" for name, items in refused.items() if not _is_old(items[0])]
    meant = "; ".join(filter(None, map(_correction, firsts)))
    admitted = f"if they are meant: {' '.join(flags)}" if flags else ""
    problem = f"outside the usual kinds of a deployment: {named}"
    hint = "; ".join(filter(None, (meant, admitted)))
    raise ManifestError(firsts[0].source, problem, hint=hint)


def _is_old(item: ManifestObject) -> bool:
    """Tell whether it is a usual kind in an API version that servers dropped, by its group."""
    usual = _usual_namesake(item)
    return usual is not None and item.group in (usual.group, _FORMER_GROUP)


def _usual_namesake(item: ManifestObject) -> Kind | None:
    return next((kind for kind in namesakes(item.kind) if kind.usual), None)


def _correction(item: ManifestObject) -> str:
    """Suggest what may be meant: the current API version, or a usual kind with a similar name."""
    usual = _usual_namesake(item)
    if usual is not None:
        return f"write apiVersion: {usual.api_version} ({item.source})" if _is_old(item) else ""
    if item.known_kind is not None:
        return ""
    from difflib import get_close_matches

    names = [kind.name for kind in KINDS if kind.usual and kind.group == item.group]
    guess = next(iter(get_close_matches(item.kind, names, n=1)), "")
    return f"did you mean {guess}? ({item.source})" if guess else ""


def _usual(item: ManifestObject) -> bool:
    kind = item.known_kind
    version = item.api_version.rpartition("/")[2]
    return kind is not None and kind.usual and version in kind.versions


def _flag_value(item: ManifestObject) -> str:
    """Return the shortest name that `--allow-kind` takes for the object's kind."""
    plain = item.known_kind is not None or not item.group
    return item.kind if plain else f"{item.kind}.{item.group}"


def _describe_items(name: str, items: list[ManifestObject]) -> str:
    first = items[0]
    others = f" and {len(items) - 1} more" if len(items) > 1 else ""
    usual = _usual_namesake(first)
    instead = f", {first.api_version} instead of {usual.api_version}" if usual is not None else ""
    return f"{name} ({first.source}{others}{instead})"


def _check_kind_name(name: str) -> str:
    if not _FORM.fullmatch(name):
        hint = "as in --allow-kind Role --allow-kind Widget.example.com"
        raise UsageError(f"--allow-kind {escape_line(name, 80)}: not KIND or KIND.GROUP", hint=hint)
    return name
