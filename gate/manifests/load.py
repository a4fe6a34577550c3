"""Load a manifest from paths: the only entry point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from gate.manifests.bounds import DEFAULT_LIMITS, Budget, Limits
from gate.manifests.documents import documents
from gate.manifests.files import STDIN, read_all, unread_folders
from gate.manifests.hooks import without_tests
from gate.manifests.manifest import Manifest, ManifestObject, in_order, refuse_duplicates
from gate.manifests.objects import objects
from gate.manifests.phases import refuse_wrong_annotations
from gate.manifests.source import ManifestError, Source


def load(
    paths: Sequence[str], *, stdin: BinaryIO | None = None, limits: Limits = DEFAULT_LIMITS
) -> Manifest:
    """Read files, folders and `-` (stdin) into one manifest, in the order of application.

    Raises UsageError, or its subclass ManifestError with the place, for whatever cannot be read,
    is too large, is not YAML or JSON, or lacks a valid identity. Namespaces are left as written:
    `gate.manifests.namespaces.in_namespace` fills in missing ones.
    """
    budget = Budget(limits)
    found: list[ManifestObject] = []
    for file, content in read_all(paths, stdin=stdin, budget=budget):
        for root in documents(file, content, budget):
            found.extend(objects(root))
    kept, skipped = without_tests(found)
    if not kept:
        raise _empty(paths, nothing_but_tests=bool(skipped))
    refuse_duplicates(kept)
    refuse_wrong_annotations(kept)
    return Manifest(in_order(kept), skipped, tuple(unread_folders(paths)))


def _empty(paths: Sequence[str], *, nothing_but_tests: bool) -> ManifestError:
    at = Source(", ".join("<stdin>" if path == STDIN else path for path in paths))
    if nothing_but_tests:
        return ManifestError(at, "holds Helm tests and nothing to apply")
    hint = "did the command before the pipe fail?" if STDIN in paths else ""
    return ManifestError(at, "holds no Kubernetes object", hint=hint)
