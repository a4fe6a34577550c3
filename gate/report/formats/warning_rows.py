"""The warnings of a run as rows of a text report: of what happened first, then of the lint."""

from __future__ import annotations

import re
from typing import Final

from gate.core.frozen import dataclass
from gate.report.formats.labelled_rows import Block, describe_elsewhere
from gate.report.schema.result import Result

_MOST_WARNINGS: Final = 3
_OF_LINT: Final = re.compile(r" \[[a-z]+(?:-[a-z]+)+\]$")
"""The end of a warning of the lint: the code that silences it."""


@dataclass(frozen=True, slots=True)
class Share:
    """What fits of what was done: warnings of the lint, lines of each warning, lines of names."""

    lint: int
    lines: int
    name_lines: int


SHARES: Final = (*(Share(lint, 4, 6) for lint in range(_MOST_WARNINGS, -1, -1)), Share(0, 2, 2))
"""From the most to the least."""


def add_warnings(block: Block, result: Result, share: Share) -> None:
    """Add the first warnings, and how many are left out; those of the lint are left out first."""
    about_manifest = [one for one in result["warnings"] if _OF_LINT.search(one)]
    others = [one for one in result["warnings"] if not _OF_LINT.search(one)]
    shown = others[:_MOST_WARNINGS]
    shown += about_manifest[: min(share.lint, _MOST_WARNINGS - len(shown))]
    for warning in shown:
        block.row("warning", warning, share.lines)
    left = len(result["warnings"]) - len(shown)
    if left:
        more = f"and {left} more" if shown else str(left)
        about = " about the manifest" if len(others) <= _MOST_WARNINGS else ""
        block.pointer("warning", f"{more}{about}: {describe_elsewhere(left)}")
