"""The inputs that fuzzing found: `corpus/TARGET.txt`, one Python literal of bytes a line."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from tests.fuzz.targets import Target

FOLDER = Path(__file__).parent
FOUND = FOLDER / "found"
"""Where a search keeps what it finds, a folder a target; not in the repository."""


def read_corpus(name: str) -> list[bytes]:
    """Return the inputs that are kept for a target; none where there is no file."""
    path = _path(name)
    if not path.exists():
        return []
    lines = path.read_text(encoding="ascii").splitlines()
    entries = [ast.literal_eval(line) for line in lines]
    assert all(isinstance(entry, bytes) for entry in entries), f"{path}: an entry is no bytes"
    return entries


def write_corpus(name: str, entries: Iterable[bytes]) -> None:
    """Write the inputs of a target, the shortest first."""
    ordered = sorted(set(entries), key=lambda entry: (len(entry), entry))
    _path(name).write_text("".join(f"{entry!r}\n" for entry in ordered), encoding="ascii")


def lay_out(target: Target) -> Path:
    """Write a target's corpus and seeds into its folder of `FOUND`, for a search to begin with."""
    folder = FOUND / target.name
    folder.mkdir(parents=True, exist_ok=True)
    for number, entry in enumerate((*target.seeds, *read_corpus(target.name))):
        (folder / f"kept-{number}").write_bytes(entry)
    return folder


def _path(name: str) -> Path:
    return FOLDER / "corpus" / f"{name}.txt"
