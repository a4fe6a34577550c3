"""What tests build or fetch once and keep, in folders that several processes share."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def kept_folder(name: str) -> Path:
    """Return the folder of the user's cache for what is kept under this name."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "rollout-gate" / name


@contextmanager
def locked(lock: Path) -> Iterator[None]:
    """Hold a lock file, made where it is not there; the kernel releases it with the process."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
