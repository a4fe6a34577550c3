"""What the locks remember of an attempt, as texts whose making delays its end only a little."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final

from gate.app.runtime.console import Warn
from gate.clock import Clock
from gate.core.model.body import FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import CleanText, Ref
from gate.core.rollout.causes import Cause
from gate.core.versions.history import Closed, Closing, History
from gate.core.versions.judged_version import JudgedVersion
from gate.wire.history import history_text

MOST_SECONDS: Final = 0.5
"""For the text of one lock: it is released within two seconds of the verdict."""
MORE_SECONDS: Final = 0.05
"""For that of each further lock, half of what its release may take."""
_MOST_NAMED: Final = 3

Mask = Callable[[str], str]
Keep = Callable[[History, History, Mapping[str, ConfidentialBody]], History]
"""Keeps bodies, given the old and the new history; returns the new one with what was kept."""


class ClosingTexts:
    """The histories after an attempt, as texts; each fault is a warning, not a new verdict."""

    def __init__(
        self, clock: Clock, holder: Holder, closed: Closed, mask: Mask, at: datetime
    ) -> None:
        """Take how the attempt ended, and when by the server's time, since others compare that.

        `mask` removes secrets from what is written for people.
        """
        self._clock = clock
        self._attempt_id = closed.attempt_id or holder.identity
        self._run_url = holder.url
        self._mask = mask
        self._at = f"{at:%Y-%m-%dT%H:%M:%SZ}"
        self._by_lock = {lock_of(one.ref): one for one in closed.workloads}
        self._left_seconds = MOST_SECONDS + MORE_SECONDS * max(0, len(self._by_lock) - 1)
        self._turn = threading.Lock()
        self._without_bodies: list[Ref] = []

    def text(self, lock: Lock, before: Callable[[], History], keep: Keep, warn: Warn) -> str | None:
        """Return the text for a lock, None if there is nothing to write.

        What a Lease may not hold is given to `keep` first. Once the texts have used up their time,
        bodies are left out.
        """
        closing = self._by_lock.get(lock)
        if closing is None:
            return None
        try:
            with self._measure_time():
                earlier = before()
                after = self._after(earlier, closing)
            after = keep(earlier, after, closing.confidential)
            with self._measure_time():
                return history_text(after)
        except Exception as error:  # noqa: BLE001 - whatever it is, the lock is to be given back
            why = f"{type(error).__name__}: {error}"
            warn(f"the outcome for {closing.ref} is not in the history: {why}")
            return None

    def describe_missing(self) -> str:
        """Say once for all texts where bodies were left out, "" if nowhere."""
        refs = sorted(self._without_bodies)
        if not refs:
            return ""
        named, more = ", ".join(map(str, refs[:_MOST_NAMED])), len(refs) - _MOST_NAMED
        named = f"{named} and {more} more" if more > 0 else named
        return (
            f"what was applied is not in the history of {named}: the run ended before it could be"
            " saved there; a later undo can take it only from the history of a workload beside it"
        )

    @contextmanager
    def _measure_time(self) -> Iterator[None]:
        """Count the time of one text at a time: side by side each would count the others' too."""
        with self._turn:
            began_at = self._clock.now()
            try:
                yield
            finally:
                self._left_seconds -= self._clock.now() - began_at

    def _after(self, before: History, closing: Closing) -> History:
        shown = replace(closing, versions=tuple(map(self._mask_version, closing.versions)))
        after = before.after(shown, self._attempt_id, self._run_url, self._at)
        if self._left_seconds > 0 or not after.bodies:
            return after
        self._without_bodies.append(closing.ref)
        return replace(after, bodies=FrozenMap())

    def _mask_version(self, version: JudgedVersion) -> JudgedVersion:
        """Return a version that others may read: the cause of a failure may quote a secret."""
        return replace(version, why=mask_cause(version.why, self._mask)) if version.why else version


def mask_cause(cause: Cause, mask: Mask) -> Cause:
    """Return a cause without secrets."""
    return replace(cause, message=CleanText(mask(cause.message)))
