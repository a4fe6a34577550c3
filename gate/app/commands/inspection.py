"""`status` and `history`: what there is and why, without a write."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from gate.app.locks.command_locks import remembered
from gate.app.locks.unfinished_attempt import recovery_of
from gate.app.preflight.return_target import Facts, read_beside
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import Live, read_live, selector_of, standing
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.app.runtime.world import World
from gate.config import Settings
from gate.core.model.fact import Absent, Known
from gate.core.model.outcome import EXIT_CODES, Outcome
from gate.core.plan.plan import Target
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.versions.history import History
from gate.core.versions.obstacles import obstacle
from gate.core.versions.undo_choice import choose_version
from gate.core.versions.undo_set import lacking_now
from gate.report.document.status_document import status_document
from gate.report.live.attempts import status_view
from gate.report.views.history import Revision, age, history_table
from gate.report.views.tree import status_tree
from gate.signals import SIGNAL_BASE, Signalled

EXIT_OF = {
    VerdictKind.COMPLETE: EXIT_CODES[Outcome.VERIFIED],
    VerdictKind.FAILED: EXIT_CODES[Outcome.FAILED],
}
"""Progressing and paused half-way are neither: 7, inconclusive."""


def status(session: Session, settings: Settings, name: str, console: Console) -> int:
    """Print the tree and why; 0 complete, 6 failed, 7 progressing or paused half-way.

    A signal is how watching ends for who has seen enough: the last state stands, nothing is said.
    """
    live = read_live(session, name)
    rollout = standing(live, session.clock.now())
    stopped = 0
    if settings.watch:
        rollout, stopped = _watched(session, settings, live, rollout, console)
    now = session.clock.now()
    if settings.output == "json":
        console.write(json.dumps(status_document(rollout, now), indent=2) + "\n")
    elif not settings.watch:
        why = _why_empty(session, rollout)
        console.write(status_tree(rollout, now, console.uncut(settings), why))
    return stopped or EXIT_OF.get(rollout.verdict(now).kind, EXIT_CODES[Outcome.INCONCLUSIVE])


def _watched(
    session: Session, settings: Settings, live: Live, rollout: Rollout, console: Console
) -> tuple[Rollout, int]:
    """Follow until it is complete or failed, or gone; show the tree as often as it differs.

    Return the last state, and the exit code where a signal came before the end, 0 else.
    """
    watching = Watching(session, {live.object.ref: selector_of(live.object)})
    trees = _Trees(session, settings, console)
    try:
        watching.start()
        while True:
            now = session.clock.now()
            trees.show(rollout, now)
            deployment = rollout.snapshot.live
            kind = rollout.verdict(now).kind
            if deployment is None or kind in EXIT_OF:
                return rollout, 0
            if kind is VerdictKind.SUPERSEDED and not deployment.deleting:
                # Somebody rolls out another version: that is what there is to follow now.
                rollout = standing(Live(live.object, deployment, rollout.snapshot), now)
            else:
                rollout = watching.follow(rollout)
    except Signalled as signalled:
        trees.leave(rollout, session.clock.now())
        return rollout, SIGNAL_BASE + signalled.number


class _Trees:
    """The trees of a Deployment that is watched: one that moves, or one after the other."""

    def __init__(self, session: Session, settings: Settings, console: Console) -> None:
        self._session = session
        self._settings = settings
        self._console = console
        self._shown = ""
        self._why_empty = ""
        self._began = console.clock.now()

    def show(self, rollout: Rollout, now: float) -> None:
        """Show the tree where it differs; on a terminal the last one alone stays."""
        if self._settings.output == "json":
            return
        tree = self._console.tree
        if tree is not None and self._console.stdout.isatty():
            tree.see(partial(status_view, rollout, started_at=self._began))
            if rollout.snapshot.live is not None and rollout.verdict(now).kind not in EXIT_OF:
                return
            tree.end()
        self._print(rollout, now)

    def leave(self, rollout: Rollout, now: float) -> None:
        """Let what was looked at stay, when a signal ends it."""
        tree = self._console.tree
        if tree is not None and tree.shown:
            tree.end()
        elif self._shown or self._settings.output == "json":
            return
        self._print(rollout, now)

    def _print(self, rollout: Rollout, now: float) -> None:
        live = rollout.snapshot.live
        if live is not None and live.replicas == 0 and not self._why_empty:
            self._why_empty = _why_empty(self._session, rollout)
        why = self._why_empty if live is not None and live.replicas == 0 else ""
        text = status_tree(rollout, now, self._console.uncut(self._settings), why)
        if text != self._shown:
            self._console.write(f"\n{text}" if self._shown else text)
        self._shown = text


def _why_empty(session: Session, rollout: Rollout) -> str:
    """Say what the lock remembers of why a Deployment is scaled to 0."""
    live = rollout.snapshot.live
    if live is None or live.replicas:
        return ""
    memory = remembered(session, rollout.ref)
    judged = memory.of_template(live.template)
    scaled = "a gate scaled it to 0" if memory.has_scaled_down(live.uid) else ""
    if judged is None or judged.why is None or not judged.failed:
        return scaled
    failed = f"this version failed {age(judged.judged_at, session.clock.wall())} ago"
    why = f"{failed}: {judged.why.reason}: {judged.why.message}"
    return f"{scaled} after {why}" if scaled else why


def history(session: Session, settings: Settings, world: World, name: str, console: Console) -> int:
    """Print the revisions, newest first, with what runs and where a failure would return to.

    Beside an open record that is not told: `recover` decides it first, and is advised.
    """
    live = read_live(session, name)
    memory = remembered(session, live.object.ref)
    beside = read_beside(session, [memory], [live.object.ref])
    recovery = recovery_of(session, live.object.ref, world.processes)
    rows = _revisions(live, memory, beside)
    if recovery:
        rows = tuple(map(_without_returns, rows))
    if settings.output == "json":
        text = json.dumps([row.document() for row in rows], indent=2) + "\n"
    else:
        text = history_table(rows, session.clock.wall(), console.uncut(settings))
        notes = filter(None, (_waiting(live), recovery))
        text += "".join(f"{console.uncut(settings).shown(note)}\n" for note in notes)
    console.write(text)
    return 0


def _without_returns(row: Revision) -> Revision:
    return replace(row, returned_to=False, undo_returns=False, undo_lacks=())


def _waiting(live: Live) -> str:
    """Say that the live template has no revision because of a pause, "" where it has one."""
    if live.snapshot.current() is not None or not live.deployment.paused:
        return ""
    images = ", ".join(live.deployment.template.images())
    return f"{live.object.ref} is paused: {images} has no revision until it is resumed"


def _revisions(live: Live, memory: History, beside: Facts) -> tuple[Revision, ...]:
    baseline = baseline_of(live.snapshot)
    target = Target(live.object.ref, live.snapshot, baseline)
    digests = {**digests_of(beside), live.object.ref: applied_digest(live.object)}
    stays = isinstance(baseline, Known) and obstacle(target, memory, digests) is None
    returns_to = baseline.value.replica_set if stays and isinstance(baseline, Known) else ""
    gone = [ref for ref, fact in beside.items() if isinstance(fact, Absent)]
    choice = None if stays else choose_version(live.snapshot, memory, digests, gone)
    chosen = choice.replica_set if choice is not None else None
    lacks: tuple[str, ...] = ()
    if choice is not None and choice.version is not None:
        refs = lacking_now(target, memory, choice.version, digests, beside).refs
        lacks = tuple(map(str, refs))
    current = live.snapshot.current()
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
            undo_returns=chosen is not None and rs.uid == chosen.uid,
            undo_lacks=lacks if chosen is not None and rs.uid == chosen.uid else (),
            judged=memory.of_replica_set(rs),
        )
        for rs in owned
    )
