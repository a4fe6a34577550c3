"""What `recover` will do with what a run left, said beside the command.

It is decided by what is there then: `gate.core.recovery.resumption`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.report.kinds import registry
from gate.report.schema.result import Result
from gate.report.words.half_applied import is_unwritten

_BACK: Final = "back"
_EITHER: Final = "back if incomplete, unless failures are kept"
_BY_ON_FAILURE: Final[Mapping[str, str]] = {
    "rollback": "back if incomplete",
    "pause": "if all was written, followed until it is complete or fails",
    "keep": "if all was written, followed until it is complete or fails",
}
_CHECKS: Final = "; back with --on-inconclusive rollback, too: nobody asks its checks again"
_FIRST: Final = "nothing served before to go back to: it is followed until it is complete or fails"


def describe_finishing(result: Result) -> str:
    """Say that `recover` finishes what a run left, and which way that goes."""
    whose = "an earlier run" if result["command"] == "verify" else "this run"
    return f"finish what {whose} left ({_find_way(result)}):"


def _find_way(result: Result) -> str:
    if result["rollback"] is not None:
        return _BACK
    lasting = [one for one in result["workloads"] if not registry.of_entry(one).runs_once]
    is_whole = not any(map(is_unwritten, result["workloads"]))
    if is_whole and lasting and all(one["baseline"] is None for one in lasting):
        return _FIRST
    way = _BY_ON_FAILURE.get(result["on_failure"], _EITHER)
    return f"{way}{_CHECKS}" if result["checks"] else way
