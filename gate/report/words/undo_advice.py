"""How to return to what served before, by what `undo` itself would say of it."""

from __future__ import annotations

from collections.abc import Iterator

from gate.report.schema.result import DeploymentResult, Result
from gate.report.words.half_applied import has_changed_nothing
from gate.report.words.object_advice import immutable_objects


def was_never_left(result: Result, deployment: DeploymentResult) -> bool:
    """Tell whether what served before a run is what runs, for the run changed nothing."""
    baseline, new = deployment["baseline"], deployment["new"]
    is_itself = baseline is not None and baseline["replicaset"] == new["replicaset"]
    return is_itself and has_changed_nothing(result)


def undo_advice(
    result: Result, worst: DeploymentResult, text: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Iterate what to do, each with the flags of the undo that does it, if one does.

    `text` is the advice where an undo works; each undo begins with its own name.
    """
    baseline = worst["baseline"]
    if baseline is None or immutable_objects(result) or was_never_left(result, worst):
        return
    is_itself = baseline["replicaset"] == worst["new"]["replicaset"]
    is_numbered = baseline["revision"] is not None and not is_itself
    number = ("--to-revision", str(baseline["revision"])) if is_numbered else ()
    lacks, managers = worst["undo_lacks"], worst["undo_conflicts"]
    flags = (*number, *(word for one in managers for word in ("--take-over", one)))
    if not lacks:
        yield text, ("undo", *flags)
        return
    names = ", ".join(lacks)
    kept = "; bodies of Secrets are kept with --keep-verified-secrets" if "secret/" in names else ""
    apply = f"apply its manifest: undo cannot restore {names}{kept}"
    yield f"to return to what served before, {apply}", ()
    alone = f"or return the pod template alone, beside {names} as it is now:"
    yield alone, ("undo", "--deployment-only", *flags)
