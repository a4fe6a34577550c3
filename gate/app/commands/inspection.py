"""`status` and `history`: show what there is and why; they write nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Final

from gate.app.command_context import connect
from gate.app.commands.revision_course import course_of, is_tried_again
from gate.app.locks.command_locks import recall_history
from gate.app.locks.unfinished_attempt import LockFacts, read_lock_facts
from gate.app.preflight.guards import refuse_single_run
from gate.app.preflight.neighbours import read_neighbours
from gate.app.preflight.return_target import read_beside
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import Live, judge_now, read_live, selector_of, with_warnings
from gate.app.runtime.session import Session
from gate.app.runtime.watches import Watching
from gate.app.runtime.workload_names import argument_of
from gate.config import Settings
from gate.core.kinds.registry import has_way_back
from gate.core.model.configuration_references import configuration_names
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveFacts
from gate.core.model.outcome import EXIT_CODES, ON_THEIR_WAY, Outcome
from gate.core.plan.plan import Target
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.early_evidence import early_causes
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.workload_kind import PodCounts
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.versions.history import History
from gate.core.versions.next_return import next_return
from gate.core.versions.open_findings import list_findings
from gate.core.versions.return_doubts import find_last_word, obstacle
from gate.core.versions.undo_choice import choose_version
from gate.core.versions.undo_conflicts import conflicting_managers
from gate.core.versions.undo_set import lacking_now
from gate.report.document.status_document import call_verdict, status_document
from gate.report.kinds.registry import of_ref
from gate.report.live.attempts import status_view
from gate.report.views.history import Returns, Revision, age, history_table
from gate.report.views.timeline import end_of_pause
from gate.report.views.tree import status_tree
from gate.signals import SIGNAL_BASE, Signalled

EXIT_OF = {
    VerdictKind.COMPLETE: EXIT_CODES[Outcome.VERIFIED],
    VerdictKind.FAILED: EXIT_CODES[Outcome.FAILED],
}
"""Progressing and paused half-way are neither of these: exit 7, inconclusive."""

_LEFT_BY_CHECK: Final = "a check left this version unverified"
_LEFT_BY_PODS: Final = "pods of this version failed"


def status(start: CommandStart, name: str) -> int:
    """Print the tree with reasons; exit 0 complete, 6 failed, 7 progressing or paused half-way.

    With `--watch` a signal is a normal way to stop: the last state stays, without a message. What
    its locks tell is said beside it: what an attempt left unfinished, with the command that
    finishes it, who has the lock, or why that is not known. A gate may have ended since the watch
    began, so the locks are read again at its end.
    """
    session, settings, console = connect(start).session, start.settings, start.console
    live = read_live(session, name)
    facts = read_lock_facts(session, live.object.ref, start.world.processes)
    rollout = with_warnings(session, judge_now(live, session.clock.now()))
    stopped = 0
    if settings.watch or settings.output == "json":
        _say_beside(facts, console)
    if settings.watch:
        rollout, stopped = _follow_rollout(session, settings, live, rollout, console)
        if not stopped:
            later = read_lock_facts(session, live.object.ref, start.world.processes)
            _say_beside(later, console, before=facts)
    now = session.clock.now()
    if settings.output == "json":
        console.write(json.dumps(status_document(rollout, now), indent=2) + "\n")
    elif not settings.watch:
        why = _why_empty(session, rollout)
        style = console.uncut(settings)
        console.write(status_tree(rollout, now, style, why))
        next_line = facts.recovery or _describe_next(session, facts, rollout, now)
        for line in filter(None, (facts.unread, facts.at_work, next_line)):
            console.write(f"{style.printable(line)}\n")
    return stopped or EXIT_OF.get(rollout.verdict(now).kind, EXIT_CODES[Outcome.INCONCLUSIVE])


def _say_beside(facts: LockFacts, console: Console, before: LockFacts | None = None) -> None:
    """Say beside what stdout has what the locks tell of attempts, or why that is not known.

    After `before` it is only what is new: a gate that was at work then is not named again.
    """
    for line in filter(None, (facts.unread, facts.recovery)):
        console.warn(line)
    if facts.at_work and not (before is not None and before.at_work):
        console.note("lock", facts.at_work)


def _follow_rollout(
    session: Session, settings: Settings, live: Live, rollout: Rollout, console: Console
) -> tuple[Rollout, int]:
    """Follow until it is complete, failed or gone; show the tree whenever it changes.

    Return the last state, and the exit code of a signal that came before the end, else 0.
    """
    watching = Watching(session, {live.object.ref: selector_of(live.object)})
    trees = _Trees(session, settings, console)
    try:
        watching.start()
        while True:
            now = session.clock.now()
            trees.show(rollout, now)
            workload = rollout.snapshot.live
            kind = rollout.verdict(now).kind
            if workload is None or kind in EXIT_OF:
                return rollout, 0
            is_other = kind in (VerdictKind.SUPERSEDED, VerdictKind.EMPTIED)
            if is_other and not workload.deleting:
                # Somebody rolls out another version, or wants no pod of this one: follow that now.
                rollout = judge_now(Live(live.object, workload, rollout.snapshot), now)
            else:
                rollout = watching.follow(rollout)
    except Signalled as signalled:
        trees.leave(rollout, session.clock.now())
        return rollout, SIGNAL_BASE + signalled.number


class _Trees:
    """The trees of a watched workload: a live one, or printed one after the other."""

    def __init__(self, session: Session, settings: Settings, console: Console) -> None:
        self._session = session
        self._settings = settings
        self._console = console
        self._shown = ""
        self._why_empty = ""
        self._began = console.clock.now()

    def show(self, rollout: Rollout, now: float) -> None:
        """Show the tree if it changed; on a terminal only the last one stays."""
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
        """Leave the last tree on the screen when a signal ends the command."""
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


_NEXT: Final = {
    "failed": ("to judge it as it is now, and see what to do about it", "verify"),
    "applied": ("how its pods come to the live template", "verify"),
    "progressing": ("to see how it goes on", "status", "--watch"),
    "held": ("to end the pause, once whoever paused it agrees", "resume"),
    "doubtful": ("before anybody resumes it, see what there is to return to", "history"),
}
"""What to do next by the word for a verdict: what for, and the gate's command with its flags.

