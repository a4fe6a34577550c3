"""Reads a manifest's files as the settings say; sends nothing."""

from __future__ import annotations

from typing import BinaryIO

from gate.config import Settings
from gate.manifests.allowed import require_allowed
from gate.manifests.images import with_images
from gate.manifests.load import load
from gate.manifests.manifest import Manifest


def read_manifest(settings: Settings, stdin: BinaryIO) -> Manifest:
    """Read the manifest's files; UsageError for faults in them. Sends nothing."""
    manifest = load(settings.file, stdin=stdin)
    require_allowed(manifest, settings.allow_kind)
    return with_images(manifest, settings.image)
