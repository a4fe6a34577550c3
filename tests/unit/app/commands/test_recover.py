"""What `recover` makes of several ends: which counts, and after which nothing else is begun."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from gate.app.commands import recover
from gate.app.execution.recovery import Recovery
from gate.core.attempt.state import Attempt
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import Lock, lock_of
from gate.core.model.outcome import Outcome, Reason
from gate.errors import GateError, RefusedError
from gate.kube.lease import Held

API, WEB = lock_of(deployment_ref("shop", "api")), lock_of(deployment_ref("shop", "web"))
LOCKED = RefusedError("locked", reason=Reason.LOCKED)


class Ending:
    """A recovery whose records end as they are told to."""

    def __init__(self, **ends: Outcome | GateError) -> None:
        self.ends = {lock_of(deployment_ref("shop", name)): end for name, end in ends.items()}
        self.finished: list[Lock] = []
        self.said: list[str] = []
        self.context = SimpleNamespace(
            settings=SimpleNamespace(all_namespaces=False),
            console=SimpleNamespace(warn=self.said.append, note_recovery=lambda _: None),
        )

    def finish(self, _: object, lock: Lock) -> object:
        """End one, and remember that it was begun."""
        self.finished.append(lock)
        end = self.ends[lock]
        if isinstance(end, GateError):
            raise end
        return SimpleNamespace(outcome=end, plan=SimpleNamespace(targets=(), objects=()))

    def all(self, monkeypatch: pytest.MonkeyPatch) -> Attempt:
        """Finish what is left of records that all stand under the locks of one attempt."""
        keeper = SimpleNamespace(open_records=tuple(self.ends))
        monkeypatch.setattr(recover, "_take_locks", lambda *_: keeper)
        places = {lock: Held(lock, "uid", "1", record="open") for lock in self.ends}
        left = recover._Left(places, (), ())
        ended = recover._finish_all(cast("Recovery", self), left)
        return cast("Attempt", ended)


@pytest.mark.contract("B527")
@pytest.mark.parametrize("end", [Outcome.INTERRUPTED, Outcome.LOST_CONTACT])
def test_nothing_is_begun_after_what_ends_all(
    monkeypatch: pytest.MonkeyPatch, end: Outcome
) -> None:
    """Not under the same locks either; the end is that one."""
    recovery = Ending(api=end, web=Outcome.ROLLED_BACK)
    assert recovery.all(monkeypatch).outcome is end
    assert recovery.finished == [API]


@pytest.mark.contract("B527")
def test_each_record_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the same locks: an error of one is neither met twice nor said twice."""
    recovery = Ending(api=LOCKED, web=Outcome.ROLLED_BACK)
    with pytest.raises(RefusedError) as raised:
        recovery.all(monkeypatch)
    assert raised.value.after_recovery
    assert recovery.finished == [API, WEB]
    assert recovery.said == ["locked"]


@pytest.mark.contract("B527")
def test_a_failed_rollback_is_worse_than_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 5 is not hidden by the 3 of another one."""
    recovery = Ending(api=LOCKED, web=Outcome.ROLLBACK_FAILED)
    assert recovery.all(monkeypatch).outcome is Outcome.ROLLBACK_FAILED
    assert recovery.said == ["locked"]
