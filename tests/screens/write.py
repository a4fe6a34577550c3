"""Writes the golden screens again: `make screens`. Read what it changed."""

from __future__ import annotations

import inspect
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Final

from tests.screens import applies, commands, kinds, refusals
from tests.screens.stage import Play, staged

GOLDEN: Final = Path(__file__).parent / "golden"


def _of(module: ModuleType) -> dict[str, Play]:
    """Return the screens of a module: its public functions, by the names of their files."""
    return {
        name.replace("_", "-"): function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }


SCREENS: Final[dict[str, Play]] = {**_of(applies), **_of(refusals), **_of(commands), **_of(kinds)}


def shown(name: str) -> str:
    """Return a screen as it is now, played in a folder of its own."""
    play = SCREENS[name]
    with tempfile.TemporaryDirectory() as folder, staged(Path(folder).resolve()) as stage:
        play(stage)
        return f"{inspect.getdoc(play)}\n\n{stage.screen()}"


def path_of(name: str) -> Path:
    """Return the file of a screen."""
    return GOLDEN / f"{name}.txt"


def write(names: list[str]) -> None:
    """Write screens, all where none is named; what no screen is written into any more goes."""
    for name in names or SCREENS:
        path_of(name).write_text(shown(name), encoding="utf-8")
    for path in GOLDEN.glob("*.txt"):
        if path.stem not in SCREENS:
            path.unlink()


if __name__ == "__main__":
    write(sys.argv[1:])
