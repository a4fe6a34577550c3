"""The tree that `status` prints: Deployment, ReplicaSets, pods, conditions, causes."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.model.fact import Absent
from gate.core.model.objects import Deployment, ReplicaSet
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.report.document.pods import pod_lines
from gate.report.style.style import Style, Symbol, Tone, columns, pad

_MOST_REPLICA_SETS = 6
_TONES = {
    VerdictKind.COMPLETE: Tone.GOOD,
    VerdictKind.FAILED: Tone.BAD,
    VerdictKind.SUPERSEDED: Tone.UNSURE,
    VerdictKind.PROGRESSING: Tone.UNSURE,
    VerdictKind.HELD: Tone.UNSURE,
}


def status_tree(rollout: Rollout, now: float, style: Style, remembered: str = "") -> str:
    """Return a Deployment, all that belongs to it, and why it is so, ending in a line feed.

    `now` is monotonic seconds of the clock by which the rollout is followed; `remembered` is what
    a lock knows about why it is so.
    """
    live = rollout.snapshot.live
    if live is None:
        missing = isinstance(rollout.snapshot.workload, Absent)
        end = "does not exist" if missing else "could not be read"
        return style.cut(f"{rollout.ref} in {rollout.ref.namespace} {end}") + "\n"
    lines = [
        *_fold_lines(
            "", "  ", f"{rollout.ref} in {rollout.ref.namespace}, {_counts(rollout, live)}", style
        ),
        *_verdict(rollout, now, style),
        *(_fold_lines("  ", "  ", remembered, style) if remembered else ()),
        *_replica_sets(rollout, style),
        *_conditions(live, style),
        *_causes(rollout, now, style),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _counts(rollout: Rollout, live: Deployment) -> str:
    """Return what is wanted, and what is ready in all versions, as their ReplicaSets count it."""
    ready = sum(replica_set.ready_replicas for replica_set in rollout.snapshot.list_owned())
    revision = f"revision {live.revision}, " if live.revision is not None else ""
    paused = ", paused" if live.paused else ""
    noun = "pod" if live.replicas == 1 else "pods"
    return f"{revision}{live.replicas} {noun} wanted, {ready} ready{paused}"


def _verdict(rollout: Rollout, now: float, style: Style) -> list[str]:
    verdict = rollout.verdict(now)
    kind = style.paint(verdict.kind.value, _TONES[verdict.kind])
    says_it_all = (Reason.VACUOUS.lower(), verdict.kind.value)
    said = [] if verdict.reason.lower() in says_it_all else [f"{verdict.reason}:"]
    room = style.width - len(verdict.kind.value) - 2
    first, *rest = style.wrap(" ".join([*said, verdict.message]), room, 2)
    return [f"{kind}: {first}", *(f"  {line}" for line in rest)]


def _replica_sets(rollout: Rollout, style: Style) -> Iterator[str]:
    """Yield the ReplicaSets that have or want pods, the new one first, then by revision."""
    current = rollout.snapshot.current()
    owned = sorted(rollout.snapshot.list_owned(), key=lambda rs: -(rs.revision or 0))
    live = [rs for rs in owned if rs == current or rs.replicas or rs.status_replicas]
    live.sort(key=lambda rs: rs != current)
    shown = live[:_MOST_REPLICA_SETS]
    hidden = len(owned) - len(shown)
    for index, replica_set in enumerate(shown):
        last = index == len(shown) - 1 and not hidden
        role = "new" if replica_set == current else "old"
        yield from _replica_set(rollout, replica_set, role, last=last, style=style)
    if hidden:
        noun = "ReplicaSet" if hidden == 1 else "ReplicaSets"
        without = " without pods" if len(live) == len(shown) else ""
        yield f"{style.sign(Symbol.LAST_BRANCH)}{hidden} more old {noun}{without}"


def _replica_set(
    rollout: Rollout, replica_set: ReplicaSet, role: str, *, last: bool, style: Style
) -> Iterator[str]:
    branch = style.sign(Symbol.LAST_BRANCH if last else Symbol.BRANCH)
    trunk = style.sign(Symbol.NO_TRUNK if last else Symbol.TRUNK)
    words = f"replicaset/{replica_set.name}: {_replica_set_words(replica_set, role)}"
    yield from _fold_lines(branch, f"{trunk}  ", words, style)
    if replica_set.failure is not None:
        sign = f"{trunk}{style.sign(Symbol.UNSURE)} "
        yield from _fold_lines(sign, f"{trunk}  ", replica_set.failure.message, style)
    pods = [
        track for track in rollout.snapshot.pods.values() if track.pod.owner_uid == replica_set.uid
    ]
    lines = pod_lines(pods)
    for index, line in enumerate(lines):
        ends = index == len(lines) - 1
        twig = trunk + style.sign(Symbol.LAST_BRANCH if ends else Symbol.BRANCH)
        below = trunk + style.sign(Symbol.NO_TRUNK if ends else Symbol.TRUNK)
        yield from _fold_lines(twig, f"{below}  ", line, style)


def _replica_set_words(replica_set: ReplicaSet, role: str) -> str:
    revision = f"revision {replica_set.revision}, " if replica_set.revision is not None else ""
    images = ", ".join(replica_set.template.images())
    ready = f"{replica_set.ready_replicas} of {replica_set.replicas} ready"
    return f"{role}, {revision}{ready}, {replica_set.available_replicas} available, {images}"


def _conditions(live: Deployment, style: Style) -> Iterator[str]:
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
