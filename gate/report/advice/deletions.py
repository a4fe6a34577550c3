"""What to do where somebody deleted a workload, or the namespace that it was in."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.report.advice.commands import place_of, step_about
from gate.report.advice.step import Step
from gate.report.advice.supersessions import looking_at
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.found_at_end import is_made_again
from gate.report.words.half_applied import find_deleted


def advise_on_deleted_object(result: Result) -> Iterator[Step]:
    """Say how to have an object again that the run found deleted when it was to write it."""
    if name := find_deleted(result):
        yield Step(f"somebody deleted {name}: run the same again if it is still wanted")


def advise_if_deleted(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise by what is left: an apply is refused while it, or its namespace, is being deleted."""
    seen, place = worst["deletion"], place_of(result, worst)
    kind = registry.of_entry(worst)
    called = kind.call(worst["name"])
    if is_made_again(result, worst):
        text = "somebody deleted it and made it again: look, and apply again if yours should win:"
        yield step_about(result, worst, text, looking_at(worst))
        return
    if seen is None and (named := [*advise_on_deleted_object(result)]):
        yield from named
        return
    if seen is not None and not seen["done"]:
        words = ["kubectl", "wait", "--for=delete", called, *place]
        yield Step("an apply is refused until it is gone; wait for that:", shlex.join(words))
        words = ["kubectl", "get", called, *place, "-o", "yaml"]
        yield Step("if it stays, see who has to remove its finalizers:", shlex.join(words))
        return
    if seen is not None and seen["pods"] != 0:
        words = ["kubectl", "get", kind.parts, *place]
        yield Step(
            "somebody deleted it: see whether its pods go too, or run on without it:",
            shlex.join(words),
        )
        yield Step("then apply again if it is still wanted")
        return
    yield Step("somebody deleted it: apply again if it is still wanted")


def is_namespace_going(result: Result, worst: WorkloadResult) -> bool:
    """Tell whether the namespace of a workload is being deleted, as that of another one shows."""
    seen = [
        one["deletion"] for one in result["workloads"] if one["namespace"] == worst["namespace"]
    ]
    return any(deletion is not None and deletion["namespace_goes"] for deletion in seen)


def say_namespace_goes(worst: WorkloadResult) -> Step:
    """Return the one thing to do about it."""
    return Step(
        f"somebody deleted namespace {worst['namespace']}, and everything in it goes with it: find"
        " out who; nothing can be applied there until it is created again"
    )
