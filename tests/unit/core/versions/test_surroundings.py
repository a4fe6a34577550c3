"""Whose fault the end of a version is, by its reason and by what was found underneath."""

from __future__ import annotations

import pytest

from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.model.outcome import Reason
from gate.core.versions.surroundings import is_excused

STOOD = Reason.PROGRESS_DEADLINE_EXCEEDED


@pytest.mark.contract("B1361")
@pytest.mark.parametrize(
    ("reason", "causes", "excused"),
    [
        (STOOD, [Reason.UNSCHEDULABLE], True),
        (STOOD, [DaemonSetReason.BLOCKED_BY_NODE, Reason.NOT_STARTED], True),
        (STOOD, [Reason.UNSCHEDULABLE, Reason.NOT_READY], False),
        (STOOD, [Reason.UNREACHABLE, Reason.NOT_READY], True),
        (STOOD, [], False),
        (Reason.CHECK_FAILED, [Reason.UNSCHEDULABLE], False),
        (Reason.POD_CREATE_DENIED, [Reason.NOT_READY], True),
    ],
)
def test_only_surroundings_excuse_a_version(
    reason: Reason, causes: list[str], excused: bool
) -> None:
    """What the version's own pods show speaks against it, but after an outage."""
    assert is_excused(reason, causes) is excused
