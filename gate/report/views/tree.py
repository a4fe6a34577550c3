"""The tree that `status` prints: a workload, its versions, pods, conditions, causes."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.model.fact import Absent
from gate.core.model.objects import Workload
from gate.core.model.outcome import Outcome, Reason
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.workload_kind import CURRENT, call_others
from gate.report.document.branches import Branch, branches_of
from gate.report.document.pods import pod_lines
from gate.report.document.status_document import call_verdict
from gate.report.kinds import registry
from gate.report.kinds.kind import WorkloadWords
from gate.report.style.style import Style, Symbol, Tone, columns, pad
from gate.report.words.moment import describe_run, moment
from gate.report.words.version_names import ready_words

_MOST_BRANCHES = 6
_TONES = {
    VerdictKind.COMPLETE: Tone.GOOD,
    VerdictKind.FAILED: Tone.BAD,
    VerdictKind.SUPERSEDED: Tone.UNSURE,
    VerdictKind.EMPTIED: Tone.UNSURE,
    VerdictKind.PROGRESSING: Tone.UNSURE,
    VerdictKind.HELD: Tone.UNSURE,
}


def status_tree(rollout: Rollout, now: float, style: Style, remembered: str = "") -> str:
    """Return a workload, all that belongs to it, and why it is so, ending in a line feed.

    `now` is monotonic seconds of the clock by which the rollout is followed; `remembered` is what
    a lock knows about why it is so.
    """
    live = rollout.snapshot.live
    if live is None:
        missing = isinstance(rollout.snapshot.workload, Absent)
        end = "does not exist" if missing else "could not be read"
        return style.cut(f"{rollout.ref} in {rollout.ref.namespace} {end}") + "\n"
    kind = registry.of_ref(rollout.ref)
    title = f"{rollout.ref} in {rollout.ref.namespace}, {_counts(rollout, live)}"
    lines = [
        *_fold_lines("", "  ", title, style),
        *_verdict(rollout, now, style),
        *(_fold_lines("  ", "  ", remembered, style) if remembered else ()),
        *_branches(rollout, kind, style),
        *_conditions(live, style),
        *_causes(rollout, now, style),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _counts(rollout: Rollout, live: Workload) -> str:
    """Return what is wanted, and what is ready in all versions; when it ran if it is over."""
    snapshot = rollout.snapshot
    began, ended = map(moment, live.run_times)
    if ended:
        return describe_run(began, ended)
    ready = sum(snapshot.count_pods(one).ready for one in snapshot.list_owned())
    revision = f"revision {live.revision}, " if live.revision is not None else ""
    paused = ", paused" if live.paused else ""
    noun = "pod" if live.replicas == 1 else "pods"
    started = f", started at {began}" if began else ""
    return f"{revision}{live.replicas} {noun} wanted, {ready} ready{paused}{started}"


def _verdict(rollout: Rollout, now: float, style: Style) -> list[str]:
    verdict = rollout.verdict(now)
    word = call_verdict(verdict)
    tone = Tone.UNSURE if word == Outcome.APPLIED else _TONES[verdict.kind]
    says_it_all = (Reason.VACUOUS.lower(), verdict.kind.value)
    said = [] if verdict.reason.lower() in says_it_all else [f"{verdict.reason}:"]
    room = style.width - len(word) - 2
    first, *rest = style.wrap(" ".join([*said, verdict.message]), room, 2)
    return [f"{style.paint(word, tone)}: {first}", *(f"  {line}" for line in rest)]


def _branches(rollout: Rollout, kind: WorkloadWords, style: Style) -> Iterator[str]:
    """Yield the versions that have or want pods, the current one first, then by revision."""
    current, snapshot = rollout.snapshot.current(), rollout.snapshot
    uid = current.uid if current is not None else ""
    is_over = snapshot.live is not None and snapshot.kind.has_ended(snapshot.live)
    every = branches_of(snapshot)
    live = sorted(
        (one for one in every if one.uid == uid or one.has_pods), key=lambda one: one.uid != uid
    )
    shown = live[:_MOST_BRANCHES]
    hidden = len(every) - len(shown)
    for index, branch in enumerate(shown):
        last = index == len(shown) - 1 and not hidden
        role = CURRENT if branch.uid == uid else call_others(CURRENT)
        said = ", ".join(branch.images) if is_over else _branch_words(branch, role)
        words = f"{kind.call_version(branch.name)}: {said}"
        yield from _branch(branch, words, last=last, style=style)
    if hidden:
        noun = kind.version if hidden == 1 else f"{kind.version}s"
        without = " without pods" if len(live) == len(shown) else ""
        yield f"{style.sign(Symbol.LAST_BRANCH)}{hidden} more {noun}{without}"


def _branch(branch: Branch, words: str, *, last: bool, style: Style) -> Iterator[str]:
    twig = style.sign(Symbol.LAST_BRANCH if last else Symbol.BRANCH)
    trunk = style.sign(Symbol.NO_TRUNK if last else Symbol.TRUNK)
    yield from _fold_lines(twig, f"{trunk}  ", words, style)
    if branch.failure:
        sign = f"{trunk}{style.sign(Symbol.UNSURE)} "
        yield from _fold_lines(sign, f"{trunk}  ", branch.failure, style)
    lines = pod_lines(branch.pods)
    for index, line in enumerate(lines):
        ends = index == len(lines) - 1
        twig = trunk + style.sign(Symbol.LAST_BRANCH if ends else Symbol.BRANCH)
        below = trunk + style.sign(Symbol.NO_TRUNK if ends else Symbol.TRUNK)
        yield from _fold_lines(twig, f"{below}  ", line, style)


def _branch_words(branch: Branch, role: str) -> str:
    revision = f"revision {branch.number}, " if branch.number is not None else ""
    count, images = branch.count, ", ".join(branch.images)
    ready = ready_words(count.ready, count.wanted)
    return f"{role}, {revision}{ready}, {count.available} available, {images}"


def _conditions(live: Workload, style: Style) -> Iterator[str]:
    if not live.conditions:
        return
    yield "conditions"
    widest = max(columns(condition.type) for condition in live.conditions)
    for condition in live.conditions:
        name = pad(condition.type, widest)
        text = f"{condition.reason}: {condition.message}" if condition.message else condition.reason
        start = f"  {name}  {pad(condition.status, len('Unknown'))}  "
        yield from _fold_lines(start, " " * columns(start), text, style)


def _causes(rollout: Rollout, now: float, style: Style) -> Iterator[str]:
    causes = rollout.causes(now)
    if causes:
        yield "causes"
    for cause in causes:
        yield from _fold_lines("  ", "    ", f"{cause.reason}: {cause.message}", style)


def _fold_lines(first: str, below: str, text: str, style: Style) -> Iterator[str]:
    """Yield `text` on at most two lines, each after its margin."""
    lines = style.wrap(text, style.width - max(columns(first), columns(below)), 2)
    for margin, line in zip((first, below), lines, strict=False):
        yield margin + line
