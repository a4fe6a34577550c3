"""What to do about objects that do not stand as the run left them, or that it left behind."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.cluster_name import ClusterName
from gate.core.outcome import Outcome
from gate.report.result import ObjectResult, Result

_MOST_NAMED = 3


def object_advice(result: Result) -> Iterator[tuple[str, str]]:
    """Iterate texts, each with a command to copy or ""."""
    leftover = [item for item in result["objects"] if _is_leftover(result, item)]
    if leftover:
        text = (
            f"{_called(leftover)}: still what this run wrote; apply again if yours is to win, or"
            " put back what theirs goes with:"
        )
        yield text, _look_at(result, leftover[0])
    stuck = [item for item in result["objects"] if item["action"] == "deleting"]
    if stuck:
        text = f"{_called(stuck)}: see what its finalizers wait for:"
        yield text, _look_at(result, stuck[0])
    meddled = [item for item in result["objects"] if _is_meddled_with(item)]
    if meddled and not leftover:
        done = "apply again if this run's is to stand"
        yield f"{_called(meddled)}: find out who did that; {done}", ""


def _is_leftover(result: Result, item: ObjectResult) -> bool:
    at_end, ours = item["at_end"], item["action"] in ("created", "changed")
    theirs = result["outcome"] == Outcome.SUPERSEDED and not item["judged"]
    return theirs and ours and at_end is not None and at_end["state"] == "as-written"


def _is_meddled_with(item: ObjectResult) -> bool:
    at_end = item["at_end"]
    if at_end is None or item["judged"] or item["action"] in ("deleted", "deleting", "left"):
        return False
    return at_end["state"] in ("changed", "deleted", "being-deleted", "recreated")


def _called(items: list[ObjectResult]) -> str:
    names = [f"{item['kind'].lower()}/{item['name']}" for item in items]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _look_at(result: Result, item: ObjectResult) -> str:
    named = f"{item['kind'].lower()}/{item['name']}"
    place = ClusterName(result["context"], result["kubeconfig"]).flags(item["namespace"])
    return shlex.join(["kubectl", "get", named, *place, "-o", "yaml"])
