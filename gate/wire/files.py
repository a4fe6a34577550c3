"""Puts files in place: whole or not at all, never through a link, never replacing a device."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path
from typing import BinaryIO, Final

from gate.pipes import append, open_nonblocking

_CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE: Final = 0o666
"""The mode that the umask is subtracted from."""
_NAME_BYTES: Final = 8


def put(path: Path, data: bytes) -> None:
    """Write `data` to `path`; OSError if that fails.

    A reader never sees half a file. A pipe or a device, /dev/stdout among them, is written to
    directly, as long as it accepts something every 2 s. A link is replaced, and its target is left
    alone: in a folder that others may write to, it could lead to any file of ours. The file's mode
    follows the umask; the file is made beside its place under a name that nobody can guess and that
    ends in `.tmp`.
    """
    if is_stream(path):
        append(path, data)
    else:
        _replace(path, data)


def open_new(path: Path) -> BinaryIO:
    """Open an empty file at `path` that grows in place; links, pipes and devices as with `put`."""
    if is_stream(path):
        descriptor = open_nonblocking(path, os.O_TRUNC)
        os.set_blocking(descriptor, True)  # its writer may block, and nobody waits for that
        return os.fdopen(descriptor, "wb")
    if path.is_symlink():
        _refuse_folder(path)
        path.unlink()
    return os.fdopen(os.open(path, _CREATE_FLAGS | os.O_TRUNC, _MODE), "wb")


def obstacle(path: Path) -> str | None:
    """Return why no file can be put at `path`, as far as can be seen without writing, or None."""
    try:
        if path.is_dir():
            return "is a folder"
        if is_stream(path) and path.exists():
            return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)
        folder = path.parent
        if not folder.is_dir():
            return f"there is no folder {folder}"
        if not os.access(folder, os.W_OK | os.X_OK):
            return f"the folder {folder} cannot be written to"
    except OSError as error:
        return error.strerror or str(error)
    return None


def is_stream(path: Path) -> bool:
    """Tell whether `path` is to be written to directly: a pipe, a device, an open file.

    Links below /dev/fd and /proc, and /dev/stdout and its like, name open files: a new file must
    not take their place. Any other link and any file can be replaced, in /dev/shm too, which
    everybody may write to.

    """
    if path.is_symlink():
        return _names_open_file(path)
    return path.exists() and not path.is_file()


def _names_open_file(link: Path) -> bool:
    folder = Path(os.path.realpath(link.parent))
    if folder == Path("/dev"):
        return link.name in {"stdin", "stdout", "stderr"}
    return any(folder.is_relative_to(place) for place in ("/dev/fd", "/proc"))


def _replace(target: Path, data: bytes) -> None:
    _refuse_folder(target)
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(_NAME_BYTES)}.tmp")
    descriptor = os.open(scratch, _CREATE_FLAGS | os.O_EXCL, _MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        scratch.replace(target)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise


def _refuse_folder(path: Path) -> None:
    """Refuse a link to a folder, which a rename would replace."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
