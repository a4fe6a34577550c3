"""Puts a file in place: whole or not at all, and never in the place of a device."""

from __future__ import annotations

import os
from pathlib import Path


def put(path: Path, data: bytes) -> None:
    """Let `path` hold `data`; OSError.

    A reader never sees half a file. A pipe or a device, /dev/stdout among them, is written to as
    it is. The file is readable as the umask says, and it is made beside its place under a name
    that ends in `.tmp`.
    """
    if is_stream(path):
        with path.open("ab") as stream:
            stream.write(data)
    else:
        _replace(path.resolve(), data)


def is_stream(path: Path) -> bool:
    """Tell whether `path` is to be written to as it is.

    Links below /dev and /proc name open files: a new file must not take their place.
    """
    named = path.absolute().parts[1:2] in (("dev",), ("proc",))
    return named or (path.exists() and not path.is_file())


def _replace(target: Path, data: bytes) -> None:
    scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        scratch.write_bytes(data)
        scratch.replace(target)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise
