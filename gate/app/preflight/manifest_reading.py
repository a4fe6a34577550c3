"""Reads a manifest's files as the settings say; sends nothing."""

from __future__ import annotations

from typing import BinaryIO

from gate import log
from gate.config import Settings
from gate.manifests.allowed import require_allowed
from gate.manifests.files import STDIN
from gate.manifests.generated_names import with_generated_names
from gate.manifests.images import with_images
from gate.manifests.load import load
from gate.manifests.manifest import Manifest


def read_manifest(settings: Settings, stdin: BinaryIO, attempt_id: str) -> Manifest:
    """Read the manifest's files; UsageError for faults in them. Sends nothing.

    Names that the manifest leaves to the gate are chosen by the attempt.
    """
    say_if_typed(settings, stdin)
    manifest = with_generated_names(load(settings.file, stdin=stdin), attempt_id)
    require_allowed(manifest, settings.allow_kind)
    return with_images(manifest, settings.image)


def say_if_typed(settings: Settings, stdin: BinaryIO) -> None:
    """Say that the manifest is awaited from a terminal: nothing else shows that the gate waits."""
    if STDIN in settings.file and stdin.isatty():
        log.info("manifest", text="read from the terminal: type or paste it; Ctrl-D ends it")
