"""`backtest`: which past verdicts another policy would have changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gate.app.replay import recording
from gate.app.replay.judgement import Judged, judge
from gate.app.runtime.command_end import run_query
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.errors import UsageError
from gate.report.views.backtest import (
    Backtest,
    Backtested,
    Judgement,
    Unreadable,
    backtest_text,
    document,
)

SUFFIX: Final = ".jsonl"
"""Identifies recordings in a folder; a file that is named directly may have any name."""


def backtest(world: World, settings: Settings, paths: Iterable[str]) -> int:
    """Judge each recording under its own policy and under the settings'; exit 0 or 2."""

    def query(start: CommandStart) -> int:
        document = _judge_files([*_files(paths)], settings)
        _print(start.console, settings, document)
        return EXIT_CODES[Outcome.USAGE if document["unreadable"] else Outcome.VERIFIED]

    return run_query(world, "backtest", settings, query)


def _files(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files to read, those of a folder in order; UsageError for a folder without any."""
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        found = sorted(str(file) for file in Path(path).rglob(f"*{SUFFIX}") if file.is_file())
        if not found:
            raise UsageError(f"{path}: no recordings", hint=f"they are files named *{SUFFIX}")
        yield from found


def _judge_files(files: Iterable[str], settings: Settings) -> Backtest:
    """Judge one recording after the other, keeping only the row of each."""
    rows: list[Backtested] = []
    unreadable: list[Unreadable] = []
    for file in files:
        try:
            rows.append(_row(file, settings))
        except UsageError as error:
            unreadable.append({"file": file, "problem": error.message})
    return document(rows, unreadable)


def _row(file: str, settings: Settings) -> Backtested:
    loaded = recording.load(file, settings)
    then, now = map(_judgement, judge(loaded.recording, loaded.then, loaded.now))
    turned = then["verdict"] != now["verdict"]
    return {"file": file, "then": then, "now": now, "turned": turned}


def _judgement(judged: Judged) -> Judgement:
    return {
        "verdict": judged.verdict.value,
        "reason": judged.reason.value,
        "message": judged.message,
        "decided_at": judged.decided_at,
    }


def _print(console: Console, settings: Settings, document: Backtest) -> None:
    if settings.output == "json":
        console.write(json.dumps(document, indent=2) + "\n")
    else:
        style = console.style(settings)
        console.write(backtest_text(document, style, whole=not console.stdout.isatty()))
