"""The table that `history` prints: a workload's revisions, latest first."""

from __future__ import annotations

import enum
import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.core.model.origin import NO_ORIGIN, Origin
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.workload_kind import PodCounts
from gate.core.versions.judged_version import JudgedVersion
from gate.report.kinds.kind import WorkloadWords
from gate.report.style.stacked import stack_rows
from gate.report.style.style import Style, columns, pad
from gate.report.words.object_names import fitting_names

_GAP = "  "
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))
_LEAST_COLUMNS = 12
_WIDE = 100
_RETURNS = "<- a failure would return here"
_RETURNS_SHORT = "<- returned to"
_UNDO = "<- undo would return here"
_UNDO_SHORT = "<- undo"
_BOTH = "<- a failure or undo would return here"
_BOTH_SHORT = "<- returned to"


class Verdict(enum.StrEnum):
    """What is remembered about a version."""

    VERIFIED = "verified"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    COMPLETE = "complete"
    """It met every condition, in a run that did not verify all that it wrote."""
    NOT_VERIFIED = "not verified"
    """Its attempt ended for a reason that speaks neither for it nor against it."""


_WITHOUT_A_FAULT: Final[Mapping[AnyReason, Verdict]] = {
    Reason.INTERRUPTED: Verdict.INTERRUPTED,
    Reason.COMPLETE: Verdict.COMPLETE,
    Reason.NO_CHANGE: Verdict.COMPLETE,
}


@dataclass(frozen=True, slots=True)
class Returns:
    """Where a failure of the next apply, and an `undo`, would return to.

    `failure` and `undo` are names of ReplicaSets, "" if there is none to return to, or if that is
    not shown. `failure_lacks` and `undo_lacks` are the objects that could not be returned with
    them; `undo_conflicts` are the field managers whose fields an undo would be refused for.
    """

    failure: str = ""
    failure_lacks: tuple[str, ...] = ()
    undo: str = ""
    undo_lacks: tuple[str, ...] = ()
    undo_conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """How a version came to run, or left, beside its judgement.

    `left_at` is when an `undo` went back from it (RFC 3339), "" if none did. `came_back` is whether
    it was verified last because a rollback returned to it: no check was asked of it then.
    `verified_at` is when it was verified before a judgement that found nothing against it, "" if it
    was not. `tried_again` is whether an attempt that is not finished has rolled it out since.
    """

    left_at: str = ""
    came_back: bool = False
    verified_at: str = ""
    tried_again: bool = False


@dataclass(frozen=True, slots=True)
class Revision:
    """One version of a workload, or a live template that is none yet while a pause holds it back.

    `number` is None before the controller wrote one, and `name`, that of the object that keeps the
    version, is "" for a template that waits; `created_at` is RFC 3339. `running` is true for the
    live template's version, with or without pods; if the template has none, for each that has
    pods. `judged` is the newest judgement of it, None if none is remembered. `returns` is about the
    workload. `course` is about the judged version.
    """

    number: int | None
    name: str
    images: tuple[str, ...]
    change_cause: str
    created_at: str
    pods: PodCounts
    running: bool
    judged: JudgedVersion | None = None
    returns: Returns = Returns()
    course: Course = Course()

    @property
    def returned_to(self) -> bool:
        """Whether a failure of the next apply would return here."""
        return bool(self.name) and self.name == self.returns.failure

    @property
    def undo_returns(self) -> bool:
        """Whether an undo would choose it."""
        return bool(self.name) and self.name == self.returns.undo

    @property
    def verdict(self) -> Verdict | None:
        """What is remembered about it, None if nothing is."""
        if self.judged is None:
            return None
        if self.judged.why is None:
            return Verdict.VERIFIED
        if self.judged.failed:
            return Verdict.FAILED
        return _WITHOUT_A_FAULT.get(self.judged.why.reason, Verdict.NOT_VERIFIED)

    @property
    def origin(self) -> Origin:
        """Where the apply that made it came from, as far as it is remembered."""
        return (self.judged.origin if self.judged is not None else None) or NO_ORIGIN

    def document(self, kind: WorkloadWords) -> dict[str, Any]:
        """Return the JSON object that `history --output json` prints for it.

        `replicaset` is another key for `name` where a ReplicaSet keeps the version, else "".
        """
        why = self.judged.why if self.judged is not None else None
        return {
            "revision": self.number,
            "name": self.name,
            "replicaset": kind.replica_set(self.name),
            "images": list(self.images),
            "change_cause": self.change_cause,
            "created_at": self.created_at,
            "pods": self.pods.created,
            "ready": self.pods.ready,
            "running": self.running,
            "waiting": not self.name,
            "returned_to": self.returned_to,
            "return_lacks": list(self.returns.failure_lacks) if self.returned_to else [],
            "undo_returns": self.undo_returns,
            "undo_lacks": list(self.returns.undo_lacks) if self.undo_returns else [],
            "undo_conflicts": list(self.returns.undo_conflicts) if self.undo_returns else [],
            "verdict": self.verdict,
            "reason": why.reason if why is not None else "",
            "message": why.message if why is not None else "",
            "judged_at": self.judged.judged_at if self.judged is not None else "",
            "came_back": self.course.came_back,
            "left_at": self.course.left_at,
            "verified_at": self.course.verified_at,
            "tried_again": self.course.tried_again,
            "actor": self.origin.actor,
            "commit": self.origin.commit,
            "run_url": self.origin.run_url,
        }


