"""Where the searches begin: what serves, what becomes of the new version, by which policy.

All budgets are small multiples of the half second by which time is counted, so that the times
that matter lie close together: the progress deadline, the clocks, the reads, the bake window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gate.core.rollout.policy import (
    Budgets,
    OnFailure,
    OnFirstFailure,
    OnInterrupt,
    Policy,
    Response,
)
from tests.model.cluster import CRASHING, STARTING
from tests.model.world import KEPT, WANTED, Fate, Scene

_BUDGETS = Budgets(timeout_seconds=10.0, rollback_timeout_seconds=10.0, read_interval_seconds=5.0)
PLAIN = Policy(budgets=_BUDGETS)
ORDERED = Policy(
    budgets=replace(_BUDGETS, rollback_timeout_seconds=20.0, progress_deadline_seconds=4.0)
)
_CRASHES = (Fate(WANTED, CRASHING),)
_KEPT_CRASHES = (Fate(KEPT, CRASHING),)
_STICKS = (Fate(WANTED, STARTING),)


def _responding(**response: Any) -> Policy:
    return replace(PLAIN, response=Response(**response))


SCENES = (
    Scene("good", PLAIN),
    Scene("crashing", PLAIN, fates=_CRASHES),
    Scene("never-ready", PLAIN, fates=_STICKS),
    Scene("baking", Policy(budgets=replace(_BUDGETS, bake_seconds=2.0))),
    Scene("paused-on-failure", _responding(on_failure=OnFailure.PAUSE), fates=_CRASHES),
    Scene("back-on-signal", _responding(on_interrupt=OnInterrupt.ROLLBACK), fates=_STICKS),
    Scene("first", PLAIN, served=False),
    Scene("first-crashing", PLAIN, served=False, fates=_CRASHES),
    Scene(
        "first-deleted",
        _responding(on_first_failure=OnFirstFailure.DELETE),
        served=False,
        fates=_CRASHES,
    ),
    Scene(
        "first-scaled-to-zero",
        _responding(on_first_failure=OnFirstFailure.SCALE_TO_ZERO),
        served=False,
        fates=_CRASHES,
    ),
    Scene("configured", PLAIN, configured=True),
    Scene("configured-crashing", PLAIN, fates=_CRASHES, configured=True),
    Scene("configured-last", PLAIN, configured=True, configured_last=True),
    Scene("configured-last-crashing", PLAIN, fates=_CRASHES, configured=True, configured_last=True),
    Scene("configured-once", PLAIN, configured=True, configured_once=True),
    Scene("configured-once-crashing", PLAIN, fates=_CRASHES, configured=True, configured_once=True),
    Scene("configured-once-stuck", PLAIN, fates=_STICKS, configured=True, configured_once=True),
    Scene("ordered", ORDERED, ordered=True),
    Scene("ordered-crashing", ORDERED, fates=_CRASHES, ordered=True),
    Scene("ordered-stuck", ORDERED, fates=_STICKS, ordered=True),
    Scene("kept", PLAIN, fates=_KEPT_CRASHES, configured=True, kept=True),
    Scene("kept-crashing", PLAIN, fates=(*_CRASHES, *_KEPT_CRASHES), configured=True, kept=True),
)

OPENINGS = ("good", "first")
"""The scenes whose first moves are those of all others too: one with what serves, one without."""


def scene(name: str) -> Scene:
    """Return the scene of that name; KeyError where there is none."""
    return {one.name: one for one in SCENES}[name]
