"""How to return to what served before, going by what `undo` itself would say about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.model.outcome import Reason
from gate.report.advice.commands import step_about
from gate.report.advice.objects import immutable_objects
from gate.report.advice.step import Step
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import has_one_version
from gate.report.words.half_applied import has_changed_nothing
from gate.report.words.object_names import fitting_names
from gate.report.words.version_names import baseline_words, find_serving, serving_words

_MOST_COLUMNS: Final = 120
"""For the names in a step, so that the whole step fits on a screen of usual width."""


def was_never_left(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether what served before a run is what runs, because the run changed nothing.

    Of a `verify`, that it is the first revision, as the controller numbers them: there is no other,
    and an undo would be refused.
    """
    baseline, new = workload["baseline"], workload["new"]
    is_itself = baseline is not None and baseline["name"] == new["name"]
    if result["command"] == "verify":
        return is_itself and new["revision"] == 1
    return is_itself and has_changed_nothing(result)


PAST_THE_PROMOTION: Final = (
    "to return to the version that was verified before (history marks it; where a partition would"
    " keep pods from it, undo is refused and names the command that works):"
)
"""For a version that was complete on fewer pods before it failed: its partition changes no pod."""


def text_of_return(result: Result, worst: WorkloadResult) -> str:
    """Return what an undo is for; of what others applied `verify` knows the pod templates alone."""
    if worst["reason"] == Reason.CHECK_FAILED and has_one_version(worst):
        return PAST_THE_PROMOTION
    if result["command"] != "verify":
        return f"to return to {baseline_words(worst, 'what served before')}:"
    back = baseline_words(worst, "the version that served before")
    return (
        f"to return to {back}; its configuration goes back with it only"
        " where the gate had verified both (undo says first what goes back):"
    )


def undo_advice(
    result: Result, worst: WorkloadResult, text: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what to do, each with the words of the `undo` that does it, () if none does.

    `text` is the advice if an undo works; the words begin with `undo` itself. What serves comes
    first where it is another version than the baseline.
    """
    baseline = worst["baseline"]
    if baseline is None or immutable_objects(result) or was_never_left(result, worst):
        return
    is_itself = baseline["name"] == worst["new"]["name"]
    is_numbered = baseline["revision"] is not None and not is_itself
    number = ("--to-revision", str(baseline["revision"])) if is_numbered else ()
    lacks, managers = worst["undo_lacks"], worst["undo_conflicts"]
    taking = tuple(word for one in managers for word in ("--take-over", one))
    flags = (*number, *taking)
    serving = find_serving(worst)
    if serving is not None and serving["revision"] is not None:
        what = f"to return to what serves, {serving_words(serving)}"
        to_it = ("undo", "--to-revision", str(serving["revision"]), *taking)
        yield f"{what} (undo says first what goes back):", to_it
    if not lacks:
        yield text, ("undo", *flags)
        return
    names, is_secret = fitting_names(lacks, _MOST_COLUMNS), any(map(_is_secret, lacks))
    rest = "" if names == ", ".join(lacks) else " (all of them: undo_lacks in --output json)"
    kept = "; bodies of Secrets are kept with --keep-verified-secrets" if is_secret else ""
    why = f"since undo cannot restore {names}{rest}{kept}"
    back = baseline_words(worst, "what served before")
    yield f"to return to {back}, apply its manifest, {why}", ()
    stays = "it is" if len(lacks) == 1 else "they are"
    alone = f"to return the pod template alone, with {names} left as {stays} now:"
    yield alone, ("undo", "--deployment-only", *flags)


def undo_steps(result: Result, worst: WorkloadResult, text: str) -> Iterator[Step]:
    """Yield what `undo_advice` says as steps."""
    for said, words in undo_advice(result, worst, text):
        yield step_about(result, worst, said, *words) if words else Step(said)


def _is_secret(name: str) -> bool:
    return name.partition("/")[0] == "secret"
