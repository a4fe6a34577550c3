"""What runs now, read once: the basis of `status`, `history`, `undo` and similar commands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import workload_ref
from gate.core.attempt.new_rollout import applied_found
from gate.core.frozen import dataclass
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Revision, Watched, Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Kind, Listed, Observed
from gate.core.rollout.policy import Policy
from gate.core.rollout.snapshot import Snapshot
from gate.errors import RefusedError
from gate.kube.answers.failures import ApiError
from gate.kube.kinds.registry import WORKLOADS, workload_of
from gate.kube.reads.lists import list_all
from gate.kube.reads.quorum_reads import Reader
from gate.side_by_side import each

_LONGEST_AGE_SECONDS: Final = 2147483647.0
"""How old a rollout without a deadline is taken to be: as old as the longest deadline allows."""

_NAMESPACE_HINT: Final = "is the namespace right? -n NAMESPACE"


@dataclass(frozen=True, slots=True)
class Live:
    """A workload that exists, with its revisions and pods, as one read found them."""

    object: LiveObject
    workload: Workload
    snapshot: Snapshot

    def revision(self, number: int) -> Revision | None:
        """Return what keeps the template of a revision, None if it is gone."""
        return next((rs for rs in self.snapshot.list_owned() if rs.revision == number), None)


def read_object(session: Session, ref: Ref) -> LiveObject:
    """Read a workload; RefusedError if there is none of that name.

    The hint names those of other kinds that have the name: which kind is meant is never guessed.
    """
    reader = Reader(session.client, session.resources, session.clock)
    fact = reader.live(ref)
    if isinstance(fact, Known):
        return fact.value
    namesakes = " or ".join(map(str, _iter_namesakes(reader, ref)))
    hint = f"there is {namesakes}: name that one" if namesakes else _NAMESPACE_HINT
    raise RefusedError(
        f"there is no {ref} in namespace {ref.namespace}", reason=Reason.NOT_FOUND, hint=hint
    )


def read_facts(session: Session, refs: Sequence[Ref]) -> dict[Ref, Fact[LiveObject]]:
    """Read objects side by side; Unknown for one that cannot be read."""
    reader = Reader(session.client, session.resources, session.clock)

    def read(ref: Ref) -> Fact[LiveObject]:
        try:
            return reader.live(ref)
        except ApiError as error:
            return Unknown(error.message)

    return dict(zip(refs, each(session.clock, read, refs), strict=True))


def _iter_namesakes(reader: Reader, ref: Ref) -> Iterator[Ref]:
    """Yield the workloads of other kinds that have the name, as far as they may be read."""
    for kind in WORKLOADS:
        resource = kind.watched.resource
        other = replace(ref, api_version=resource.api_version, kind=resource.kind)
        with suppress(ApiError):
            if other != ref and isinstance(reader.live(other), Known):
                yield other


def selector_of(live: LiveObject) -> Mapping[str, Any]:
    """Return the label selector of a workload's parts."""
    return workload_of(live.ref).selector(live.body.thaw())


def read_live(session: Session, name: str) -> Live:
    """Read a workload and what it owns; RefusedError if there is none of that name."""
    ref = workload_ref(session.namespace, name)
    found = read_object(session, ref)
    if found.workload is None:
        raise TypeError(f"{ref} was read as something else")
    lists = Reader(session.client, session.resources, session.clock).lists(found)
    now = session.clock.now()
    snapshot = replace(unseen(ref), written=True).fold(Observed(now, found.workload))
    for kind, things in lists:
        snapshot = snapshot.fold(Listed(now, kind, ref, things))
    return Live(found, found.workload, snapshot)


def with_warnings(session: Session, rollout: Rollout) -> Rollout:
    """Return the rollout with the warnings about its workload, as that a quota denies its pods.

    Where they may not be read, it is judged without them.
    """
    query = (("fieldSelector", f"type=Warning,involvedObject.name={rollout.ref.name}"),)
    with suppress(ApiError):
        listed = list_all(session.client, Kind.EVENT, rollout.ref.namespace, query)
        for event in listed.objects:
            rollout = rollout.observe(Observed(session.clock.now(), event))
    return rollout


def judge_now(live: Live, now: float) -> Rollout:
    """Judge the current state without waiting for time to pass.

    A progress deadline condition counts at once, and so do earlier restarts of a pod that is not
    ready; a ready pod is not blamed for crashes of months ago.
    """
    workload = live.workload
    snapshot = unseen(workload.ref).fold(Observed(now, workload))
    for node in live.snapshot.nodes.present.values():
        snapshot = snapshot.fold(Observed(now, node))
    later: list[Watched] = [*live.snapshot.revisions.values()]
    for track in live.snapshot.pods.values():
        if track.pod.ready:
            snapshot = snapshot.fold(Observed(now, track.pod))
        else:
            later.append(track.pod)
    found = applied_found(now, workload)
    rollout = Rollout.start(found, snapshot, Policy(), total_seconds=math.inf)
    believed_at = now - min(rollout.deadline_seconds, _LONGEST_AGE_SECONDS)
    rollout = replace(rollout, applied=replace(found, at=believed_at))
    for thing in later:
        rollout = rollout.observe(Observed(now, thing))
    return rollout
