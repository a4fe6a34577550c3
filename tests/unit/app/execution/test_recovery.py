"""What other gates left under our locks: which end counts, and after which nothing is begun."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from gate.app.commands import recover
from gate.app.execution.recovery import Recovery, cut_off, finish_open_records
from gate.core.attempt.state import Attempt
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import Lock, lock_of
from gate.core.model.outcome import Outcome, Reason
from gate.errors import GateError, RefusedError
from gate.kube.locks.lease import Held

API, WEB = (lock_of(deployment_ref("shop", name)) for name in ("api", "web"))
LOCKED = RefusedError("locked", reason=Reason.LOCKED)


class Ending:
    """A recovery of two records under the locks of one attempt, which end as they are told to."""

    def __init__(self, api: Outcome | GateError, web: Outcome) -> None:
        self.ends = {API: api, WEB: web}
        self.finished: list[Lock] = []
        self.said: list[str] = []
        self.keeper = SimpleNamespace(open_records=(API, WEB))
        self.context = SimpleNamespace(
            keeper=self.keeper,
            settings=SimpleNamespace(all_namespaces=False),
            console=SimpleNamespace(warn=self.said.append, note_recovery=lambda *_: None),
        )

    def finish(self, _: object, lock: Lock) -> object:
        """End one, and remember that it was begun."""
        self.finished.append(lock)
        end = self.ends[lock]
        if isinstance(end, GateError):
            raise end
        result = SimpleNamespace(ending=None)
        plan = SimpleNamespace(targets=(), objects=())
        return SimpleNamespace(outcome=end, result=result, plan=plan, may_have_written=True)

    def before_an_attempt(self) -> tuple[Attempt, ...]:
        """Finish them as a command does that goes on with an attempt of its own."""
        return tuple(finish_open_records(cast("Recovery", self)))

    def by_recover(self, monkeypatch: pytest.MonkeyPatch) -> Attempt:
        """Finish them as `recover` does."""
        monkeypatch.setattr(recover, "_take_locks", lambda *_: self.keeper)
        places = {lock: Held(lock, "uid", "1", record="open") for lock in self.ends}
        ended = recover._finish_all(cast("Recovery", self), recover._Left(places, (), ()))
        return cast("Attempt", ended)


@pytest.mark.contract("B527", "B544")
@pytest.mark.parametrize("end", [Outcome.INTERRUPTED, Outcome.LOST_CONTACT])
def test_after_a_signal_or_lost_contact_nothing_else_is_begun(
    monkeypatch: pytest.MonkeyPatch, end: Outcome
) -> None:
    """Neither the next record nor the attempt that is to follow; the end is that one."""
    recovery = Ending(end, Outcome.ROLLED_BACK)
    ends = recovery.before_an_attempt()
    assert cut_off(ends) is ends[0]
    assert recovery.by_recover(monkeypatch).outcome is end
    assert recovery.finished == [API, API]


@pytest.mark.contract("B544")
def test_how_a_record_ends_decides_nothing_else() -> None:
    """A failed rollback is reported, the next record is finished, and the attempt follows."""
    recovery = Ending(Outcome.ROLLBACK_FAILED, Outcome.ROLLED_BACK)
    assert cut_off(recovery.before_an_attempt()) is None
    assert recovery.finished == [API, WEB]


@pytest.mark.contract("B527")
def test_each_record_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the same locks: an error of one is neither met twice nor said twice."""
    recovery = Ending(LOCKED, Outcome.ROLLED_BACK)
    with pytest.raises(RefusedError) as raised:
        recovery.by_recover(monkeypatch)
    assert raised.value.after_recovery
    assert (recovery.finished, recovery.said) == ([API, WEB], ["locked"])


@pytest.mark.contract("B527")
def test_a_failed_rollback_is_worse_than_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 5 is not hidden by the 3 of another one."""
    recovery = Ending(LOCKED, Outcome.ROLLBACK_FAILED)
    assert recovery.by_recover(monkeypatch).outcome is Outcome.ROLLBACK_FAILED
    assert recovery.said == ["locked"]
