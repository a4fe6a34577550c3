"""What the server keeps otherwise than a plan sends it, as admission may have it, and in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan
from gate.core.plan.replica_ownership import without_replicas
from gate.core.ssa.kept_values import find_altered

_MOST_PATHS: Final = 3


def find_kept_otherwise(plan: Plan, kept: LiveObject) -> tuple[str, ...]:
    """Name the fields that an object has with another value than the plan's apply of it sends."""
    applies = (one for one in plan.writes if one.verb is Verb.APPLY)
    write = next((one for one in applies if one.ref == kept.ref), None)
    if write is None:
        return ()
    body = write.body
    if write.scaler.keeps_live:
        body = Body.of(without_replicas(body.thaw()))
    return find_altered(body, kept, write.field_manager)


def describe_kept_otherwise(plan: Plan, ref: Ref, paths: tuple[str, ...]) -> str:
    """Say which fields the server keeps otherwise; a manifest alone is what people can look at."""
    sent = "the manifest says" if plan.command == "apply" else f"the {plan.command} sent it"
    return f"the server keeps {plan.name_of(ref)} otherwise than {sent}: {join_paths(paths)}"


def join_paths(paths: tuple[str, ...]) -> str:
    """Name a few of the fields."""
    more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
    return ", ".join(paths[:_MOST_PATHS]) + more


def foresee_kept_otherwise(plan: Plan) -> Iterator[str]:
    """Yield a line for each object that the server would keep otherwise, by its dry run."""
    for one in plan.objects:
        paths = find_kept_otherwise(plan, one.trial) if one.trial is not None else ()
        if paths:
            yield describe_kept_otherwise(plan, one.ref, paths)
