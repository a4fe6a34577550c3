"""What to do about a container that crashes: read what it said, as far as that was collected.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from gate.report.advice.step import Step
from gate.report.schema.result import CrashResult, EvidenceResult, WorkloadResult


def crash_advice(worst: WorkloadResult, place: Sequence[str]) -> Iterator[Step]:
    """Point to what the crashing container said; if nothing was read, do not claim there was any.

    `place` holds kubectl's flags for the workload's cluster and namespace.
    """
    crash = next((one["crash"] for one in worst["causes"] if one["crash"] is not None), None)
    container = crash["container"] if crash is not None else ""
    name = _name(crash)
    pieces = [p for p in worst["evidence"] if p["pod"] and p["container"] in (container, "")]
    if any(piece["kind"] == "log" for piece in pieces):
        text = f"read the log of {name} in the evidence, fix what it names, then apply again"
    elif where := _where_last_words(crash, pieces):
        text = f"read what {name} said as it ended ({where}), fix that, then apply again"
    else:
        text = f"find out why {name} ended: it left no log or last message that could be read"
    yield Step(text)
    if pieces and worst["running"] in ("new", "mixed"):
        words = [
            *place,
            pieces[0]["pod"],
            "-c",
            container or pieces[0]["container"],
        ]
        yield Step("more of its log:", shlex.join(["kubectl", "logs", "--previous", *words]))


def _name(crash: CrashResult | None) -> str:
    if crash is None:
        return "its container"
    return f"{'init ' if crash['init'] else ''}container {crash['container']}"


def _where_last_words(crash: CrashResult | None, pieces: Sequence[EvidenceResult]) -> str:
    """Say where the report shows what the container said as it ended, "" if it does not."""
    if any(piece["kind"] == "termination" and "\n" in piece["text"] for piece in pieces):
        return "in the evidence"
    return "quoted in the cause" if crash is not None and crash["has_last_words"] else ""
