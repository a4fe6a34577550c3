"""Which commands have an option that advice names: it is only advised after one of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.report.schema.result import Result

COMMANDS_WITH: Final[Mapping[str, frozenset[str]]] = {
    "--require-pods": frozenset({"apply", "preflight", "rehearse"}),
    "--timeout": frozenset(
        {
            "apply",
            "preflight",
            "verify",
            "undo",
            "resume",
            "restart",
            "recover",
            "replay",
            "backtest",
            "rehearse",
        }
    ),
}


def has_option(result: Result, flag: str) -> bool:
    """Tell whether the command of a run has an option; false for an unknown command."""
    return result["command"] in COMMANDS_WITH[flag]
