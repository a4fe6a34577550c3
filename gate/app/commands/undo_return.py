"""Does an undo bring its version back? Checked by the server's dry run, before any write."""

from __future__ import annotations

from collections.abc import Iterable

from gate.app.commands.undo_subject import UndoSubject
from gate.app.preflight.server_dry_run import Prepared
from gate.app.preflight.trials import managers_taken_over
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.outcome import Reason
from gate.core.plan.kept_otherwise import join_paths
from gate.core.ssa.kept_values import find_altered
from gate.core.ssa.template_owners import fields_that_stay
from gate.core.versions.judged_version import template_digest
from gate.core.versions.undo_choice import Choice, choice_name
from gate.errors import RefusedError
from gate.report.advice.takeover import take_over_flags


def check_return(
    item: Prepared,
    trial: LiveObject | None,
    choice: Choice,
    found: UndoSubject,
    *,
    changes_beside: bool,
) -> None:
    """Compare the pod template that an undo would produce with the one to return to.

    Raises RefusedError if the undo would change nothing (`changes_beside`: another object) although
    the template differs. Warns of other managers' fields that would stay.
    """
    live = item.live.workload if item.live is not None else None
    if trial is None or trial.workload is None or live is None:
        return
    shown = choice_name(choice, found.live.snapshot)
    result = template_digest(trial.workload.template)
    if result == _wanted_digest(choice):
        return
    wanted = choice.revision.template if choice.revision is not None else None
    taken_over = managers_taken_over(item)
    stay = fields_that_stay(trial, wanted, taken_over) if wanted is not None else {}
    if taken_over and not stay:
        return
    named = ", ".join(f"{path} ({manager})" for manager, paths in stay.items() for path in paths)
    if changes_beside or result != template_digest(live.template):
        why = f": {named} stays" if named else _say_altered(item, trial)
        found.console.warn(f"{item.ref} will differ from {shown}{why}")
        return
    raise RefusedError(
        f"{item.ref} would not change: it differs from {shown}"
        + (f" in fields that others own: {named}" if named else _say_altered(item, trial)),
        reason=Reason.CONFLICT,
        hint=f"to remove them: {_same_undo(found, stay)}" if stay else "",
    )


def _same_undo(found: UndoSubject, managers: Iterable[str]) -> str:
    """Return the command of this undo that also takes over the fields of more managers."""
    settings = found.settings
    number = settings.to_revision
    flags = ["--deployment-only"] if settings.deployment_only else []
    flags += [] if number is None else ["--to-revision", str(number)]
    flags += take_over_flags(dict.fromkeys((*settings.take_over, *managers)))
    flags += ["--force-conflicts"] if settings.force_conflicts else []
    return found.command("undo", *flags)


def _say_altered(item: Prepared, trial: LiveObject) -> str:
    """Name the fields that the server would keep with other values than are sent, "" for none."""
    paths = find_altered(Body.of(item.sent_body()), trial, FIELD_MANAGER)
    return f": the server keeps another {join_paths(paths)} than is sent" if paths else ""


def _wanted_digest(choice: Choice) -> str:
    if choice.revision is not None:
        return template_digest(choice.revision.template)
    return choice.version.template if choice.version is not None else ""
