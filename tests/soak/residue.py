"""What this process holds on to: threads, descriptors, memory."""

from __future__ import annotations

import functools
import gc
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SETTLE_SECONDS = 20.0
_CACHED = type(functools.cache(len))
_PAGE_MEBIBYTES = os.sysconf("SC_PAGE_SIZE") / (1 << 20)


@dataclass(frozen=True, slots=True)
class Residue:
    """What there is at one moment."""

    threads: int
    descriptors: int
    mebibytes: float


def residue() -> Residue:
    """Look at this process, after its garbage was collected and its caches were emptied."""
    _empty_caches()
    gc.collect()
    resident = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    return Residue(threading.active_count(), descriptors, resident * _PAGE_MEBIBYTES)


def _empty_caches() -> None:
    """Empty what functions remember up to a bound: until it is full it grows, and is no leak."""
    for one in gc.get_objects():
        if isinstance(one, _CACHED) and one.cache_info().maxsize is not None:
            one.cache_clear()


def settled(before: Residue) -> Residue:
    """Wait for what ends by itself, and return what is left then."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (left := residue()).threads > before.threads or left.descriptors > before.descriptors:
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)  # daemon threads of an attempt end after its report
    return left


def growth(samples: list[Residue]) -> float:
    """Return by what share memory has grown, from the second fifth of the samples to the last."""
    fifth = max(1, len(samples) // 5)
    early, late = samples[fifth : 2 * fifth], samples[-fifth:]
    before, after = (median(each.mebibytes for each in part) for part in (early, late))
    return after / before - 1
