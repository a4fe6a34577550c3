"""What a judgement says of a version: an attempt that decided nothing makes none a bad one."""

from __future__ import annotations

import pytest

from gate.core.body import FrozenMap
from gate.core.causes import Cause
from gate.core.objects import CleanText
from gate.core.outcome import Reason
from gate.core.version_history import JudgedVersion


def judged(reason: Reason) -> JudgedVersion:
    """Return a version that was not verified for a reason."""
    return JudgedVersion("1", (), FrozenMap(), why=Cause(reason, CleanText("why")))


@pytest.mark.contract("B723")
@pytest.mark.parametrize(
    "reason",
    [
        Reason.SIBLING_FAILED,
        Reason.CHECK_ERROR,
        Reason.CHECK_INCONCLUSIVE,
        Reason.INTERRUPTED,
        Reason.UNREACHABLE,
        Reason.FORBIDDEN,
        Reason.PAUSED,
    ],
)
def test_what_says_nothing_of_a_version_makes_it_no_failed_one(reason: Reason) -> None:
    """Another one failed, a check had no answer, or the attempt was cut off."""
    assert not judged(reason).failed
    assert not judged(reason).verified


@pytest.mark.parametrize("reason", [Reason.CRASH_LOOP, Reason.TIMEOUT, Reason.CHECK_FAILED])
def test_what_was_found_to_be_bad_has_failed(reason: Reason) -> None:
    """It is no version to return to."""
    assert judged(reason).failed
