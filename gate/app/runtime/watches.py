"""An attempt's watches, started before its first write: they show what served until then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gate.app.runtime.session import Session
from gate.core.kinds.registry import unseen
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Target
from gate.core.protocol.events import AccessRefused, ContactFailed, ContactLost
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.owners import Owners
from gate.core.rollout.snapshot import Snapshot
from gate.engine import Message
from gate.errors import RefusedError
from gate.kube.kinds import registry
from gate.kube.reads.watch import watches_of
from gate.wire.kinds.registry import kind_of

LONGEST_RECEIVE_SECONDS = 3600.0
LEAVE_SECONDS = 0.1
_LAST: Final = 99


class Watching:
    """Watches on some workloads, and what they have shown so far.

    Until the attempt begins, `settle` folds events here; later ones stay in the inbox.
    """

    def __init__(
        self,
        session: Session,
        selectors: Mapping[Ref, Mapping[str, Any]],
        tap: Callable[[bytes], None] | None = None,
    ) -> None:
        """Set up the watches; `start` starts them."""
        self._session = session
        self.selectors = FrozenMap(selectors)
        self._watches = watches_of(session.client, selectors, session.clock, session.inbox.put, tap)
        self._snapshots = FrozenMap((ref, unseen(ref)) for ref in selectors)
        self._owners = Owners()
        self._listed: set[tuple[Ref, Kind]] = set()
        self._why_not = ""

    def start(self) -> None:
        """Start the watches; they end with the session."""
        self._watches.start()
        self._session.at_end(self._leave)

    def settle(self, seconds: float) -> None:
        """Wait until everything is listed once; RefusedError if that takes too long.

        Events are folded with owners first, so that each object can be assigned to its workload.
        """
        events: list[Message] = []
        ends_at = self._session.clock.now() + seconds
        while not self._is_settled():
            left = ends_at - self._session.clock.now()
            event = self._session.clock.receive(self._session.inbox, left) if left > 0 else None
            if event is None:
                why = f": {self._why_not}" if self._why_not else ""
                raise RefusedError(
                    f"the API server did not list what runs within {seconds:.0f} s{why}",
                    reason=Reason.UNREACHABLE,
                    hint="--connect-timeout sets how long it is tried",
                )
            self._note(event)
            events.append(event)
        for event in sorted(events, key=_rank):
            self._take_in(event)

    def warn_of_unread(self, warn: Callable[[str], None]) -> None:
        """Warn of what may not be read although verdicts would look at it."""
        blind = [
            str(snapshot.ref)
            for snapshot in self._snapshots.values()
            if snapshot.kind.looks_at_nodes and not snapshot.nodes.are_known
        ]
        if blind:
            warn(
                f"nodes may not be read (it takes list and watch on nodes): {', '.join(blind)} has"
                " to follow on each one, also where it is not Ready"
            )

    def target(self, ref: Ref) -> Target:
        """Return what is known of a workload now, with its baseline."""
        snapshot = self._snapshots[ref]
        return Target(ref, snapshot, baseline_of(snapshot))

    def snapshot(self, ref: Ref) -> Snapshot:
        """Return what is known of a workload now."""
        return self._snapshots[ref]

    def follow(self, rollout: Rollout) -> Rollout:
        """Wait for the next event, or until time may change the verdict; return the folded rollout.

        RefusedError if no more events will come, since access is no longer allowed.
        """
        now = self._session.clock.now()
        nap = min(max(0.0, rollout.wake_at(now) - now), LONGEST_RECEIVE_SECONDS)
        event = self._session.clock.receive(self._session.inbox, nap)
        if event is not None:
            self._hear(event)
        if isinstance(event, Observed | Vanished | Listed):
            return rollout.observe(event)
        return rollout

    def stop(self) -> None:
        """Stop watching, without waiting for the threads."""
        self._watches.stop()

    def _leave(self) -> None:
        self._watches.stop()
        self._watches.join(LEAVE_SECONDS)

    def _is_settled(self) -> bool:
        return all(
            (ref, kind) in self._listed
            for ref in self._snapshots
            for kind in registry.needed_kinds(ref)
        )

    def _hear(self, event: Message) -> None:
        self._note(event)
        self._take_in(event)

    def _note(self, event: Message) -> None:
        """Note what was listed, or why nothing is; RefusedError if access is not allowed."""
        match event:
            case Listed(_, kind, about, _):
                self._listed.add((about, kind))
            case AccessRefused(_, _, why, reason):
                raise RefusedError(why, reason=reason)
            case ContactLost(_, why) | ContactFailed(_, why):
                self._why_not = why
            case _:
                pass

    def _take_in(self, event: Message) -> None:
        if not isinstance(event, Observed | Vanished | Listed):
            return
        refs, self._owners = self._owners.find_concerned(event), self._owners.after(event)
        for ref in self._snapshots if refs is None else refs & self._snapshots.keys():
            snapshot = self._snapshots[ref].fold(self._owners.narrow(event, ref))
            self._snapshots = self._snapshots.put(ref, snapshot)


def _rank(event: Message) -> int:
    """Return the sort rank of an observation's kind: a workload before what it owns."""
    match event:
        case Observed(_, thing):
            return registry.place_of(kind_of(thing))
        case Vanished(kind=kind) | Listed(kind=kind):
            return registry.place_of(kind)
        case _:
            return _LAST
