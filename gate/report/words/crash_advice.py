"""What to do about a container that crashes: read what it said, as far as that was collected.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from gate.report.schema.result import EvidenceResult, WorkloadResult
from gate.report.words.attempt_advice import Step

_INIT_CONTAINER = "init container "
"""How a cause names an init container (`gate.core.rollout.causes`)."""
_LAST_WORD = re.compile(
    r", exit code (?:-?\d+|unknown), (?:not restarted yet|\d+ restarts?)"
    r"(?:, \w+ of them while this run watched)?: \S"
)
"""The text in a cause just before a container's last words (`gate.core.rollout.causes`)."""


def crash_advice(worst: WorkloadResult, place: Sequence[str]) -> Iterator[Step]:
    """Point to what the crashing container said; if nothing was read, do not claim there was any.

    `place` holds kubectl's flags for the workload's cluster and namespace.
    """
    name = worst["causes"][0]["message"].partition(":")[0] if worst["causes"] else ""
    container = name.removeprefix(_INIT_CONTAINER)
    called = name if name != container else f"container {name}" if name else "its container"
    pieces = [p for p in worst["evidence"] if p["pod"] and p["container"] in (container, "")]
    if any(piece["kind"] == "log" for piece in pieces):
        text = f"read the log of {called} in the evidence, fix what it names, then apply again"
    elif where := _where_last_word(worst, pieces):
        text = f"read what {called} said as it ended ({where}), fix that, then apply again"
    else:
        text = f"find out why {called} ended: it left no log or last message that could be read"
    yield Step(text)
    if pieces and worst["running"] in ("new", "mixed"):
        words = [
            *place,
            pieces[0]["pod"],
            "-c",
            container or pieces[0]["container"],
        ]
        yield Step("more of its log:", shlex.join(["kubectl", "logs", "--previous", *words]))


def _where_last_word(worst: WorkloadResult, pieces: Sequence[EvidenceResult]) -> str:
    """Say where the report shows what the container said as it ended, "" if it does not."""
    if any(piece["kind"] == "termination" and "\n" in piece["text"] for piece in pieces):
        return "in the evidence"
    quotes = bool(worst["causes"]) and _LAST_WORD.search(worst["causes"][0]["message"])
    return "quoted in the cause" if quotes else ""