def _number(revision: Revision, _: datetime) -> str:
    return "?" if revision.number is None else str(revision.number)


def _verdict(revision: Revision, now: datetime) -> str:
    """Return what is remembered, since when, and why: `failed 5m ago: CrashLoop`."""
    judged, verdict, course = revision.judged, revision.verdict, revision.course
    if judged is None or verdict is None:
        return "left by an undo" if course.left_at else ""
    said = _since(verdict, judged.judged_at, now)
    if judged.why is None:
        by = ", by a rollback" if course.came_back else ""
        return f"{said}{by}{', left by an undo' if course.left_at else ''}"
    before = f", {_since(Verdict.VERIFIED, course.verified_at, now)}" if course.verified_at else ""
    again = ", tried again since" if course.tried_again else ""
    return f"{said}{_because(judged.why, verdict)}{before}{again}"


def _since(verdict: Verdict, at: str, now: datetime) -> str:
    since = age(at, now)
    return f"{verdict} {since} ago" if since != "?" else f"{verdict}"


def _because(why: Cause, verdict: Verdict) -> str:
    """Return why a version was not verified, as the end of its verdict."""
    if verdict in (Verdict.INTERRUPTED, Verdict.COMPLETE):
        return f": {why.seen}" if why.seen is not None else ""
    if why.reason is Reason.SIBLING_FAILED:
        return f": {why.message.partition(':')[0] or why.reason}"
    return f": {why.reason}"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table; `sparse` ones are left out if no revision has anything in them.

    `cut` shortens what is too long for the stream, at the side that tells least; a column without
    it stays whole. `room` orders the columns that share the room left over, and `leaves` those that
    are left out of a narrow stream; with 0 a column is never left out.
    """

    heading: str
    cell: Callable[[Revision, datetime], str]
    numeric: bool = False
    sparse: bool = False
    cut: Callable[[Style, str, int], str] | None = None
    room: int = 0
    leaves: int = 0


_COLUMNS: Final = (
    _Column("REVISION", _number, numeric=True),
    _Column("AGE", lambda one, now: age(one.created_at, now), numeric=True),
    _Column("PODS", lambda one, _: str(one.pods.created), numeric=True),
    _Column("VERDICT", _verdict, sparse=True, cut=Style.cut, room=1),
    _Column("BY", lambda one, _: one.origin.actor, sparse=True, cut=Style.cut, room=2, leaves=1),
    _Column("COMMIT", lambda one, _: one.origin.short_commit, sparse=True, leaves=2),
    _Column("IMAGES", lambda one, _: ", ".join(one.images), cut=Style.cut_before, room=3),
    _Column(
        "CHANGE CAUSE",
        lambda one, _: one.change_cause,
        sparse=True,
        cut=Style.cut,
        room=4,
        leaves=3,
    ),
)


def history_table(revisions: Sequence[Revision], now: datetime, style: Style) -> str:
    """Return the revisions as an aligned table, the highest number first, marks to the right.

    If the stream is too narrow for it, the long columns are cut, then who, commit and change cause
    are left out, one after the other; the marks stay. If it is narrower still, each revision gets a
    block with all that there is. `now` has a time zone; ages are counted from it.
    """
    if not revisions:
        return "no revisions\n"
    ordered = sorted(revisions, key=lambda revision: -(revision.number or 0))
    is_wide, named = style.width >= _WIDE, style.width // 3
    states = [(one, _describe_state(one, ordered)) for one in ordered]
    marks = ["", *(_mark(one, state, named, wide=is_wide) for one, state in states)]
    room = style.width - max(map(columns, marks))
    shown = _fit_columns(ordered, now, style, room)
    if sum(width + len(_GAP) for _, _, width in shown) > room:
        names = [*(column.heading for column in _COLUMNS), ""]
        rows = [
            [*(column.cell(one, now) for column in _COLUMNS), mark]
            for one, mark in zip(ordered, marks[1:], strict=True)
        ]
        return "\n".join(stack_rows(names, rows, style)) + "\n"
    cells = [_lines(column, texts, width, style) for column, texts, width in shown]
    lines = (_GAP.join(row).rstrip() for row in zip(*cells, marks, strict=True))
    return "\n".join(lines) + "\n"


_Shown = tuple[_Column, Sequence[str], int]


def _fit_columns(
    revisions: Sequence[Revision], now: datetime, style: Style, room: int
) -> Sequence[_Shown]:
    """Return the columns that there is room for, each with its cells and its width."""
    texts = {column: [column.cell(one, now) for one in revisions] for column in _COLUMNS}
    columns_left = [one for one in _COLUMNS if not one.sparse or any(texts[one])]
    while True:
        cells = {one: [one.heading, *(text or "-" for text in texts[one])] for one in columns_left}
        widths = _widths(cells, style, room)
        leaving = [one for one in columns_left if one.leaves]
        if not leaving or sum(widths.values()) + len(_GAP) * len(widths) <= room:
            return [(one, cells[one], widths[one]) for one in columns_left]
        columns_left.remove(min(leaving, key=lambda one: one.leaves))


def _widths(cells: Mapping[_Column, Sequence[str]], style: Style, room: int) -> dict[_Column, int]:
    """Return the columns' widths: those that may be cut share what the others leave, in turn."""
    whole = {one: max(columns(style.printable(text)) for text in cells[one]) for one in cells}
    widths = {one: min(whole[one], _LEAST_COLUMNS) if one.cut else whole[one] for one in cells}
    left = room - sum(widths.values()) - len(_GAP) * len(widths)
    for one in sorted(cells, key=lambda one: one.room):
        more = max(0, min(left, whole[one] - widths[one]))
        widths[one] += more
        left -= more
    return widths


