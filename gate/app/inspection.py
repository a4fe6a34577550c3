"""`status` and `history`: what there is and why, without a write."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from gate.app.console import write_safely
from gate.app.finishing import style_of
from gate.app.live import Live, read_live, standing
from gate.app.session import Session
from gate.app.watching import Watching
from gate.config import Settings
from gate.core.baseline import baseline_of
from gate.core.fact import Known
from gate.core.outcome import EXIT_CODES, Outcome
from gate.core.rollout import Rollout, VerdictKind
from gate.errors import GateError
from gate.report.history import Revision, history_table
from gate.report.refusal import refusal
from gate.report.tree import status_tree

Connect = Callable[[], Session]
EXIT_OF = {
    VerdictKind.COMPLETE: EXIT_CODES[Outcome.VERIFIED],
    VerdictKind.FAILED: EXIT_CODES[Outcome.FAILED],
}
"""Progressing and paused are neither: 7, inconclusive."""


def status(connect: Connect, settings: Settings, name: str) -> int:
    """Print the tree and why; 0 complete, 6 failed, 7 progressing or paused."""
    return _refusable(settings, lambda: _status(connect(), settings, name))


def history(connect: Connect, settings: Settings, name: str) -> int:
    """Print the revisions, newest first, with what runs and where a failure would return to."""
    return _refusable(settings, lambda: _history(connect(), settings, name))


def _refusable(settings: Settings, work: Callable[[], int]) -> int:
    try:
        return work()
    except GateError as error:
        write_safely(sys.stderr, refusal(error, style_of(sys.stderr, settings)))
        return error.exit_code


def _status(session: Session, settings: Settings, name: str) -> int:
    live = read_live(session, name)
    rollout = standing(live, session.clock.now())
    _show_status(settings, rollout, session.clock.now())
    if settings.watch:
        rollout = _watched(session, settings, live, rollout)
    return _exit_code(rollout, session.clock.now())


def _exit_code(rollout: Rollout, now: float) -> int:
    return EXIT_OF.get(rollout.verdict(now).kind, EXIT_CODES[Outcome.INCONCLUSIVE])


def _watched(session: Session, settings: Settings, live: Live, rollout: Rollout) -> Rollout:
    """Show the tree anew with each change, until it is complete or failed."""
    watching = Watching(session, {live.object.ref: live.selector})
    watching.start()
    shown = rollout.snapshot
    while rollout.verdict(session.clock.now()).kind in (VerdictKind.PROGRESSING, VerdictKind.HELD):
        rollout = watching.follow(rollout)
        if rollout.snapshot is not shown:
            shown = rollout.snapshot
            _show_status(settings, rollout, session.clock.now())
    watching.stop()
    return rollout


def _show_status(settings: Settings, rollout: Rollout, now: float) -> None:
    text = status_tree(rollout, now, style_of(sys.stdout, settings))
    write_safely(sys.stdout, text)


def _history(session: Session, settings: Settings, name: str) -> int:
    live = read_live(session, name)
    rows = _revisions(live)
    if settings.output == "json":
        document = [row.document() for row in rows]
        write_safely(sys.stdout, json.dumps(document, indent=2) + "\n")
    else:
        write_safely(
            sys.stdout, history_table(rows, datetime.now(UTC), style_of(sys.stdout, settings))
        )
    return 0


def _revisions(live: Live) -> tuple[Revision, ...]:
    baseline = baseline_of(live.snapshot)
    current = live.snapshot.current()
    returns_to = baseline.value.replica_set if isinstance(baseline, Known) else ""
    owned = sorted(live.snapshot.owned(), key=lambda rs: rs.revision or 0, reverse=True)
    return tuple(
        Revision(
            number=rs.revision,
            replica_set=rs.name,
            images=rs.template.images(),
            change_cause=rs.change_cause,
            created_at=rs.created_at,
            pods=rs.status_replicas,
            running=current is not None and rs.uid == current.uid,
            returned_to=rs.name == returns_to,
        )
        for rs in owned
    )
