"""`python -m tests.fuzz TARGET [--seconds N]`: search for what breaks a reader, with Atheris.

What was interesting is kept in `tests/fuzz/corpus/TARGET`, which the fast tests go through.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.targets import TARGETS

FOLDER = Path(__file__).parent
CORPUS = FOLDER / "corpus"
ROOMS = ["gate.manifests", "gate.wire", "gate.sources", "gate.core"]
MOST_MEBIBYTES = 200
"""Above what the process has loaded when it begins."""


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
    corpus = CORPUS / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [
        sys.argv[0],
        str(corpus),
        f"-max_total_time={asked.seconds}",
        "-max_len=16384",
        "-timeout=1",
        f"-rss_limit_mb={_loaded_mebibytes() + MOST_MEBIBYTES}",
        f"-artifact_prefix={FOLDER}/broken-{target.name}-",
        "-print_final_stats=1",
    ]
    atheris.Setup(options, target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