def _lines(column: _Column, texts: Sequence[str], width: int, style: Style) -> list[str]:
    cells = [column.cut(style, text, width) if column.cut else text for text in texts]
    return [cell.rjust(width) if column.numeric else pad(cell, width) for cell in cells]


def age(created_at: str, now: datetime) -> str:
    """Return an age in the largest unit that fits twice into it, "?" if it is unknown."""
    try:
        created = datetime.fromisoformat(created_at)
    except ValueError:
        return "?"
    if created.tzinfo is None:
        return "?"
    seconds = max(0, int((now - created).total_seconds()))
    for unit, sign in _UNITS:
        if seconds >= 2 * unit:
            return f"{seconds // unit}{sign}"
    return f"{seconds}s"


def _mark(revision: Revision, state: str, named: int, *, wide: bool) -> str:
    """Return the marks beside a revision; `named` is how many columns names may take."""
    parts = [state] if state else []
    if revision.returned_to and revision.undo_returns and not _is_impaired(revision.returns):
        parts.append(_BOTH if wide else _BOTH_SHORT)
        return " ".join(parts)
    if revision.returned_to:
        parts.append(_return_mark(revision.returns, named, wide=wide))
    if revision.undo_returns:
        parts.append(_undo_mark(revision, named, wide=wide))
    return " ".join(parts)


def _is_impaired(returns: Returns) -> bool:
    return bool(returns.failure_lacks or returns.undo_lacks or returns.undo_conflicts)


def _return_mark(returns: Returns, named: int, *, wide: bool) -> str:
    """Mark the revision that a failure returns to, with what would not come back with it."""
    if not wide:
        return _RETURNS_SHORT
    if not returns.failure_lacks:
        return _RETURNS
    return f"{_RETURNS}, without {fitting_names(returns.failure_lacks, named)}"


def _undo_mark(revision: Revision, named: int, *, wide: bool) -> str:
    """Mark the revision that `undo` chooses: how it returns there, or that it is refused."""
    returns = revision.returns
    names = fitting_names(returns.undo_lacks, named)
    if returns.undo_lacks and revision.running:
        refused = f"<- undo is refused: {names} cannot be restored"
        return refused if wide else "<- undo refused"
    flags = ["--deployment-only"] if returns.undo_lacks else []
    flags += [f"--take-over {shlex.quote(manager)}" for manager in returns.undo_conflicts]
    if not flags:
        return _UNDO if wide else _UNDO_SHORT
    command = " ".join(["<- undo", *flags])
    without = f", without {names}" if returns.undo_lacks else ""
    return f"{command} would return here{without}" if wide else command


def _describe_state(revision: Revision, revisions: Sequence[Revision]) -> str:
    """Say which revision the live template's is, and which ones have pods that are ready.

    `running` is that of the live template where it has all pods there are.
    """
    if revision.running and not any(one.pods.created for one in revisions if one is not revision):
        return "running" if revision.pods.created else "current"
    is_live = revision.running and sum(one.running for one in revisions) == 1
    words = [*(["current"] if is_live else []), *(["serving"] if revision.pods.ready else [])]
    return ", ".join(words)
