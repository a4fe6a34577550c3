"""What other gates left under our locks is finished before anything else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import Lock, lock_of
from gate.core.model.outcome import Outcome

API, WEB = (lock_of(deployment_ref("shop", name)) for name in ("api", "web"))


class Endings:
    """A recovery of two records, which end as they are told to."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = dict(zip((API, WEB), outcomes, strict=True))
        self.finished: list[Lock] = []
        self.context = SimpleNamespace(
            keeper=SimpleNamespace(open_records=(API, WEB)),
            console=SimpleNamespace(note_recovery=lambda _: None),
        )

    def finish(self, _: object, lock: Lock) -> object:
        """End one, and remember that it was begun."""
        self.finished.append(lock)
        result = SimpleNamespace(ending=None)
        plan = SimpleNamespace(targets=())
        return SimpleNamespace(
            outcome=self.outcomes[lock], result=result, plan=plan, may_have_written=True
        )


@pytest.mark.contract("B544")
@pytest.mark.parametrize("end", [Outcome.INTERRUPTED, Outcome.LOST_CONTACT])
def test_after_a_signal_or_lost_contact_nothing_else_is_begun(end: Outcome) -> None:
    """Neither the next record nor the attempt that is to follow."""
    recovery = Endings(end, Outcome.ROLLED_BACK)
    ends = finish_open_records(cast("Recovery", recovery))
    assert recovery.finished == [API]
    assert cut_off(ends) is ends[0]


@pytest.mark.contract("B544")
def test_how_a_record_ends_decides_nothing_else() -> None:
    """A failed rollback is reported, the next record is finished, and the attempt follows."""
    recovery = Endings(Outcome.ROLLBACK_FAILED, Outcome.ROLLED_BACK)
    ends = finish_open_records(cast("Recovery", recovery))
    assert recovery.finished == [API, WEB]
    assert cut_off(ends) is None
