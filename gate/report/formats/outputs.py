"""What the next step of a pipeline branches on: a few names, each with one plain line as value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Outcome
from gate.report.kinds import registry
from gate.report.schema.printed_result import with_deployments
from gate.report.schema.result import Result
from gate.report.words.not_judged import list_not_judged

MOST_BYTES: Final = 100 * 1024
"""One variable of an environment holds 128 KiB at most (Linux, MAX_ARG_STRLEN)."""
_UNPLAIN: Final = re.compile(r"[^A-Za-z0-9-]")
_LAST_LINES: Final = 50


def outputs(result: Result) -> Mapping[str, str]:
    """Return the outputs by name; values are from closed sets, or numbers or booleans."""
    rollback = result["rollback"]
    found = {
        "outcome": result["outcome"],
        "exit-code": "" if result["exit_code"] is None else str(result["exit_code"]),
        "reason": result["reason"],
        "rolled-back": _format_bool(
            result["outcome"] == Outcome.ROLLED_BACK
            or (rollback is not None and rollback["verified"])
        ),
        "changed": _format_bool(any(item["action"] != "unchanged" for item in result["objects"])),
        "running": _running(result),
        "not-judged": str(len(list_not_judged(result))),
    }
    return {name: _UNPLAIN.sub("", value) for name, value in found.items()}


def _format_bool(value: bool) -> str:  # noqa: FBT001 - its only argument
    return "true" if value else "false"


def _running(result: Result) -> str:
    """Return whose pods run; `mixed` if several workloads differ in that."""
    serving = [one for one in result["workloads"] if not registry.of_entry(one).runs_once]
    found = {workload["running"] for workload in serving or result["workloads"]}
    return next(iter(found)) if len(found) == 1 else "mixed" if found else "unknown"


def dotenv(result: Result) -> str:
    """Return the outputs as `GATE_NAME=value` lines, as GitLab's dotenv reports take them."""
    lines = (f"GATE_{n.upper().replace('-', '_')}={v}\n" for n, v in outputs(result).items())
    return "".join(lines)


def one_line(result: Result, most_bytes: int = MOST_BYTES) -> str:
    """Return the document as one line of JSON that keeps to its schema and to `most_bytes`.

    What is for charts and long reading is dropped first: history, trees, early lines of the
    timeline, then evidence and changes, and at last all workloads, objects, checks and warnings.
    """
    small: Result = {**result, "history": {"pods": [], "checks": []}}
    for cut in (_without_trees, _with_last_lines, _without_evidence, _without_lists):
        text = _compact(small)
        if len(text) <= most_bytes:
            return text
        small = cut(small)
    return _compact(small)


def _compact(result: Result) -> str:
    """Return pure ASCII: no character in it can end the line or reverse the writing direction."""
    return json.dumps(with_deployments(result), separators=(",", ":"))


def _without_trees(result: Result) -> Result:
    return {**result, "workloads": [{**d, "trees": []} for d in result["workloads"]]}


def _with_last_lines(result: Result) -> Result:
    return {**result, "timeline": result["timeline"][-_LAST_LINES:]}


def _without_evidence(result: Result) -> Result:
    return {
        **result,
        "workloads": [{**d, "evidence": []} for d in result["workloads"]],
        "objects": [{**item, "changes": []} for item in result["objects"]],
        "checks": [{**check, "output": ""} for check in result["checks"]],
    }


def _without_lists(result: Result) -> Result:
    """Keep what is said of the whole; the cleaner bounds even the message of a hostile server."""
    return {**result, "workloads": [], "objects": [], "checks": [], "timeline": [],
            "warnings": []}  # fmt: skip
