"""`python -m tests.fuzz TARGET [--seconds N]`: search for what breaks a reader, with Atheris.

It begins with the corpus of the target, which the fast tests go through, and keeps what it finds
in `tests/fuzz/found/TARGET`; `python -m tests.fuzz.minimise TARGET` takes what is worth it over.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.corpus import FOLDER, lay_out
from tests.fuzz.targets import TARGETS

ROOMS = ["gate.manifests", "gate.wire", "gate.sources", "gate.core"]
MOST_MEBIBYTES = 200
"""Above what the process has loaded when it begins."""
MOST_SECONDS = 1.0
"""Of processor time: what the machine does besides counts against no reader."""
STUCK_SECONDS = 60
"""Of the clock on the wall, for what never comes back to be measured."""


def timed(run: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Return a target that also breaks where one input takes too much processor time."""

    def measured(data: bytes) -> None:
        began = time.thread_time()
        run(data)
        took = time.thread_time() - began
        assert took <= MOST_SECONDS, f"{took:.2f} s of processor time"

    return measured


def _loaded_mebibytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 // 2**20


def main() -> None:
    """Fuzz one target; ends with 0 where nothing broke, otherwise with the input that did."""
    import atheris

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    asked = parser.parse_args()
    with atheris.instrument_imports(include=ROOMS):
        target = TARGETS[asked.target]
    atheris.instrument_all()
    options = [
        sys.argv[0],
        str(lay_out(target)),
        f"-max_total_time={asked.seconds}",
        "-max_len=16384",
        f"-timeout={STUCK_SECONDS}",
        f"-rss_limit_mb={_loaded_mebibytes() + MOST_MEBIBYTES}",
        f"-artifact_prefix={FOLDER}/broken-{target.name}-",
        "-print_final_stats=1",
    ]
    atheris.Setup(options, timed(target.run))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
