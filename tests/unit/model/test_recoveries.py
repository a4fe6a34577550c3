"""Two recoveries at once: nothing is wrong with the core's lock, and planted bugs are found."""

from __future__ import annotations

import pytest

from tests.long import longer
from tests.model.recoveries import SCENES
from tests.model.recovery_search import search
from tests.model.scenes import scene
from tests.unit.model import mutants
from tests.unit.model.mutants import Plant


@pytest.mark.contract("B532", "B539", "B554")
@pytest.mark.parametrize(
    ("name", "deviations"), [*((name, 0) for name in SCENES), longer("crashing", 1)]
)
def test_two_recoveries_of_one_attempt_do_not_meet(name: str, deviations: int) -> None:
    """In every interleaving one works and the other finds nothing left, whoever of them dies."""
    seen = search(scene(name), deviations)
    assert seen.wrong == {}
    assert seen.states > 100
    assert "rolled-back" in seen.ends


@pytest.mark.contract("B554")
@pytest.mark.parametrize(
    ("plant", "what"),
    [(mutants.same_job_proves_death, "R1"), (mutants.lock_of_the_living_is_free, "R1")],
    ids=["same-job", "anybody"],
)
def test_a_lock_that_is_taken_from_the_living_is_found(
    plant: Plant, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both write, though nothing else goes wrong."""
    plant(monkeypatch)
    seen = search(scene("crashing"), 0, to_the_first=True)
    [found] = [fault for fault in seen.wrong if fault.startswith(what)]
    assert any("takes the lock" in move for move in seen.wrong[found])
