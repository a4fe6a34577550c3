"""Metrics as a file for the node exporter's textfile collector."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

SUFFIX: Final = ".prom"
"""The collector reads files of this name alone (node_exporter, `textfile.go`)."""


def write_textfile(path: Path, text: bytes) -> None:
    """Put `text` in place of the file, whole or not at all; OSError.

    It is made beside the file, under a name that the collector does not read, and readable as the
    umask says: the collector is another user.
    """
    target = path.resolve()
    scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        scratch.write_bytes(text)
        scratch.replace(target)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise
