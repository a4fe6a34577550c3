"""A view as a tree of lines that fits a height: what tells least is folded into counts.

A terminal may show a thousand pods on ten lines: pods are shown one by one while there is room,
then similar ones as a number, then versions by their counts alone, then workloads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gate.core.frozen import dataclass
from gate.report.kinds import registry
from gate.report.live.view import (
    CheckView,
    ClockView,
    Mark,
    PodGroup,
    RevisionView,
    View,
    WorkloadView,
)
from gate.report.words.version_names import ready_words


@dataclass(frozen=True, slots=True)
class Branch:
    """One line and the branches below it; `name` stands out, `quiet` is dimmed, after `words`.

    `mark` is the sign before it, None for none; `short` is the name if there is little room.
    """

    mark: Mark | None
    name: str
    words: str = ""
    quiet: str = ""
    short: str = ""
    below: tuple[Branch, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines it takes, with all branches below it."""
        return 1 + sum(branch.lines for branch in self.below)


@dataclass(frozen=True, slots=True)
class Outline:
    """A view that fits: a heading, branches, clocks."""

    view: View
    branches: tuple[Branch, ...]
    clocks: tuple[ClockView, ...]

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return 1 + sum(branch.lines for branch in self.branches) + len(self.clocks)


@dataclass(frozen=True, slots=True)
class Detail:
    """How many of each are shown one by one, at most; `kinds` are groups of similar pods."""

    pods: int
    kinds: int
    revisions: int
    workloads: int
    checks: int


LEVELS: Final = (
    Detail(pods=8, kinds=8, revisions=6, workloads=40, checks=12),
    Detail(pods=3, kinds=8, revisions=6, workloads=40, checks=12),
    Detail(pods=1, kinds=6, revisions=6, workloads=40, checks=8),
    Detail(pods=0, kinds=4, revisions=4, workloads=40, checks=6),
    Detail(pods=0, kinds=2, revisions=2, workloads=40, checks=4),
    Detail(pods=0, kinds=1, revisions=2, workloads=20, checks=3),
    Detail(pods=0, kinds=0, revisions=2, workloads=12, checks=2),
    Detail(pods=0, kinds=0, revisions=0, workloads=12, checks=2),
    Detail(pods=0, kinds=0, revisions=0, workloads=6, checks=1),
    Detail(pods=0, kinds=0, revisions=0, workloads=2, checks=1),
    Detail(pods=0, kinds=0, revisions=0, workloads=1, checks=0),
)
"""From the most detail to the least."""


def fit_outline(view: View, height: int) -> Outline:
    """Return the most detailed outline of at most `height` lines; at least 1 is needed."""
    for detail in LEVELS:
        outline = Outline(view, tuple(_branches(view, detail)), tuple(view.clocks))
        if outline.lines <= height:
            return outline
    return _cut(view, height)


def _cut(view: View, height: int) -> Outline:
    """Return what a few lines can hold: the heading, the worst workload, the first clocks."""
    worst = _worst_first(view.workloads)[:1] if height > 1 else []
    branches = tuple(Branch(one.mark, one.name, one.words) for one in worst)
    room = max(0, height - 1 - len(branches))
    return Outline(view, branches, tuple(view.clocks)[:room])


def _branches(view: View, detail: Detail) -> Iterator[Branch]:
    several = len(view.workloads) > 1
    shown = _worst_first(view.workloads)[: detail.workloads]
    for workload in shown:
        # Of several workloads, the complete ones need no details.
        folded = several and workload.mark is Mark.GOOD
        yield _workload(workload, detail, folded=folded)
    hidden = [one for one in view.workloads if one not in shown]
    if hidden:
        kinds = [one.kind for one in hidden]
        yield _more(hidden, kinds[0].name if len(kinds) == 1 else registry.name_kinds(kinds))
    if view.checks:
        yield _checks(view.checks, detail.checks)


def _worst_first(workloads: Sequence[WorkloadView]) -> list[WorkloadView]:
    return sorted(workloads, key=lambda one: list(Mark).index(one.mark))


def _more(hidden: Sequence[WorkloadView | CheckView], noun: str) -> Branch:
    """Fold what there is no room for into one line with the worst of its marks."""
    marks = list(Mark)
    worst = min((one.mark for one in hidden), key=marks.index)
    return Branch(worst, f"{len(hidden)} more {noun}")


def _workload(workload: WorkloadView, detail: Detail, *, folded: bool) -> Branch:
    below: list[Branch] = []
    if not folded and detail.revisions:
        if workload.cause:
            below.append(Branch(_cause_mark(workload), "", workload.cause))
        shown = workload.revisions[: detail.revisions]
        below += [_revision(one, detail) for one in shown]
        hidden = len(workload.revisions) - len(shown)
        if hidden:
            version = workload.kind.version
            versions = version if hidden == 1 else f"{version}s"
            below.append(Branch(Mark.QUIET, "", quiet=f"{hidden} more {versions}"))
    where = f"{workload.name} in {workload.namespace}"
    words, short = workload.words, workload.name
    return Branch(workload.mark, where, words, short=short, below=tuple(below))


def _cause_mark(workload: WorkloadView) -> Mark:
    """Return the mark of a cause: a worry only, until the verdict is against the version."""
    return Mark.BAD if workload.mark is Mark.BAD else Mark.UNSURE


def _revision(revision: RevisionView, detail: Detail) -> Branch:
    counts = f"{ready_words(revision.ready, revision.wanted)}, {revision.images}"
    name, short = (f"{revision.role} {name}" for name in (revision.name, revision.short))
    if _serves(revision):
        return Branch(Mark.GOOD, name, counts, short=short)
    below: list[Branch] = []
    if revision.trouble and detail.kinds:
        below.append(Branch(Mark.BAD, "", revision.trouble))
    below += _pods(revision, detail)
    return Branch(None, name, counts, short=short, below=tuple(below))


def _serves(revision: RevisionView) -> bool:
    """Tell whether the pods need no lines: all that are wanted are ready."""
    ready = revision.ready == revision.wanted > 0 and not revision.trouble
    return ready and all(group.mark is Mark.GOOD for group in revision.groups)


def _pods(revision: RevisionView, detail: Detail) -> Iterator[Branch]:
    """Yield pods one by one, or similar ones as a number."""
    for group in revision.groups[: detail.kinds]:
        yield from _group(group, detail.pods, f"{revision.name}-")
    rest = sum(len(group.pods) for group in revision.groups[detail.kinds :])
    if rest and detail.kinds:
        yield Branch(Mark.QUIET, "", quiet=f"{rest} pods in other states")


def _group(group: PodGroup, most: int, prefix: str) -> Iterator[Branch]:
    """Yield the pods of one kind; several that are ready, or on their way out, as a number only."""
    count = len(group.pods)
    if group.mark in (Mark.GOOD, Mark.QUIET) and count > 1:
        most = 0
    for pod in group.pods[:most]:
        yield Branch(group.mark, pod.name, pod.words, short=pod.name.removeprefix(prefix))
    rest = count - min(count, most)
    if rest:
        more = "more " if most else ""
        yield Branch(group.mark, "", f"{rest} {more}pod{'' if rest == 1 else 's'} {group.kind}")


def _checks(checks: Sequence[CheckView], most: int) -> Branch:
    """Return the checks below a line of their own; if there are too many, the best are left out."""
    marks = list(Mark)
    kept = sorted(checks, key=lambda check: marks.index(check.mark))[:most]
    below = [_check(check) for check in checks if check in kept]
    hidden = [check for check in checks if check not in kept]
    if hidden:
        below.append(_more(hidden, "check" if len(hidden) == 1 else "checks"))
    if not most:
        return below[0]
    return Branch(None, "checks", below=tuple(below))


def _check(check: CheckView) -> Branch:
    words = f"{check.value} (good: {check.bound})" if check.bound else check.value
    return Branch(check.mark, check.name, words, check.often)
