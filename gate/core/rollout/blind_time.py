"""Blind time: a standstill says nothing about a version while we cannot see, or nobody acts.

Once a request or a watch has failed, facts are missing from the last good one until the next
complete quorum read. Controllers do not act while the facts show work that only they could do.
Neither time counts as a lack of progress, nor towards a grace; nor does any time for which the
gate itself stood still.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText, Workload
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause
from gate.core.rollout.missing_facts import MissingFacts
from gate.core.rollout.snapshot import Snapshot

CONTROLLER_LAG_SECONDS = 5.0
"""How long controllers may take to react before a sign means that they do not act."""
CONDITION_STANDS_SECONDS = 5.0
"""How long a deadline condition has to hold after blindness: controllers that come back write it
before they have looked at the pods (deployment controller, `DeploymentTimedOut`)."""
NOT_OBSERVING_SECONDS = 30.0
"""Controllers that have not acted for this long are named as a cause."""


Counters = tuple[int, ...]
"""Numbers that controllers write: if any of them changes, they act."""


@dataclass(frozen=True, slots=True)
class Blindness:
    """The blind time of one leg, in monotonic seconds.

    `since` is when the present blindness began, None if there is none. `past_seconds` is how long
    the earlier ones lasted together, `ended_at` when the last of them ended. `sign` shows
    that controllers do not act ("" for none); it has held since `sign_since` with `counters`
    unchanged. `silent_since` is when the controller manager stopped renewing its Lease, infinite if
    it renews it or that is unknown. `exceeded_since` is when the present deadline condition was
    first seen. At most `limit_seconds`, one progress deadline, are deducted, and what
    the gate itself stood still.
    """

    limit_seconds: float = math.inf
    missing: MissingFacts = field(default_factory=MissingFacts)
    sign: str = ""
    sign_since: float = math.inf
    counters: Counters = ()
    since: float | None = None
    past_seconds: float = 0.0
    ended_at: float = -math.inf
    exceeded_since: float = math.inf
    silent_since: float = math.inf

    # -- what is seen ------------------------------------------------------------------------------

    def without_facts(self, since: float) -> Blindness:
        """Return it after a request or a watch failed; the last fact arrived at `since`."""
        if self.facts_missing:
            return self
        began = since if self.since is None else min(since, self.since)
        missing = self.missing.begin(since)
        return replace(self, missing=missing, since=max(began, self.ended_at))

    def after_suspension(self, at: float, seconds: float) -> Blindness:
        """Return it after the gate stood still for `seconds` until `at`: nobody saw that time."""
        since = at if self.since is None else self.since + seconds
        missing = self.missing.after_suspension(at, seconds)
        return replace(
            self,
            missing=missing,
            since=since,
            sign_since=self.sign_since + seconds,
            silent_since=self.silent_since + seconds,
        )

    def read_well(self, at: float) -> Blindness:
        """Return it after a complete quorum read."""
        return (
            replace(self, missing=self.missing.end(at)).settle(at) if self.facts_missing else self
        )

    def controllers_silent(self, at: float, since: float) -> Blindness:
        """Return it after a look at the controller manager's Lease; `since` is infinite if it acts.

        An unchanged Lease shows the silence late: all the time from `since` on was blind, but for
        what the gate itself, and maybe the machine of both, stood still.
        """
        if math.isinf(since):
            return replace(self, silent_since=since).settle(at)
        silent_since = min(self.silent_since, max(since, self.missing.awake_since))
        began = max(silent_since, self.ended_at)
        return replace(
            self,
            silent_since=silent_since,
            since=began if self.since is None else min(began, self.since),
        )

    def fold(
        self, at: float, snapshot: Snapshot, live: Workload, limit: float, ready_pods: int
    ) -> Blindness:
        """Return it after something was seen; `ready_pods` are those of the followed revision.

        `limit` is the present progress deadline in seconds.
        """
        kind = snapshot.kind
        sign = kind.sign_of_idleness(snapshot, live, ready_pods)
        counters = kind.controller_counters(snapshot, live) if sign else ()
        is_exceeded = kind.exceeded_deadline(live) is not None
        exceeded_since = min(self.exceeded_since, at) if is_exceeded else math.inf
        known = (self.sign, self.counters, self.exceeded_since, self.limit_seconds)
        if known == (sign, counters, exceeded_since, limit):
            return self
        same = (sign, counters) == (self.sign, self.counters)
        since = self.sign_since if same else (at if sign else math.inf)
        begun = self._with_blindness_begun(at)
        # Spelled out, as `replace` is slower: a sign comes and goes with most observations.
        return Blindness(
            limit,
            begun.missing,
            sign,
            since,
            counters,
            begun.since,
            begun.past_seconds,
            begun.ended_at,
            exceeded_since,
            begun.silent_since,
        ).settle(at)

    def _with_blindness_begun(self, at: float) -> Blindness:
        """Return it with blindness begun if, by `at`, a sign has outlasted the controllers' lag."""
        begins_at = self.sign_since + CONTROLLER_LAG_SECONDS
        if self.since is not None or at < begins_at:
            return self
        return replace(self, since=max(begins_at, self.ended_at))

    def settle(self, at: float) -> Blindness:
        """Return it with blindness that is over at `at` moved to the past."""
        acts_late = at >= self.sign_since + CONTROLLER_LAG_SECONDS
        is_silent = self.silent_since < math.inf
        if self.since is None or self.facts_missing or acts_late or is_silent:
            return self
        past = self.past_seconds + max(0.0, at - self.since)
        return replace(self, since=None, past_seconds=past, ended_at=max(at, self.since))

    @property
    def facts_missing(self) -> bool:
        """Whether no complete read has followed a request or a watch that failed."""
        return self.missing.since is not None

    @property
    def is_unseen(self) -> bool:
        """Whether it is blind for a reason that no object shows: a recording has to note it."""
        return self.facts_missing or self.silent_since < math.inf

    def has_begun(self, now: float) -> bool:
        """Tell whether any time until `now` was blind, or the gate stood still."""
        is_past = self.since is not None or self.past_seconds or self.missing.has_ended
        return bool(is_past) or now >= self.sign_since + CONTROLLER_LAG_SECONDS

    # -- what it means -----------------------------------------------------------------------------

    def seconds(self, now: float) -> float:
        """Return how many of the blind seconds until `now` are deducted."""
        if not self.has_begun(now):
            return 0.0
        return self.missing.asleep_seconds(-math.inf, now) + self._limited_seconds(now)

    def _limited_seconds(self, now: float) -> float:
        """Return how many are deducted of those in which the gate was awake."""
        since = self._with_blindness_begun(now).since
        present = 0.0 if since is None else max(0.0, now - since)
        return min(self.limit_seconds, self.past_seconds + present)

    def clock(self, now: float) -> float:
        """Return the time that graces and the no-progress clock go by: it stops while blind."""
        return now - self.seconds(now)

    def time_of(self, clock: float, now: float) -> float:
        """Return when `clock` is reached if a present blindness lasts; infinite for never."""
        blind = self._with_blindness_begun(now).since is not None
        limited_seconds = self.limit_seconds if blind else self._limited_seconds(now)
        return clock + self.missing.asleep_seconds(-math.inf, now) + limited_seconds

    def is_silent(self, now: float) -> bool:
        """Tell whether the controller manager is silent, and that still counts as blind time."""
        return self.silent_since < math.inf and self.is_excusing(now)

    def is_excusing(self, now: float) -> bool:
        """Tell whether the time that passes now is deducted."""
        return (
            self._with_blindness_begun(now).since is not None
            and self._limited_seconds(now) < self.limit_seconds
        )

    def condition_stands(self, now: float) -> bool:
        """Tell whether the deadline condition that was seen may be believed."""
        if self.is_excusing(now):
            return False
        return now >= self._condition_stands_at() or not self.seconds(now)

    def _condition_stands_at(self) -> float:
        return max(self.exceeded_since, self.ended_at) + CONDITION_STANDS_SECONDS

    def causes(
        self,
        now: float,
        leg_at: float,
        progress_at: float,
        deadline_seconds: float,
        *,
        is_over: bool = False,
    ) -> Iterator[Cause]:
        """Yield why time was blind: facts were missing, or controllers do not act.

        The leg began at `leg_at`, something last moved at `progress_at`; `is_over`: its budget has
        ended.
        """
        yield from self.missing.causes(now, leg_at, progress_at, deadline_seconds)
        yield from self._describe_idleness(now, is_over=is_over)

    def _describe_idleness(self, now: float, *, is_over: bool) -> Iterator[Cause]:
        """Yield a cause if controllers do not act: after a while, or once no time is left."""
        if self.silent_since < math.inf:
            seconds = now - self.silent_since
            text = f"the controller manager has not renewed its Lease for {seconds:.0f} s"
        elif self.sign and self._is_named(now, is_over=is_over):
            text = f"{self.sign} for {now - self.sign_since:.0f} s"
        else:
            return
        yield Cause(Reason.CONTROLLER_NOT_OBSERVING, CleanText(text))

    def _is_named(self, now: float, *, is_over: bool) -> bool:
        acts_late = now >= self.sign_since + CONTROLLER_LAG_SECONDS
        is_spent = acts_late and (is_over or self._limited_seconds(now) >= self.limit_seconds)
        return is_spent or now >= self.sign_since + NOT_OBSERVING_SECONDS

    def times(self, now: float) -> Iterator[float]:
        """Iterate the times at which its meaning may change without an event."""
        yield self.sign_since + CONTROLLER_LAG_SECONDS
        yield self.sign_since + NOT_OBSERVING_SECONDS
        yield self._condition_stands_at()
        since = self._with_blindness_begun(now).since
        if since is not None:
            yield since + self.limit_seconds - self.past_seconds
