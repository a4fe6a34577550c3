"""The engines' programs: found where somebody has installed them, else fetched once and kept.

Run it as `python -m tests.engines.programs`: it prints where each one is. What is not on PATH is
taken out of Debian's package, which needs no right to install anything and starts no service.
"""

from __future__ import annotations

import enum
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.cluster.kept import kept_folder, locked


class EngineError(Exception):
    """An engine is neither there nor can it be fetched; the message names the package."""


class Kind(enum.StrEnum):
    """The engines, by the name of their program, which is that of Debian's package as well."""

    PROMETHEUS = "prometheus"
    VICTORIA_METRICS = "victoria-metrics"


class Tool(enum.StrEnum):
    """What stands around an engine, by the name of its program."""

    PROMTOOL = "promtool"
    PUSHGATEWAY = "prometheus-pushgateway"


_PACKAGES: Final = {Tool.PROMTOOL: "prometheus"}
"""The packages that bear another name than the program."""


def program(kind: Kind | Tool) -> Path:
    """Return a program; of several processes one fetches it, the others wait.

    Raises `EngineError` where it is not on PATH and cannot be fetched.
    """
    if installed := shutil.which(kind):
        return Path(installed)
    folder = kept_folder("engines")
    kept = folder / kind
    with locked(folder / ".lock"):
        if not kept.is_file():
            _fetch(kind, folder)
    return kept


def _package(kind: Kind | Tool) -> str:
    return _PACKAGES.get(kind, kind) if isinstance(kind, Tool) else kind


def _fetch(kind: Kind | Tool, folder: Path) -> None:
    """Take the program out of Debian's package, and move it in whole."""
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise EngineError(f"there is no {kind} on PATH: {_remedy(kind)}")
    print(f"fetching {kind} into {folder}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as temporary:
        workplace = Path(temporary)
        _download(kind, workplace)
        [package] = workplace.glob("*.deb")
        _run(kind, ["dpkg-deb", "--extract", str(package), str(workplace)], workplace)
        (workplace / "usr" / "bin" / kind).rename(folder / kind)


def _download(kind: Kind | Tool, workplace: Path) -> None:
    """Ask with the machine's package lists, and where it has none with lists of our own."""
    if _run(kind, ["apt-get", *_QUIET, "download", _package(kind)], workplace, check=False):
        return
    lists = workplace / "lists"
    (lists / "partial").mkdir(parents=True)
    own = ["-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={workplace}"]
    _run(kind, ["apt-get", *_QUIET, *own, "update"], workplace)
    _run(kind, ["apt-get", *_QUIET, *own, "download", _package(kind)], workplace)


# As root, apt changes to a user that cannot write into our folder, and warns of it.
_QUIET = ("-qq", "-o", "APT::Sandbox::User=")


def _run(kind: Kind | Tool, command: Sequence[str], workplace: Path, *, check: bool = True) -> bool:
    done = subprocess.run(command, cwd=workplace, capture_output=True, text=True, check=False)
    if done.returncode and check:
        said = (done.stderr or done.stdout).strip()
        raise EngineError(f"`{' '.join(command)}` failed: {said}\n{_remedy(kind)}")
    return done.returncode == 0


def _remedy(kind: Kind | Tool) -> str:
    return f"install it (on Debian: the package {_package(kind)}; its service need not run)"


def main() -> int:
    """Fetch what is missing and print where each program stands."""
    try:
        for kind in (*Kind, *Tool):
            print(program(kind))
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
