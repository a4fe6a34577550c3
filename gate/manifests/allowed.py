"""Which kinds a manifest may hold: the usual ones, and those that `--allow-kind` names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gate.errors import UsageError
from gate.manifests.kinds import namesakes
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import ManifestError, shown

_FORM: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z0-9][A-Za-z0-9.-]*)?")


def require_allowed(manifest: Manifest, allow_kinds: Iterable[str] = ()) -> None:
    """Raise ManifestError naming every kind that is neither usual nor in `allow_kinds`.

    `KIND` names a kind of Kubernetes itself, `KIND.GROUP` any; case does not matter. The error's
    hint is the line of flags that allows them all.
    """
    allowed = {_checked(name).lower() for name in allow_kinds}
    refused: dict[str, list[ManifestObject]] = {}
    for item in manifest.objects:
        names = {_flag_value(item).lower(), f"{item.kind}.{item.group}".lower()}
        if not _usual(item) and not names & allowed:
            refused.setdefault(_flag_value(item), []).append(item)
    if not refused:
        return
    named = ", ".join(_described(name, items) for name, items in refused.items())
    flags = " ".join(f"--allow-kind {name}" for name in refused)
    first = next(iter(refused.values()))[0]
    problem = f"outside the usual kinds of a deployment: {named}"
    raise ManifestError(first.source, problem, hint=f"if they are meant: {flags}")


def _usual(item: ManifestObject) -> bool:
    kind = item.known_kind
    version = item.api_version.rpartition("/")[2]
    return kind is not None and kind.usual and version in kind.versions


def _flag_value(item: ManifestObject) -> str:
    """Return the shortest name that `--allow-kind` takes for the object's kind."""
    plain = item.known_kind is not None or not item.group
    return item.kind if plain else f"{item.kind}.{item.group}"


def _described(name: str, items: list[ManifestObject]) -> str:
    first = items[0]
    others = f" and {len(items) - 1} more" if len(items) > 1 else ""
    usual = next((kind.api_version for kind in namesakes(first.kind) if kind.usual), None)
    instead = f", {first.api_version} instead of {usual}" if usual else ""
    return f"{name} ({first.source}{others}{instead})"


def _checked(name: str) -> str:
    if not _FORM.fullmatch(name):
        hint = "as in --allow-kind Role --allow-kind Widget.example.com"
        raise UsageError(f"--allow-kind {shown(name, 80)}: not KIND or KIND.GROUP", hint=hint)
    return name
