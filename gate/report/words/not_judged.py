"""What a report says of objects that were applied and that nobody judged.

Configuration needs no judge, and is none of them. Reads only the result document, so that a report
rendered again later says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.outcome import Outcome
from gate.report.schema.result import Action, ObjectResult, Result
from gate.report.words.object_names import object_name, some_names

_MOST_NAMED: Final = 3
_STANDS: Final[tuple[Action, ...]] = ("created", "changed", "unchanged", "kept")
_WENT_BACK: Final[tuple[Action, ...]] = ("restored",)
_VERBS: Final[Mapping[Outcome, tuple[tuple[Action, ...], str]]] = {
    Outcome.VERIFIED: (_STANDS, "applied"),
    Outcome.APPLIED: (_STANDS, "applied"),
    Outcome.INCONCLUSIVE: (_STANDS, "applied"),
    Outcome.OBSERVED: (_STANDS, "applied"),
    Outcome.ROLLED_BACK: (_WENT_BACK, "restored"),
}
"""For the outcomes that call something verified or complete: what was done to the others."""


def list_not_judged(result: Result) -> list[ObjectResult]:
    """Return the objects that a reader might take for judged, but are not.

    Where there was nothing to judge at all, the outcome says so of all of them.
    """
    if not result["workloads"] and result["outcome"] == Outcome.APPLIED:
        return []
    actions, _ = _VERBS.get(Outcome(result["outcome"]), ((), ""))
    return [
        item
        for item in result["objects"]
        if item["coverage"] == "not-judged" and item["action"] in actions
    ]


def not_judged_words(result: Result) -> str:
    """Return how many objects were applied but not judged, and which; "" if there are none."""
    found = list_not_judged(result)
    if not found:
        return ""
    _, verb = _VERBS[Outcome(result["outcome"])]
    objects = "object" if len(found) == 1 else "objects"
    names = some_names([object_name(result, item) for item in found], _MOST_NAMED)
    return f"{len(found)} {objects} {verb}, not judged: {names}"
