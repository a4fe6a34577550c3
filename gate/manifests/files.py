"""Read files, folders and stdin, so that none can hang, fill the memory or lead elsewhere.

A folder means its `*.yaml`, `*.yml` and `*.json` files in the order of their names, without its
subfolders, as with `kubectl apply -f DIR`.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from gate.errors import UsageError
from gate.manifests.bounds import Budget
from gate.manifests.source import ManifestError, Source, escape_line

STDIN: Final = "-"
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Files that mark a folder as one for kustomize (its `RecognizedKustomizationFileNames`)."""
_LOOK_BYTES: Final = 64 * 1024
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_all(
    paths: Sequence[str], *, stdin: BinaryIO | None, budget: Budget
) -> Iterator[tuple[str, bytes]]:
    """Yield the name for messages and the bytes of each file, one at a time, within `budget`."""
    if not paths:
        raise UsageError("no manifest", hint="name files or folders with -f, or - for stdin")
    if paths.count(STDIN) > 1:
        raise UsageError("stdin can be read only once", hint="give -f - once")
    for path in paths:
        if path == STDIN:
            yield _from_stdin(stdin, budget)
        elif _URL.match(path):
            hint = "download it, look at it, and give the file"
            raise ManifestError(Source(path), "manifests are not fetched from URLs", hint=hint)
        else:
            yield from _from_path(path, budget)


def _from_stdin(stdin: BinaryIO | None, budget: Budget) -> tuple[str, bytes]:
    at = Source("<stdin>")
    if stdin is None:
        raise ManifestError(at, "there is no stdin to read from")
    try:
        return at.file, _read(stdin.read, at, budget)
    except (OSError, ValueError) as error:
        raise _unreadable(at, error) from error


def _from_path(path: str, budget: Budget) -> Iterator[tuple[str, bytes]]:
    at = Source(path)
    try:
        is_folder = os.path.isdir(path)  # noqa: PTH112 - Path("") is the current folder
        names = _inside(path) if is_folder else [path]
    except OSError as error:
        raise _unreadable(at, error) from error
    for name in names:
        yield name, _read_file(name, budget)


def _inside(folder: str) -> list[str]:
    """Return the manifest files of `folder`; ManifestError for a link out of it, or if it has none.

    A folder for kustomize is a ManifestError, too.
    """
    kustomization = next((name for name in _KUSTOMIZATIONS if _is_kustomize(folder, name)), None)
    if kustomization is not None:
        hint = f"kustomize build {shlex.quote(folder)} | rollout-gate ... -f -"
        raise ManifestError(Source(folder), f"{kustomization} is for kustomize", hint=hint)
    root = os.path.realpath(folder)
    entries = sorted(entry for entry in Path(folder).iterdir() if entry.suffix in _SUFFIXES)
    files = [str(entry) for entry in entries if not entry.is_dir()]
    for file in files:
        if not Path(os.path.realpath(file)).is_relative_to(root):
            problem = f"a link that leads out of {escape_line(folder)}"
            raise ManifestError(Source(file), problem, hint="name the file itself with -f")
    if not files:
        hint = "subfolders are not searched: name each with -f"
        raise ManifestError(Source(folder), "no *.yaml, *.yml or *.json file in it", hint=hint)
    return files


def _is_kustomize(folder: str, name: str) -> bool:
    """Tell whether kustomize has to build the folder; Flux's kind of that name is just applied."""
    file = Path(folder, name)
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return b"kustomize.toolkit.fluxcd.io" not in stream.read(_LOOK_BYTES)


def unread_folders(paths: Sequence[str]) -> Iterator[str]:
    """Yield the subfolders that hold manifests but were not read with their folder."""
    read = {os.path.realpath(path) for path in paths if path != STDIN}
    for path in paths:
        if path == STDIN or not os.path.isdir(path):  # noqa: PTH112 - Path("") is the current folder
            continue
        for entry in sorted(Path(path).iterdir()):
            if os.path.realpath(entry) not in read and _holds_manifests(entry):
                yield str(entry)


def _holds_manifests(folder: Path) -> bool:
    """Tell whether a path is a folder with manifest files; an unreadable one counts as not."""
    try:
        return folder.is_dir() and any(one.suffix in _SUFFIXES for one in folder.iterdir())
    except OSError:
        return False


def _read_file(file: str, budget: Budget) -> bytes:
    """Read a regular file; with O_NONBLOCK, so that opening a pipe without a writer returns."""
    at = Source(file)
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as stream:  # noqa: PTH123 - a descriptor
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _irregular(at, found.st_mode)
            if found.st_size > budget.next_file_bytes:
                budget.spend_bytes(found.st_size, at)
            return _read(stream.read, at, budget)
    except (OSError, ValueError) as error:
        raise _unreadable(at, error) from error


def _read(read: Callable[[int], bytes], at: Source, budget: Budget) -> bytes:
    """Read to the end, at most one byte beyond the budget."""
    most = budget.next_file_bytes + 1
    parts: list[bytes] = []
    while most > 0 and (part := read(min(most, 2**20))):
        parts.append(part)
        most -= len(part)
    content = b"".join(parts)
    budget.spend_bytes(len(content), at)
    return content


def _irregular(at: Source, mode: int) -> ManifestError:
    what = next((name for matches, name in _KINDS if matches(mode)), "no regular file")
    return ManifestError(at, f"is {what}, not a file", hint="pipe the manifest into -f -")


def _unreadable(at: Source, error: OSError | ValueError) -> ManifestError:
    if isinstance(error, FileNotFoundError):
        return ManifestError(at, "no such file or folder")
    if "\0" in at.file:  # Python words it differently from version to version
        return ManifestError(at, "cannot be read: a null byte in its name")
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ManifestError(at, f"cannot be read: {escape_line(why)}")
