"""What the locks remember of an attempt, as texts whose making delays its end only a little."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gate.clock import Clock
from gate.core.model.body import FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.lock import Lock, lock_of
from gate.core.model.lock_holder import Holder
from gate.core.model.objects import CleanText
from gate.core.rollout.causes import Cause
from gate.core.versions.history import Closed, Closing, History
from gate.core.versions.judged_version import JudgedVersion
from gate.wire.history import history_text

MOST_SECONDS: Final = 0.5
"""For all texts of a run: its locks are released within two seconds of the verdict."""

Mask = Callable[[str], str]
Warn = Callable[[str], None]
Keep = Callable[[History, History, Mapping[str, ConfidentialBody]], History]
"""Keeps bodies, given the old and the new history; returns the new one with what was kept."""


class ClosingTexts:
    """The histories after an attempt, as texts; each fault is a warning, not a new verdict."""

    def __init__(self, clock: Clock, holder: Holder, closed: Closed, mask: Mask) -> None:
        """Take how the attempt ended; `mask` removes secrets from what is written for people."""
        self._clock = clock
        self._holder = holder
        self._mask = mask
        self._at = f"{clock.wall():%Y-%m-%dT%H:%M:%SZ}"
        self._by_lock = {lock_of(one.ref): one for one in closed.deployments}
        self._left_seconds = MOST_SECONDS

    def text(self, lock: Lock, before: Callable[[], History], keep: Keep, warn: Warn) -> str | None:
        """Return the text for a lock, None if there is nothing to write.

        What a Lease may not hold is given to `keep` first. Once the texts have used up their time,
        bodies are left out.
        """
        closing = self._by_lock.get(lock)
        if closing is None:
            return None
        began_at = self._clock.now()
        try:
            earlier = before()
            after = self._after(earlier, closing, warn)
            kept_at = self._clock.now()
            after = keep(earlier, after, closing.confidential)
            began_at += self._clock.now() - kept_at
            return history_text(after)
        except Exception as error:  # noqa: BLE001 - whatever it is, the lock is to be given back
            why = f"{type(error).__name__}: {error}"
            warn(f"the outcome for {closing.ref} is not in the history: {why}")
            return None
        finally:
            self._left_seconds -= self._clock.now() - began_at

    def _after(self, before: History, closing: Closing, warn: Warn) -> History:
        shown = replace(closing, versions=tuple(map(self._mask_version, closing.versions)))
        after = before.after(shown, self._holder.identity, self._holder.url, self._at)
        if self._left_seconds > 0 or not after.bodies:
            return after
        warn(
            f"what was applied with {closing.ref} is not in the history: "
            "the run ended before it could be saved"
        )
        return replace(after, bodies=FrozenMap())

    def _mask_version(self, version: JudgedVersion) -> JudgedVersion:
        """Return a version that others may read: the cause of a failure may quote a secret."""
        return replace(version, why=mask_cause(version.why, self._mask)) if version.why else version


def mask_cause(cause: Cause, mask: Mask) -> Cause:
    """Return a cause without secrets."""
    return replace(cause, message=CleanText(mask(cause.message)))
