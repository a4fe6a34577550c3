"""What a dead gate started, runs once, and still runs: an apply awaits it before it writes.

It may be a migration, of which two must not run at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Final

from gate.app.command_context import CommandContext
from gate.app.execution.earlier_runs import is_running, list_earlier_runs, list_left_behind
from gate.app.execution.recovery import cut_off
from gate.app.execution.run import Ready, run
from gate.app.locks.keeper import Keeper
from gate.app.runtime.live_state import selector_of
from gate.app.runtime.session import connect_learning_secrets
from gate.app.runtime.watches import Watching
from gate.cluster_name import ClusterName
from gate.config import policy
from gate.core.attempt.limits import UNFOLLOWED_SECONDS
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.kinds.registry import has_way_back, kind_of, locks_of
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref, Workload
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.plan import Plan
from gate.core.rollout.policy import Policy
from gate.engine import HEARTBEAT_SECONDS
from gate.errors import RefusedError
from gate.kube.reads.quorum_reads import Reader
from gate.manifests.body import value_at
from gate.manifests.manifest import Manifest
from gate.report.document.versions import latest_snapshot
from gate.sources.source import Sources
from gate.wire.decode import DecodeError

_OF_EARLIER: Final = "of the earlier attempt has not ended"
_POLL_SECONDS: Final = 2.0


def name_left_runs(context: CommandContext, ends: Sequence[Attempt]) -> None:
    """Warn of each that was left running: a command that creates none does not wait for it."""
    if cut_off(ends) is not None:
        return
    for one in _find_left(ends):
        follow = _follow(context, one.ref)
        context.console.warn(f"{one.ref} {_OF_EARLIER}: this run does not wait for it; {follow}")


def await_early_runs(context: CommandContext, manifest: Manifest) -> Attempt | None:
    """Await what a dead gate wrote first and had not seen the end of, before that is finished.

    Nothing that waits for it was written, and its record stays open meanwhile: should this run be
    refused or die, the next apply waits as well. Returns and raises as `await_left_runs`.
    """
    keeper = context.keeper
    if keeper is None:
        return None
    early = [ref for lock in keeper.open_records for ref in _list_early(keeper, lock)]
    wait = _Wait(_find_namespaces(early), _find_locks(context, manifest), is_after_recovery=False)
    return _await_all(context, early, wait)


def _list_early(keeper: Keeper, lock: Lock) -> list[Ref]:
    """Return what ran once, and first, by the record of an attempt that was on its way out.

    Of a record that cannot be read nothing: whoever finishes it says so.
    """
    try:
        record = keeper.record(lock)
    except DecodeError:
        return []
    early = (one.ref for one in record.followed if one.phase is Phase.BEFORE)
    named = [ref for ref in early if ref.namespace in keeper.namespaces_of(lock)]
    is_on_way_out = record.leg is Leg.FORWARD
    return [ref for ref in named if is_on_way_out and not has_way_back(ref)]


def await_left_runs(
    context: CommandContext, manifest: Manifest, ends: Sequence[Attempt]
) -> Attempt | None:
    """Await what was left running, one after the other, each as long as `verify` would.

    That is what the attempts that this run has finished (`ends`) leave, and, if this one runs
    something too, what earlier applies under these locks left, of which the API alone knows.
    Returns an end after which nothing else is started, None if the command goes on. RefusedError
    if something still runs when its budget is over.
    """
    followed = [target.ref for ended in ends for target in ended.plan.targets]
    namespaces = _find_namespaces((*followed, *(one.ref for one in manifest.objects)))
    wait = _Wait(namespaces, _find_locks(context, manifest), is_after_recovery=bool(ends))
    left = [one.ref for one in _find_left(ends)]
    return _await_all(context, (*left, *_find_running(context, manifest)), wait)


def foresee_waits(context: CommandContext, manifest: Manifest) -> list[str]:
    """Say of each thing for which `await_left_runs` would wait by this manifest that it would."""
    namespaces = _find_namespaces(one.ref for one in manifest.objects)
    pods = list_left_behind(context.session, namespaces, _find_locks(context, manifest))
    refs = (*_find_running(context, manifest), *(one.ref for one in pods))
    return [f"{_describe_left(ref)}: an apply would first wait for its end" for ref in refs]


@dataclass(frozen=True, slots=True)
class _Wait:
    """Under which locks, and in which namespaces, pods of Jobs that are gone are awaited as well.

    `is_after_recovery` says whether this run has finished another attempt before.
    """

    namespaces: frozenset[str]
    locks: tuple[Lock, ...]
    is_after_recovery: bool


def _find_running(context: CommandContext, manifest: Manifest) -> list[Ref]:
    """Return what earlier applies of these workloads made and that still runs.

    None where the manifest has nothing that runs once: then nothing begins beside it.
    """
    refs = [one.ref for one in manifest.objects]
    locks = _find_locks(context, manifest)
    made = list_earlier_runs(context.session, _find_namespaces(refs), locks)
    return [one.ref for one in made if one.ref not in refs and is_running(one.workload)]


def _find_namespaces(refs: Iterable[Ref]) -> frozenset[str]:
    """Return the namespaces of those that run once."""
    return frozenset(ref.namespace for ref in refs if not has_way_back(ref))


def _find_locks(context: CommandContext, manifest: Manifest) -> tuple[Lock, ...]:
    """Return the locks of an apply, also of one that takes none."""
    lasting = (one.lasting_ref for one in manifest.objects)
    return locks_of(lasting, context.session.namespace)


def _await_all(context: CommandContext, refs: Iterable[Ref], wait: _Wait) -> Attempt | None:
    """Await each, and then the pods at work of those that somebody deleted or suspended."""
    ended = _await_each(context, tuple(dict.fromkeys(refs)), wait)
    if ended is None:
        _await_left_behind(context, wait)
    return ended


def _await_left_behind(context: CommandContext, wait: _Wait) -> None:
    """Wait until no such pod is at work; raises RefusedError where the budget ends before."""
    clock, said, said_at = context.session.clock, "", -math.inf
    until = clock.now() + (context.settings.timeout or UNFOLLOWED_SECONDS)
    with context.ends_at_signal():
        while left := next(list_left_behind(context.session, wait.namespaces, wait.locks), None):
            if clock.now() >= until:
                refusal = _refuse_beside(context, left)
                refusal.after_recovery = wait.is_after_recovery
                raise refusal
            line = f"{_describe_left(left.ref)}: nothing else is written before it has"
            if line != said or clock.now() >= said_at + HEARTBEAT_SECONDS:
                context.console.note("recover", line)
                said, said_at = line, clock.now()
            clock.wait(_POLL_SECONDS)


def _describe_left(ref: Ref) -> str:
    """Say that it has not ended, and of a pod why nothing else is named in its place."""
    why = ", though its Job was deleted or suspended" if has_way_back(ref) else ""
    return f"{ref} {_OF_EARLIER}{why}"


def _refuse_beside(context: CommandContext, pod: LiveObject) -> RefusedError:
    ref, cluster = pod.ref, context.session.connection.cluster
    call = partial(cluster.command, "kubectl", namespace=ref.namespace)
    stop = _describe_deletion(cluster, pod) or f"if it hangs: {call('delete', str(ref))}"
    return RefusedError(
        f"{_describe_left(ref)}, and a second run beside it could do harm",
        reason=Reason.LOCKED,
        hint=f"to see whether it ends: {call('get', str(ref), '--watch')}; {stop};"
        " then apply again",
    )


def _describe_deletion(cluster: ClusterName, pod: LiveObject) -> str:
    """Say what a pod that is being deleted waits for, "" for another.

    The server sets `deletionTimestamp` to the end of its grace. Finalizers do not prolong the wait:
    its phase, which the node sets, ends that.
    """
    body = pod.body.thaw()
    until = value_at(body, "metadata", "deletionTimestamp")
    node = value_at(body, "spec", "nodeName")
    if not until:
        return ""
    said = f"it is being deleted already, and its containers have until {until} to end"
    if not node:
        return said
    look = cluster.command("kubectl", "describe", f"node/{node}")
    return f"{said}; its node alone tells that they have (--force does not wait for that): {look}"


def _await_each(context: CommandContext, refs: Iterable[Ref], wait: _Wait) -> Attempt | None:
    for ref in refs:
        ended = _follow_to_end(context, ref)
        if ended is None:
            continue
        if (cut := cut_off((ended,))) is not None:
            return cut
        if any(map(is_running, _find_left((ended,)))):
            refusal = _refuse(context, ref)
            refusal.after_recovery = wait.is_after_recovery
            raise refusal
    return None


def _follow_to_end(context: CommandContext, ref: Ref) -> Attempt | None:
    """Follow one in a session of its own, whose answers reach no other attempt; None if it ended.

    One that is gone has ended.
    """
    world, settings = context.world, context.settings
    with ExitStack() as stack:
        session = stack.enter_context(connect_learning_secrets(world, settings, Sources({})))
        with context.ends_at_signal():
            waiting = replace(context, session=session, lock_lane=None, tape=None)
            ready = _plan_wait(waiting, ref)
        if ready is not None:
            context.console.note(
                "recover", f"{ref} {_OF_EARLIER}: nothing else is written before it has"
            )
        return None if ready is None else run(ready)


def _refuse(context: CommandContext, ref: Ref) -> RefusedError:
    words = ("kubectl", "delete", "--cascade=foreground", str(ref))
    stop = context.session.connection.cluster.command(*words, namespace=ref.namespace)
    return RefusedError(
        f"{ref} {_OF_EARLIER}, and a second run beside it could do harm",
        reason=Reason.LOCKED,
        hint=f"{_follow(context, ref)}; if it hangs: {stop}; then apply again",
    )


def _plan_wait(context: CommandContext, ref: Ref) -> Ready | None:
    """Return the plan that writes nothing and follows a workload.

    None if it ended or is gone, or if its pods alone tell, since it is suspended or going.
    """
    session = context.session
    found = Reader(session.client, session.resources, session.clock).live(ref)
    if not isinstance(found, Known):
        return None
    watching = Watching(session, {ref: selector_of(found.value)})
    watching.start()
    watching.settle(context.settings.connect_timeout)
    if not is_running(watching.snapshot(ref).live):
        return None
    budgets = replace(policy(context.settings).budgets, bake_seconds=0.0, evidence_seconds=0.0)
    targets = (watching.target(ref),)
    return Ready(
        context, Plan("verify", targets, (), (), Policy(budgets), may_retreat=False), watching
    )


def _find_left(ends: Iterable[Attempt]) -> Iterator[Workload]:
    """Yield what runs once, and had not come to its end when an attempt ended."""
    for ended in ends:
        for target in ended.plan.targets:
            snapshot = latest_snapshot(ended, target.ref)
            live = snapshot.live if snapshot is not None else None
            if not (has_way_back(target.ref) or live is None or kind_of(live.ref).has_ended(live)):
                yield live


def _follow(context: CommandContext, ref: Ref) -> str:
    words = ("rollout-gate", "verify", str(ref))
    command = context.session.connection.cluster.command(*words, namespace=ref.namespace)
    return f"to follow it: {command}"
