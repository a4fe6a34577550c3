"""The end of a run that should write nothing: what its command would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.app.command_context import CommandContext
from gate.app.commands.apply_plan import plan_apply
from gate.app.execution.foreseen_recovery import foresee_recoveries
from gate.app.execution.left_runs import foresee_waits
from gate.app.runtime.command_end import Passed
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.foreseen_return import would_write
from gate.core.plan.plan import Plan
from gate.manifests.manifest import Manifest
from gate.report.words.object_names import some_names

NOTHING_WRITTEN: Final = "a dry run: nothing was written"
_MOST_NAMED: Final = 6
_NONE: Final[Mapping[Ref, str]] = {}


def end_unwritten(context: CommandContext, manifest: Manifest, said: str) -> Passed:
    """Plan an apply without a write, and return what it would do, an earlier attempt's end first.

    Raises what `plan_apply` raises.
    """
    left = foresee_recoveries(context, [one.lasting_ref for one in manifest.objects])
    for line in left:
        context.console.warn(line)
    for line in foresee_waits(context, manifest):
        context.console.warn(line)
    ready = plan_apply(context, manifest)
    generated = {one.ref: one.name_prefix for one in manifest.objects if one.name_prefix}
    return end_dry_run(ready.plan, said, is_unfinished=bool(left), generated=generated)


def end_dry_run(
    plan: Plan, said: str, *, is_unfinished: bool = False, generated: Mapping[Ref, str] = _NONE
) -> Passed:
    """Return the end of a run that should write nothing; its message begins with `said`.

    With `is_unfinished` an earlier attempt would be finished first, which changes what is there.
    `generated` has what the names begin with of objects that get another name at each run.
    """
    first = " first finish an earlier attempt, and by what is there now" if is_unfinished else ""
    whole, parts = f"{said}; an {plan.command} would{first}", []
    for intent, refs in would_write(plan).items():
        called = [_call(plan, ref, generated.get(ref, "")) for ref in refs]
        names = some_names(called, _MOST_NAMED)
        parts.append(f"{intent.value} {names}")
    if not parts and is_unfinished:
        return Passed(f"{whole} change nothing else", Reason.DRY_RUN)
    if not parts:
        return Passed(f"{whole} change nothing", Reason.NO_CHANGE)
    return Passed(f"{whole} {', and '.join(parts)}", Reason.DRY_RUN)


def _call(plan: Plan, ref: Ref, prefix: str) -> str:
    name = plan.name_of(ref)
    return name.replace(ref.name, f"{prefix}*") if prefix else name