`doubtful` is what is paused, and something speaks against.
"""


def _describe_next(session: Session, facts: LockFacts, rollout: Rollout, now: float) -> str:
    """Say what leads on from here, with the command to copy; "" where nothing is to be done.

    What a pause holds is not to be resumed where its pods, or a check, speak against it. While a
    run has the lock kubectl ends the pause: `rollout-gate resume` would wait for that run.
    """
    word, live = call_verdict(rollout.verdict(now)), rollout.snapshot.live
    if live is None:
        return ""
    has_trouble = any(cause.reason not in ON_THEIR_WAY for cause in early_causes(rollout, now))
    is_paused = live.paused and has_way_back(rollout.ref)
    left = _describe_findings(session, rollout) if is_paused else ""
    if left or (is_paused and has_trouble):
        word = "doubtful"
    elif word == "progressing" and has_trouble:
        word = "failed"
    if word not in _NEXT:
        return ""
    why, command, *flags = _NEXT[word]
    why = f"{left}{why}"
    if word == "held" and facts.at_work:
        why = f"{why} (rollout-gate resume waits for the run that has the lock)"
        return f"{why}: {end_of_pause(rollout.ref, session.connection.cluster)}"
    words = ("rollout-gate", command, argument_of(rollout.ref), *flags)
    place = session.connection.cluster.command(*words, namespace=rollout.ref.namespace)
    return f"{why}: {place}"


def _describe_findings(session: Session, rollout: Rollout) -> str:
    """Say what a check, or its own pods, left open of the live version, as the start of a line."""
    live, now = rollout.snapshot.live, session.clock.wall()
    memory = recall_history(session, rollout.ref)
    found = list_findings(memory, live.template) if live is not None else ()
    said = (
        f"{_LEFT_BY_CHECK if one.is_left_by_check else _LEFT_BY_PODS}"
        f" {age(one.judged_at, now)} ago ({one.why.message})"
        for one in found
        if one.why is not None
    )
    return f"{', '.join(said)}; " if found else ""


def _why_empty(session: Session, rollout: Rollout) -> str:
    """Say why a workload is scaled to 0, as far as its lock remembers."""
    live = rollout.snapshot.live
    if live is None or live.replicas:
        return ""
    memory = recall_history(session, rollout.ref)
    judged = memory.of_template(live.template)
    scaled = "a gate scaled it to 0" if memory.replicas_of(live.uid).scaled_down else ""
    if judged is None or judged.why is None or not judged.failed:
        return scaled
    failed = f"this version failed {age(judged.judged_at, session.clock.wall())} ago"
    why = f"{failed}: {judged.why.reason}: {judged.why.message}"
    return f"{scaled} after {why}" if scaled else why


def history(start: CommandStart, name: str) -> int:
    """Print the revisions, newest first, with what runs and what a failure would return to.

    While a record is open, or may be, the latter is left out: `recover` has to decide first, and is
    suggested.
    """
    session, settings, console = connect(start).session, start.settings, start.console
    asked = ("rollout-gate", "status", name)
    look = session.connection.cluster.command(*asked, namespace=session.namespace)
    refuse_single_run(name, "has no history", f"see how it is: {look}")
    live = read_live(session, name)
    facts = read_lock_facts(session, live.object.ref, start.world.processes)
    memory = facts.history
    beside = read_beside(session, [memory], [live.object.ref])
    returns = _returns(session, live, memory, beside) if facts.is_clear else Returns()
    rows = _revisions(live, facts, returns)
    style = console.uncut(settings)
    if settings.output == "json":
        words = of_ref(live.object.ref)
        waiting = [_waiting_revision(live)] if _is_waiting(live) else []
        text = json.dumps([row.document(words) for row in (*waiting, *rows)], indent=2) + "\n"
    else:
        text = history_table(rows, session.clock.wall(), style)
        text += f"{style.printable(_waiting(live))}\n" if _is_waiting(live) else ""
    console.write(text)
    if settings.output == "json":
        _say_beside(facts, console)
        return 0
    for line in filter(None, (facts.unread, facts.at_work, facts.recovery)):
        console.write(f"{style.printable(line)}\n")
    return 0


def _is_waiting(live: Live) -> bool:
    """Tell whether the live template has no revision yet because of a pause."""
    return live.snapshot.current() is None and live.workload.paused


def _waiting(live: Live) -> str:
    images = ", ".join(live.workload.template.images())
    return f"{live.object.ref} is paused: {images} has no revision until it is resumed"


def _waiting_revision(live: Live) -> Revision:
    return Revision(
        number=None,
        name="",
        images=live.workload.template.images(),
        change_cause="",
        created_at="",
        pods=PodCounts(),
        running=False,
    )


def _returns(session: Session, live: Live, memory: History, beside: LiveFacts) -> Returns:
    """Return what a failure of the next apply, and an undo, would return to.

    An undo is included only if such a failure does not return to what runs.
    """
    target = Target(live.object.ref, live.snapshot, baseline_of(live.snapshot))
    after_failure = next_return(target, live.object, memory, beside)
    digests = {**digests_of(beside), live.object.ref: applied_digest(live.object)}
    found = Returns(after_failure.revision_name, tuple(map(str, after_failure.lacks)))
    if isinstance(target.baseline, Known) and obstacle(target, memory, digests) is None:
        return found
    gone = [ref for ref, fact in beside.items() if isinstance(fact, Absent)]
    choice = choose_version(live.snapshot, memory, digests, gone)
    if choice.revision is None:
        return found
    if choice.version is not None:
        shared = [ref for ref in choice.version.iter_changed(digests) if ref in beside]
        neighbours = read_neighbours(session, shared, [live.object.ref])
        refs = lacking_now(target, memory, choice.version, digests, beside, neighbours)
        lacks = tuple(map(str, refs))
    else:
        lacks = configuration_names(choice.revision.template)
    return replace(
        found,
        undo=choice.revision.name,
        undo_lacks=lacks,
        undo_conflicts=conflicting_managers(live.object, choice, memory),
    )


def _revisions(live: Live, facts: LockFacts, returns: Returns) -> tuple[Revision, ...]:
    current, ref, memory = live.snapshot.current(), live.object.ref, facts.history
    owned = sorted(live.snapshot.list_owned(), key=lambda rs: rs.revision or 0, reverse=True)
    pods = {rs.uid: live.snapshot.count_pods(rs) for rs in owned}
    return tuple(
        Revision(
            number=rs.revision,
            name=rs.name,
            images=rs.template.images(),
            change_cause=rs.change_cause,
            created_at=rs.created_at,
            pods=pods[rs.uid],
            running=pods[rs.uid].created > 0 if current is None else rs.uid == current.uid,
            judged=(judged := find_last_word(memory, rs, ref)),
            returns=returns,
            course=course_of(
                rs, judged, memory, tried_again=is_tried_again(judged, facts, ref, rs, current)
            ),
        )
        for rs in owned
    )
