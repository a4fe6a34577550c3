"""Which kinds a manifest may hold: the usual ones, and those that `--allow-kind` names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gate.errors import UsageError
from gate.manifests.kinds.kind import Kind
from gate.manifests.kinds.registry import KINDS, namesakes
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import ManifestError, Source, escape_line

_FORMER_GROUP: Final = "extensions"
"""The API group of Deployment, Ingress and others before Kubernetes 1.16 and 1.22."""
_GROUPS: Final = frozenset(kind.group for kind in KINDS)
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
    firsts = [items[0] for items in refused.values()]
    at = firsts[0].source
    named = ", ".join(_describe_items(name, items, at) for name, items in refused.items())
    flags = [
        f"--allow-kind {name}" for name, items in refused.items() if not _is_misplaced(items[0])
    ]
    meant = "; ".join(filter(None, (_correction(item, at) for item in firsts)))
    admitted = f"to apply {'it' if len(flags) == 1 else 'them'} all the same: {' '.join(flags)}"
    problem = f"not among the kinds that are usually deployed: {named}"
    hint = "; ".join(filter(None, (meant, admitted if flags else "")))
    raise ManifestError(at, problem, hint=hint)


def _is_misplaced(item: ManifestObject) -> bool:
    """Tell whether it is a usual kind in an API version of Kubernetes that no server has it in.

    Servers have dropped that version, or it is that of other kinds. Custom kinds are in no such
    group.
    """
    usual = _usual_namesake(item)
    if usual is None or item.known_kind not in (usual, None):
        return False
    return item.group == _FORMER_GROUP or item.group in _GROUPS


def _usual_namesake(item: ManifestObject) -> Kind | None:
    return next((kind for kind in namesakes(item.kind) if kind.usual), None)


def _correction(item: ManifestObject, at: Source) -> str:
    """Suggest what may be meant: the right API version, or a usual kind with a similar name."""
    usual = _usual_namesake(item)
    if usual is not None:
        where = _elsewhere(item, at)
        return f"write apiVersion: {usual.api_version}{where}" if _is_misplaced(item) else ""
    if item.known_kind is not None:
        return ""
    from difflib import get_close_matches

    names = [kind.name for kind in KINDS if kind.usual and kind.group == item.group]
    guess = next(iter(get_close_matches(item.kind, names, n=1)), "")
    return f"did you mean {guess}?{_elsewhere(item, at)}" if guess else ""


def _elsewhere(item: ManifestObject, at: Source) -> str:
    """Name an object's place, unless it is the one that begins the message."""
    return f" ({item.source})" if item.source != at else ""


def _usual(item: ManifestObject) -> bool:
    kind = item.known_kind
    version = item.api_version.rpartition("/")[2]
    return kind is not None and kind.usual and version in kind.versions


def _flag_value(item: ManifestObject) -> str:
    """Return the shortest name that `--allow-kind` takes for the object's kind."""
    plain = item.known_kind is not None or not item.group
    return item.kind if plain else f"{item.kind}.{item.group}"


def _describe_items(name: str, items: list[ManifestObject], at: Source) -> str:
    first = items[0]
    place = str(first.source) if first.source != at else ""
    others = f"and {len(items) - 1} more" if len(items) > 1 else ""
    usual = _usual_namesake(first)
    instead = f"{first.api_version} instead of {usual.api_version}" if usual is not None else ""
    details = ", ".join(filter(None, (f"{place} {others}".strip(), instead)))
    return f"{name} ({details})" if details else name


def _check_kind_name(name: str) -> str:
    if not _FORM.fullmatch(name):
        hint = "as in --allow-kind Role --allow-kind Widget.example.com"
        raise UsageError(f"--allow-kind {escape_line(name, 80)}: not KIND or KIND.GROUP", hint=hint)
    return name
