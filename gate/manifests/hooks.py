"""Helm hooks in rendered charts: tests are left out, other hooks are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.manifests.body import value_at
from gate.manifests.manifest import ManifestObject, Skipped
from gate.manifests.source import ManifestError, escape_line

_ANNOTATION: Final = "helm.sh/hook"
_TESTS: Final = frozenset({"test", "test-success", "test-failure"})
_HINT: Final = "render with `helm template --no-hooks` and run them as steps of their own"


def without_tests(
    objects: Iterable[ManifestObject],
) -> tuple[list[ManifestObject], tuple[Skipped, ...]]:
    """Separate what is applied from test hooks; ManifestError names all hooks of other kinds.

    Helm runs a `pre-upgrade` Job before the rest and a `post-install` one after it, and waits for
    each: applying all at once would not do what the chart means.
    """
    kept: list[ManifestObject] = []
    skipped: list[Skipped] = []
    refused: list[ManifestObject] = []
    for item in objects:
        hooks = _hooks(item)
        if not hooks:
            kept.append(item)
        elif hooks <= _TESTS:
            skipped.append(Skipped(item, "a Helm test hook"))
        else:
            refused.append(item)
    if refused:
        named = ", ".join(f"{item} ({_list_hooks(item)}, {item.source})" for item in refused)
        raise ManifestError(refused[0].source, f"Helm hooks are not run: {named}", hint=_HINT)
    return kept, tuple(skipped)


def _hooks(item: ManifestObject) -> frozenset[str]:
    """Return the events that the object is a hook for: the annotation's comma-separated list."""
    value = value_at(item.body, "metadata", "annotations", _ANNOTATION)
    return frozenset(hook.strip() for hook in str(value or "").split(",") if hook.strip())


def _list_hooks(item: ManifestObject) -> str:
    return escape_line(", ".join(sorted(_hooks(item))), 80)
