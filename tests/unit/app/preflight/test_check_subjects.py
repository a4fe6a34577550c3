"""What is wrong with checks before anything is asked, all of it at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.app.preflight.check_subjects import UnfitChecks, require_answerable
from gate.config import load
from gate.config.limits import all_checks


@pytest.mark.contract("B455", "B454")
def test_every_problem_is_named_at_once(tmp_path: Path) -> None:
    """Each with its check; what to do about them is said once for all that it helps."""
    given = {
        "check": ("one: up <= 1", "two: up <= 2"),
        "smoke_test": ("no-such-program-anywhere",),
    }
    settings = load("apply", given, environ={}, folder=tmp_path)
    with pytest.raises(UnfitChecks) as caught:
        require_answerable(settings, all_checks(settings))
    assert caught.value.problems == (
        "check one: no Prometheus is configured",
        "check two: no Prometheus is configured",
        "check no-such-program-anywhere: no program 'no-such-program-anywhere' is found",
    )
    assert caught.value.hint.count("--prometheus-url") == 1
