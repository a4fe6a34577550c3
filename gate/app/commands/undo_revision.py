"""The revision that `undo --to-revision` names: its number may have changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gate.app.commands.undo_subject import UndoSubject
from gate.app.runtime.live_state import Live
from gate.config import Settings
from gate.core.model.objects import Revision
from gate.core.model.outcome import Reason
from gate.core.versions.undo_choice import revision_name
from gate.errors import RefusedError


def named_revision(
    settings: Settings, live: Live, recovery: Callable[[], str] = str
) -> Revision | None:
    """Return the revision that `--to-revision` names, None without it.

    RefusedError if there is no such revision; `recovery` then says how to finish what a dead gate
    left, "" if it left nothing: its return may have renumbered the revision.
    """
    number = settings.to_revision
    if number is None:
        return None
    revision = live.revision(number)
    if revision is None:
        raise RefusedError(
            f"{live.object.ref} has no revision {number}",
            reason=Reason.NOT_FOUND,
            hint="; ".join(filter(None, (*_what_there_is(live, number), recovery()))),
        )
    return revision


def _what_there_is(live: Live, number: int) -> Iterator[str]:
    """Yield which revisions there are, and which number the one that was `number` has now."""
    owned = live.snapshot.list_owned()
    known = sorted(rs.revision for rs in owned if rs.revision)
    yield f"the revisions are: {', '.join(map(str, known)) or 'none'}"
    for rs in owned:
        if number in rs.earlier_revisions:
            yield f"revision {number} is revision {rs.revision} now"


def with_number_of_now(found: UndoSubject, named: Revision | None) -> UndoSubject:
    """Set `to_revision` to the revision's current number: a return to it renumbers it.

    RefusedError if that revision is gone.
    """
    if named is None:
        return found
    owned = found.live.snapshot.list_owned()
    number = next((rs.revision for rs in owned if rs.uid == named.uid), None)
    if number is None:
        raise RefusedError(
            f"{revision_name(named)} of {found.ref} is gone since this run began",
            reason=Reason.NOT_FOUND,
            hint=f"see what there is: {found.command('history')}",
        )
    if number != named.revision:
        found.console.note("undo", f"{revision_name(named)} is revision {number} now")
    settings = found.settings.with_values(to_revision=number)
    return replace(found, settings=settings)
