"""What an outcome says about each object: only what somebody looked at counts as judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.endings.coverage import Coverage, coverage_of
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.model.readiness import UNJUDGED, Readiness, ReadinessKind
from tests.table import each
from tests.unit.report.endings import ENDINGS

CLAIM = Ref("v1", "PersistentVolumeClaim", "shop", "data")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")
READY = Readiness(ReadinessKind.READY)


@pytest.mark.contract("B1032")
@each(
    ("end", "ref", "known", "coverage"),
    [
        ("verified", CLAIM, READY, Coverage.JUDGED),
        ("verified", CLAIM, Readiness(ReadinessKind.FAILED), Coverage.JUDGED),
        ("verified", CLAIM, UNJUDGED, Coverage.NOT_JUDGED),
        ("verified", CLAIM, None, Coverage.NOT_JUDGED),
        ("verified", SETTINGS, None, Coverage.APPLIED),
        ("rolled-back", CLAIM, READY, Coverage.NOT_JUDGED),
    ],
)
def test_what_was_found_ready_is_judged(
    end: str, ref: Ref, known: Readiness | None, coverage: Coverage
) -> None:
    """Forward alone: what goes back is not waited for."""
    attempt = ENDINGS[end]().attempt
    objects = FrozenMap({} if known is None else {ref: known})
    attempt = replace(attempt, result=replace(attempt.result, objects=objects))
    assert coverage_of(attempt, ref) is coverage
