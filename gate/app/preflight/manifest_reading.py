"""Reads a manifest's files as the settings say; sends nothing."""

from __future__ import annotations

from typing import BinaryIO

from gate.config import Settings
from gate.manifests.allowed import require_allowed
from gate.manifests.generated_names import with_generated_names
from gate.manifests.images import with_images
from gate.manifests.load import load
from gate.manifests.manifest import Manifest


def read_manifest(settings: Settings, stdin: BinaryIO, attempt_id: str) -> Manifest:
    """Read the manifest's files; UsageError for faults in them. Sends nothing.

    Names that the manifest leaves to the gate are chosen by the attempt.
    """
    manifest = with_generated_names(load(settings.file, stdin=stdin), attempt_id)
    require_allowed(manifest, settings.allow_kind)
    return with_images(manifest, settings.image)
